/** Compares the page after 95 % of a caller's rows with the first page, both by cursor: of the API, and of raw SQL with the same rows. */
import { measure, type Effort, type Generator, type Target } from './measure.ts'
import type { BenchRequest } from './operations.ts'
import type { Measured } from './report.ts'
import type { Sample } from './dataset.ts'
import type { RunningServer } from './server.ts'
import { toFetchOptions } from './verify.ts'

interface Page {
  readonly data: readonly { readonly id: number }[]
  readonly meta: { readonly total?: number, readonly nextCursor?: string | null }
}

export const CURSOR = 'cursor, page 1 and at 95 %'

/** The parameter with the position. The first page has an empty one. */
const PARAMETERS: Readonly<Record<string, string>> = { c: 'after', d: 'cursor' }

const DEPTH = 0.95
/** The largest page size, to reach the page quickly. The requests before it are not measured. */
const STEP = 100

/** Measures `c` and `d` in turns. The ratio of `c` is what the database and the processor's caches need more for the other rows. */
export async function compareCursors(
  servers: readonly RunningServer[],
  sample: Sample,
  generator: Generator,
  effort: Effort,
): Promise<Measured[]> {
  console.info(`measuring ${CURSOR} …`)
  const compared = servers.flatMap(server => (PARAMETERS[server.implementation.key] ? [server] : []))
  const targets = await Promise.all(compared.map(server => cursorTargets(server, sample)))
  const rows = await Promise.all(targets.map(ofServer => Promise.all(ofServer.map(idsOf))))
  if (new Set(rows.map(ids => JSON.stringify(ids))).size > 1) throw new Error('The pages by cursor have other rows.')
  const readings = await measure(targets.flat(), generator, effort)
  return targets.map((ofServer, index) => ({
    operation: compared[index]!.implementation.key === 'd' ? CURSOR : `${CURSOR}, raw SQL`,
    bytes: 0,
    readings: new Map(ofServer.map(({ key }) => [key, readings.get(key)!])),
  }))
}

async function cursorTargets(server: RunningServer, { callers }: Sample): Promise<Target[]> {
  const { key } = server.implementation
  const at = (cursor: string) => `?${new URLSearchParams({ limit: '20', [PARAMETERS[key]!]: cursor })}`
  const deep: BenchRequest[] = []
  for (const { id } of callers) deep.push({ caller: id, path: at(await findCursor(server, id)) })
  return [
    { key: `${key}, page 1`, server, requests: callers.map(({ id }) => ({ caller: id, path: at('') })) },
    { key: `${key}, at 95 %`, server, requests: deep },
  ]
}

async function read(server: RunningServer, request: BenchRequest): Promise<Page> {
  return await (await fetch(server.posts + request.path, toFetchOptions(request))).json() as Page
}

const idsOf = ({ server, requests }: Target) =>
  Promise.all(requests.map(async request => (await read(server, request)).data.map(({ id }) => id)))

async function findCursor(server: RunningServer, caller: number): Promise<string> {
  const page = (parameters: Record<string, string>) => read(server, { caller, path: `?${new URLSearchParams(parameters)}` })
  const rows = (await page({ limit: '1', page: '1' })).meta.total! * DEPTH
  let cursor = ''
  for (let passed = 0; passed < rows; passed += STEP)
    cursor = (await page({ limit: String(STEP), [PARAMETERS[server.implementation.key]!]: cursor })).meta.nextCursor!
  return cursor
}
