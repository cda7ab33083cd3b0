/** The options of the command line. */
import { parseArgs } from 'node:util'
import type { Effort } from './measure.ts'

export interface BenchOptions {
  readonly effort: Effort
  /** File of the JSON output. */
  readonly json: string
  /** Only operations whose title contains this. */
  readonly only?: string
  /** Profiles this implementation instead of measuring all. */
  readonly profile?: string
  readonly quick: boolean
  /** Writes the results into the repository, and the charts and the report of the docs. With `only`, those of some operations. */
  readonly publish: boolean
  /** Fails when an operation is slower than accepted in two of three runs. Like `quick` otherwise. */
  readonly guard: boolean
  /** Accepts what is measured in three runs. Like `quick` otherwise. */
  readonly accept: boolean
  /** Measures the heap after 20 000 and after 200 000 requests, and nothing else. */
  readonly soak: boolean
  /** Measures other builds of the app: with 200 resources, with entity tags, and as two processes. On in a full run. */
  readonly variants: boolean
  /** Measures a and d on these database servers too. On in a full run. */
  readonly remote: readonly ('postgres' | 'mariadb')[]
  /** Measures other packages. */
  readonly peers: boolean
  /** Measures how long typed composables take to compile, and nothing else. */
  readonly types: boolean
  /** Measures how long apps take to build, and nothing else. */
  readonly builds: boolean
  /** Measures the start of servers and the size of a Worker, and nothing else. */
  readonly starts: boolean
  /** Measures the time from saving a file in development to the response with the change, and nothing else. */
  readonly saves: boolean
  /** Measures tables of different sizes, up to this many rows, and nothing else. */
  readonly growth?: number
  /** Measures what three servers cost compared with one, and nothing else. */
  readonly servers: boolean
  /** Measures other systems, such as PocketBase, and nothing else. */
  readonly systems: boolean
  /** Measures live updates with many subscribers, and nothing else. */
  readonly live: boolean
  /** Measures lists while many deliveries of webhooks wait, and nothing else. */
  readonly webhooks: boolean
  /** Folder of another checkout whose app is built: measures d of it and of this one in turns, instead of the other implementations. */
  readonly against?: string
  /** Uses the last build of the app. */
  readonly built: boolean
}

export const HELP = `npm run bench -- [options]

  --quick           only a, d and bare, in shorter rounds
  --guard           the same, and fails when d loses 20 % compared with bench/guard.json in two of three runs
  --accept          the same, and writes the medians of three runs into bench/guard.json
  --rounds <n>      rounds per operation, at least 5
  --seconds <n>     seconds per implementation, operation and round, at least 1
  --no-peers        without the other packages
  --only <text>     only operations with this text in their title
  --json <file>     file of the JSON output (default: bench/.output/bench.json)
  --publish         also writes the results into bench/results, and the charts and the report of the docs. With --only: those operations
  --profile <key>   only: a CPU profile of this implementation, per operation
  --builds          only: how long an app with 200 resources takes to build, and one without resources
  --starts          only: the time until the first response with 6 and 200 resources, and the size of a Worker with 200
  --saves           only: the time from saving a file in development to the response with the change
  --types           only: how long pages over 50 tables take to compile, and the same pages typed by hand
  --variants        also: d with 200 resources, with ETags, and as two processes (part of a full run)
  --postgres        also: a and d on Postgres (part of a full run)
  --mariadb         also: a and d on MariaDB (part of a full run)
  --soak            only: the heap after 20 000 and after 200 000 requests
  --growth          only: the same requests on tables of 10^4 to 10^6 rows, on SQLite and Postgres
  --largest <n>     rows of the largest tables of --growth, such as 10000000
  --servers         only: processor time and statements of three servers, and of one
  --systems         only: PocketBase, Directus and Strapi with the same rows and rules. --only: systems with this text in their name
  --live            only: the time from a commit to its signal for up to 10 000 subscribers, and what they cost
  --webhooks        only: p99 of a list with an empty queue of webhooks, and with 100 000 deliveries
  --against <path>  only: d of another checkout whose app is built, and d of this one
  --built           do not build the app, and the one of --postgres and --mariadb, again`

const FULL: Effort = { rounds: 7, seconds: 1, warmUp: 1, connections: 20 }
const QUICK: Effort = { rounds: 5, seconds: 1, warmUp: 1, connections: 20 }

/** @throws When an option is unknown, or its value is not a number where a number is required. */
export function readOptions(args: readonly string[], folder: string): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      help: { type: 'boolean' },
      quick: { type: 'boolean' },
      guard: { type: 'boolean', default: false },
      accept: { type: 'boolean', default: false },
      peers: { type: 'boolean', default: true },
      built: { type: 'boolean', default: false },
      builds: { type: 'boolean', default: false },
      starts: { type: 'boolean', default: false },
      saves: { type: 'boolean', default: false },
      types: { type: 'boolean', default: false },
      soak: { type: 'boolean', default: false },
      growth: { type: 'boolean', default: false },
      largest: { type: 'string' },
      servers: { type: 'boolean', default: false },
      systems: { type: 'boolean', default: false },
      live: { type: 'boolean', default: false },
      webhooks: { type: 'boolean', default: false },
      variants: { type: 'boolean' },
      postgres: { type: 'boolean' },
      mariadb: { type: 'boolean' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      only: { type: 'string' },
      json: { type: 'string', default: `${folder}/.output/bench.json` },
      profile: { type: 'string' },
      publish: { type: 'boolean', default: false },
      against: { type: 'string' },
    },
  })
  if (values.help) return 'help'
  const quick = values.guard || values.accept || (values.quick ?? false)
  if (values.publish && (quick || values.against !== undefined || !values.peers))
    throw new RangeError('--publish needs a full run: it cannot be combined with --quick, --guard, --accept, --against and --no-peers.')
  if ([values.guard, values.accept, values.against !== undefined].filter(Boolean).length > 1)
    throw new RangeError('Use one of --guard, --accept and --against: the first two compare with the handlers by hand.')
  const effort = quick ? QUICK : FULL
  const inFull = !quick && values.only === undefined && values.against === undefined
  return {
    effort: { ...effort, rounds: atLeast(5, values.rounds, effort.rounds), seconds: atLeast(1, values.seconds, effort.seconds) },
    json: values.json,
    only: values.only,
    profile: values.profile,
    publish: values.publish,
    growth: values.growth ? atLeast(100_000, values.largest, 1_000_000) : undefined,
    against: values.against,
    built: values.built,
    builds: values.builds,
    starts: values.starts,
    saves: values.saves,
    types: values.types,
    soak: values.soak,
    servers: values.servers,
    systems: values.systems,
    live: values.live,
    webhooks: values.webhooks,
    variants: values.variants ?? inFull,
    remote: (['postgres', 'mariadb'] as const).filter(name => values[name] ?? inFull),
    quick,
    guard: values.guard,
    accept: values.accept,
    peers: values.peers && values.against === undefined,
  }
}

function atLeast(least: number, text: string | undefined, otherwise: number): number {
  const value = text === undefined ? otherwise : Number(text)
  if (!Number.isInteger(value) || value < least) throw new RangeError(`${text} is not an integer of at least ${least}.`)
  return value
}
