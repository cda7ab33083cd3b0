/** The changes that the last run noticed. As long as the code stays the same, Stryker takes their results from the last run. */
import { existsSync, readFileSync } from 'node:fs'

interface Mutant { readonly id: string, readonly status: string, readonly killedBy?: readonly string[] }

interface Report {
  readonly files: Readonly<Record<string, { readonly source: string, readonly mutants: readonly Mutant[] }>>
  readonly testFiles?: Readonly<Record<string, { readonly tests: readonly { readonly id: string }[] }>>
}

/**
 * @param file the results of the last run. Its numbers are those of the next run only if no file has changed.
 * @param tests the test files of the next run. Stryker tries a change again if the test that noticed it is not among them.
 */
export function findNoticed(file: string, tests: readonly string[]): readonly string[] {
  if (!existsSync(file)) return []
  const { files, testFiles = {} } = JSON.parse(readFileSync(file, 'utf8')) as Report
  if (!Object.entries(files).every(([path, { source }]) => existsSync(path) && readFileSync(path, 'utf8') === source)) return []
  const listed = new Set(tests.flatMap(path => testFiles[path]?.tests.map(({ id }) => id) ?? []))
  const isNoticed = ({ status, killedBy = [] }: Mutant) => status === 'Killed' && killedBy.some(id => listed.has(id))
  return Object.values(files).flatMap(({ mutants }) => mutants.filter(isNoticed).map(({ id }) => id))
}
