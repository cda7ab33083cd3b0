/** Prints what survived in a folder of `folders.ts`, what of it is harmless, and whether the rest meets the goal. */
import type { MutantResult } from '@stryker-mutator/api/core'
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { FOLDERS } from './folders.ts'
import { HARMLESS, type Harmless } from './harmless.ts'
import { isInSample, isSampling } from './sample.ts'

/** Returns whether the folder meets its goal. Harmless changes count neither for nor against it. */
export function report(name: string, all: readonly MutantResult[]): boolean {
  const { goal, places } = FOLDERS[name]!
  const mutants = all.filter(({ id, status }) => status !== 'Ignored' && isInSample(id))
  const withStatus = (...statuses: readonly string[]) => mutants.filter(({ status }) => statuses.includes(status))
  const noticed = withStatus('Killed', 'Timeout').length
  const survived = withStatus('Survived', 'NoCoverage').map(mutant => ({ mutant, harmless: findHarmless(mutant) }))
  const harmful = survived.filter(({ harmless }) => harmless === undefined)
  for (const { mutant, harmless } of survived) console.log(describe(mutant) + (harmless ? `    harmless: ${harmless.reason}\n` : ''))

  if (places) for (const mutant of withStatus('Killed')) console.log(describe(mutant) + titles(mutant))

  const used = new Set(survived.map(({ harmless }) => harmless))
  const files = new Set(mutants.map(fileOf))
  const unused = isSampling ? [] : HARMLESS.filter(entry => files.has(entry.file) && !used.has(entry))
  for (const { file, code, becomes } of unused)
    console.log(`harmless.ts lists a change that did not survive: ${file}: ${code} becomes ${becomes}`)

  const score = 100 * noticed / (noticed + harmful.length)
  const errors = withStatus('RuntimeError', 'CompileError').length
  const sampled = isSampling ? `a sample of ${mutants.length} of ${all.filter(({ status }) => status !== 'Ignored').length} changes, ` : ''
  console.log(
    `${name}: ${sampled}${noticed} of ${noticed + survived.length} changes were noticed, ${survived.length - harmful.length} are harmless, `
    + `${harmful.length} survived${errors > 0 ? `, ${errors} did not run` : ''}: ${score.toFixed(1)} %. The goal is ${goal} %.`,
  )
  return score >= goal && unused.length === 0
}

const sources = new Map<string, readonly string[]>()

/** The code that the change replaces. Lines and columns count from 1. */
function codeOf({ fileName, location: { start, end } }: MutantResult): string {
  if (!sources.has(fileName)) sources.set(fileName, readFileSync(fileName, 'utf8').split('\n'))
  const lines = sources.get(fileName)!.slice(start.line - 1, end.line)
  return lines
    .map((line, index) => line.slice(index === 0 ? start.column - 1 : 0, index === lines.length - 1 ? end.column - 1 : undefined))
    .join('\n')
}

const fileOf = ({ fileName }: MutantResult) => relative(process.cwd(), fileName).replaceAll('\\', '/')

function findHarmless(mutant: MutantResult): Harmless | undefined {
  return HARMLESS.find(({ file, code, becomes }) => file === fileOf(mutant) && code === codeOf(mutant) && becomes === mutant.replacement)
}

function describe(mutant: MutantResult): string {
  const { location: { start }, mutatorName, replacement = '', status } = mutant
  const place = `${fileOf(mutant)}:${start.line}:${start.column} (${mutatorName})`
  const what = status === 'NoCoverage' ? 'not run' : status === 'Killed' ? 'noticed' : 'survived'
  const inOneLine = (text: string) => text.replace(/\s+/g, ' ')
  return `${what}: ${place}\n    ${inOneLine(codeOf(mutant))}\n    becomes ${inOneLine(replacement)}\n`
}

/** The tests that noticed the change, without their file. */
const titles = ({ killedBy = [] }: MutantResult) => killedBy.map(id => `    ${id.slice(id.indexOf('#') + 1)}\n`).join('')
