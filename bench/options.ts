/** What the command line asks for. */
import { parseArgs } from 'node:util'
import type { Effort } from './measure.ts'

export interface BenchOptions {
  readonly effort: Effort
  /** Where the JSON goes. */
  readonly json: string
  /** Only operations whose title contains this. */
  readonly only?: string
  /** Profile this contestant instead of measuring all. */
  readonly profile?: string
  readonly quick: boolean
  /** Only: the heap after 20 000 and 200 000 requests. */
  readonly soak: boolean
  /** Whether the app with 200 resources is measured: in a full run, or because it was asked for. */
  readonly resources: boolean
  /** Whether a and d are measured on Postgres: in a full run, or because it was asked for. */
  readonly postgres: boolean
  /** Whether what npm offers besides is measured too. */
  readonly peers: boolean
  /** Measure what typed composables cost the compiler, and nothing else. */
  readonly types: boolean
  /** Measure how long apps take to build, and nothing else. */
  readonly builds: boolean
  /** Leave the app as it was built last. */
  readonly built: boolean
}

export const HELP = `npm run bench -- [options]

  --quick           shorter rounds, and of the contestants only a and d
  --rounds <n>      rounds per operation, at least 5
  --seconds <n>     seconds per contestant, operation and round
  --no-peers        without the packages it is compared with
  --only <text>     only operations whose title contains this
  --json <file>     where the JSON goes (bench/.output/bench.json)
  --profile <key>   no rounds: where this contestant's time goes, per operation
  --builds          only: how long an app with 200 resources takes to build, and one without any
  --types           only: how long 50 tables take to compile, and the same pages typed by hand
  --resources       also: one resource among 5 and among 200 (part of a full run)
  --postgres        also: a and d on Postgres (part of a full run)
  --soak            only: the heap after 20 000 and after 200 000 requests
  --built           do not build the app again`

const FULL: Effort = { rounds: 7, seconds: 1, warmUp: 1, connections: 20 }
const QUICK: Effort = { rounds: 5, seconds: 1, warmUp: 1, connections: 20 }

/** @throws When an option is unknown or no number where one is needed. */
export function readOptions(args: readonly string[], folder: string): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      help: { type: 'boolean' },
      quick: { type: 'boolean' },
      peers: { type: 'boolean', default: true },
      built: { type: 'boolean', default: false },
      builds: { type: 'boolean', default: false },
      types: { type: 'boolean', default: false },
      soak: { type: 'boolean', default: false },
      resources: { type: 'boolean' },
      postgres: { type: 'boolean' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string' },
      json: { type: 'string', default: `${folder}/.output/bench.json` },
      profile: { type: 'string' },
    },
  })
  if (values.help) return 'help'
  const effort = values.quick ? QUICK : FULL
  const inFull = !values.quick && values.only === undefined
  return {
    effort: { ...effort, rounds: atLeast(5, values.rounds, effort.rounds), seconds: atLeast(1, values.seconds, effort.seconds) },
    json: values.json,
    only: values.only,
    profile: values.profile,
    built: values.built,
    builds: values.builds,
    types: values.types,
    soak: values.soak,
    resources: values.resources ?? inFull,
    postgres: values.postgres ?? inFull,
    quick: values.quick ?? false,
    peers: values.peers,
  }
}

function atLeast(least: number, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text)
  if (!Number.isInteger(value) || value < least) throw new RangeError(`${text} is not a whole number of at least ${least}`)
  return value
}
