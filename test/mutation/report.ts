/** Prints what survived in a folder of `folders.ts`, what of it is harmless, and whether the rest meets the goal. */
import type { MutantResult } from '@stryker-mutator/api/core'
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { FOLDERS } from './folders.ts'
import { HARMLESS, type Harmless } from './harmless.ts'
import { isInSample, isSampling } from './sample.ts'

/** Returns whether the folder meets its goal. Harmless changes count neither for nor against it. */
export function report(name: string, all: readonly MutantResult[]): boolean {
  const { goal } = FOLDERS[name]!
  const mutants = all.filter(({ id, status }) => status !== 'Ignored' && isInSample(id))
  const withStatus = (...statuses: readonly string[]) => mutants.filter(({ status }) => statuses.includes(status))
  const noticed = withStatus('Killed', 'Timeout').length
  const survived = withStatus('Survived', 'NoCoverage').map(mutant => ({ mutant, harmless: findHarmless(mutant) }))
  const harmful = survived.filter(({ harmless }) => harmless === undefined)
  for (const { mutant, harmless } of survived) console.log(describe(mutant) + (harmless ? `    harmless: ${harmless.reason}\n` : ''))

  const used = new Set(survived.map(({ harmless }) => harmless))
  const files = new Set(mutants.map(fileOf))
  const unused = isSampling ? [] : HARMLESS.filter(entry => files.has(entry.file) && !used.has(entry))
  for (const { file, line } of unused) console.log(`harmless.ts lists a change that did not survive: ${file}: ${line}`)

  const score = 100 * noticed / (noticed + harmful.length)
  const errors = withStatus('RuntimeError', 'CompileError').length
  const sampled = isSampling ? `a sample of ${mutants.length} of ${all.filter(({ status }) => status !== 'Ignored').length} changes, ` : ''
  console.log(
    `${name}: ${sampled}${noticed} of ${noticed + survived.length} changes were noticed, ${survived.length - harmful.length} are harmless, `
    + `${harmful.length} survived${errors > 0 ? `, ${errors} did not run` : ''}: ${score.toFixed(1)} %. The goal is ${goal} %.`,
  )
  return score >= goal && unused.length === 0
}

const lines = new Map<string, readonly string[]>()

/** The line where the change begins. */
function lineOf({ fileName, location }: MutantResult): string {
  if (!lines.has(fileName)) lines.set(fileName, readFileSync(fileName, 'utf8').split('\n'))
  return lines.get(fileName)![location.start.line - 1]!.trim()
}

const fileOf = ({ fileName }: MutantResult) => relative(process.cwd(), fileName).replaceAll('\\', '/')

function findHarmless(mutant: MutantResult): Harmless | undefined {
  return HARMLESS.find(({ file, line, becomes }) =>
    file === fileOf(mutant) && line === lineOf(mutant) && (becomes === undefined || becomes === mutant.replacement))
}

function describe(mutant: MutantResult): string {
  const { location: { start }, mutatorName, replacement = '', status } = mutant
  const place = `${fileOf(mutant)}:${start.line}:${start.column} (${mutatorName})`
  const what = status === 'NoCoverage' ? 'not run' : 'survived'
  return `${what}: ${place}\n    ${lineOf(mutant)}\n    becomes ${replacement.replace(/\s+/g, ' ')}\n`
}
