/** The changes that the last run noticed. As long as the code stays the same, Stryker takes their results from the last run. */
import { existsSync, readFileSync } from 'node:fs'

interface Report {
  readonly files: Readonly<Record<string, { readonly source: string, readonly mutants: readonly { readonly id: string, readonly status: string }[] }>>
}

/** @param file the results of the last run. Its numbers are those of the next run only if no file has changed. */
export function findNoticed(file: string): readonly string[] {
  if (!existsSync(file)) return []
  const { files } = JSON.parse(readFileSync(file, 'utf8')) as Report
  if (!Object.entries(files).every(([path, { source }]) => existsSync(path) && readFileSync(path, 'utf8') === source)) return []
  return Object.values(files).flatMap(({ mutants }) => mutants.flatMap(({ id, status }) => status === 'Killed' ? [id] : []))
}
