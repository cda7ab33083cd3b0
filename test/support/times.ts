/** The seconds of test files and of the steps of CI: printed worst first, and compared with those that are kept in `ci-times.json`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './once.ts'
import type { Tier } from './tiers.ts'

/** The seconds of each file, by project. */
export type Times = Readonly<Record<string, Readonly<Record<string, number>>>>

/** The times of a tier, as they are kept. */
export interface Kept {
  readonly steps: Readonly<Record<string, number>>
  readonly files: Times
}

type KeptTiers = Partial<Record<Tier, Kept>>

const KEPT = join(root, 'ci-times.json')

/** The part of vitest's diagnostic that is counted: what the file needs in its worker. */
interface Diagnostic {
  readonly collectDuration: number
  readonly setupDuration: number
  readonly duration: number
}

/** @returns seconds, with one decimal. */
export const secondsOf = ({ collectDuration, setupDuration, duration }: Diagnostic): number =>
  Math.round((collectDuration + setupDuration + duration) / 100) / 10

const readKept = (): KeptTiers => existsSync(KEPT) ? JSON.parse(readFileSync(KEPT, 'utf8')) : {}

/** Replaces the kept times of a tier. */
export function keep(tier: Tier, times: Kept): void {
  writeFileSync(KEPT, `${JSON.stringify({ ...readKept(), [tier]: times }, null, 2)}\n`)
}

export const keptFiles = (tier: Tier): Times | undefined => readKept()[tier]?.files

interface Row {
  readonly name: string
  readonly seconds: number
}

const rowsOf = (times: Times): Row[] =>
  Object.entries(times).flatMap(([project, files]) =>
    Object.entries(files).map(([file, seconds]) => ({ name: `${project} ${file}`, seconds })),
  )

const sum = (rows: readonly Row[]) => rows.reduce((total, { seconds }) => total + seconds, 0)

const format = (seconds: number) => `${seconds.toFixed(1).padStart(7)} s`

/** Files that take less are counted together. */
const LISTED_FROM = 2

/** The files that take longest, worst first, and the others together. */
export function describeFiles(times: Times): string[] {
  const rows = rowsOf(times).sort((a, b) => b.seconds - a.seconds)
  const others = rows.filter(({ seconds }) => seconds < LISTED_FROM)
  return [
    ...rows.filter(({ seconds }) => seconds >= LISTED_FROM).map(({ name, seconds }) => `${format(seconds)}  ${name}`),
    ...others.length > 0 ? [`${format(sum(others))}  ${others.length} other files`] : [],
  ]
}

/** A share that grows by less is noise. */
const GROWTH = 1.25

/**
 * The files whose share of the whole grew by more than a quarter. Shares, because machines differ by a factor of two. A file that takes
 * less
 * than `LISTED_FROM` seconds is left out, and so is one that was not kept.
 */
export function describeGrowth(now: Times, before: Times | undefined): string[] {
  if (!before) return []
  const old = new Map(rowsOf(before).map(({ name, seconds }) => [name, seconds]))
  const rows = rowsOf(now).filter(({ name }) => old.has(name))
  const [total, oldTotal] = [sum(rows), rows.reduce((total, { name }) => total + old.get(name)!, 0)]
  return rows
    .map(({ name, seconds }) => ({ name, seconds, growth: (seconds / total) / (old.get(name)! / oldTotal) }))
    .filter(({ seconds, growth }) => seconds >= LISTED_FROM && growth > GROWTH)
    .sort((a, b) => b.growth - a.growth)
    .map(({ name, growth }) => `${name} takes ${growth === Infinity ? 'a larger' : `${growth.toFixed(1)} times its`} share of the time`)
}
