/**
 * The guard: no later change loses silently what was won. `guard.json` has, for each operation, the processor time of a request in `a`
 * divided by that in `d`, in the accepted runs. Both are measured in turns, so that a slow machine affects both.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from './median.ts'
import type { Line } from './tables.ts'

type Ratios = Readonly<Record<string, number>>
type Measure = () => Promise<readonly Pick<Line, 'operation' | 'implementation' | 'cpuRatio'>[]>

const FILE = join(fileURLToPath(new URL('.', import.meta.url)), 'guard.json')
/** A run below this part of the accepted ratio is slower. The same code had ratios from 2.02 to 2.42 at different hours of one machine. */
const LEAST = 0.8
const RUNS = 3

/** Measures three times, and stores the medians as the accepted ratios. Operations that were not measured keep theirs. */
export async function accept(measure: Measure): Promise<void> {
  const runs: Ratios[] = []
  while (runs.length < RUNS) runs.push(await ratiosOf(measure))
  const medians = Object.keys(runs[0]!).map(name => [name, Math.round(median(runs.map(run => run[name]!)) * 1000) / 1000])
  const accepted = { ...readAccepted(), ...Object.fromEntries(medians) as Ratios }
  writeFileSync(FILE, `${JSON.stringify(accepted, null, 2)}\n`)
}

/** Prints the operations that are slower than accepted. @returns whether there is none */
export async function guard(measure: Measure): Promise<boolean> {
  const losses = await findLosses(measure, readAccepted())
  for (const { operation, accepted, ratios } of losses)
    console.error(`${operation}: a needs ${ratios.map(ratio => ratio.toFixed(2)).join(' and ')} times the processor time of d, accepted ${accepted}.`)
  return losses.length === 0
}

interface Loss { readonly operation: string, readonly accepted: number, readonly ratios: readonly number[] }

/** Measures until an operation was slower in two of at most three runs. A run without a slower one ends it. */
export async function findLosses(measure: Measure, accepted: Ratios): Promise<Loss[]> {
  const slower = new Map<string, number[]>()
  for (let run = 0; run < RUNS; run++) {
    for (const [operation, ratio] of Object.entries(await ratiosOf(measure))) {
      if (ratio < LEAST * (accepted[operation] ?? 0)) slower.set(operation, [...slower.get(operation) ?? [], ratio])
    }
    const losses = [...slower].filter(([, ratios]) => ratios.length > 1)
    if (slower.size === 0 || losses.length > 0)
      return losses.map(([operation, ratios]) => ({ operation, accepted: accepted[operation]!, ratios }))
  }
  return []
}

const readAccepted = () => JSON.parse(readFileSync(FILE, 'utf8')) as Ratios

/** The ratios of the operations that both do. Others have another base, such as a handler that sends constant bytes. */
async function ratiosOf(measure: Measure): Promise<Ratios> {
  const lines = await measure()
  const inBoth = new Set(lines.flatMap(({ operation, implementation }) => implementation === 'a' ? [operation] : []))
  return Object.fromEntries(lines.flatMap(({ operation, implementation, cpuRatio }) =>
    implementation === 'd' && cpuRatio !== undefined && inBoth.has(operation) ? [[operation, cpuRatio]] : []))
}
