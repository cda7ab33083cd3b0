/** Searches the grammar for the accepted request that blocks the event loop longest, relative to one `$like` scan of the same table. */
import { auditLog } from '../../src/runtime/plugins/index'
import { auditLogColumns } from '../../src/runtime/plugins/schema-sqlite'
import { sqliteTable } from 'drizzle-orm/sqlite-core'
import { auditLogSql } from '../../test/engines/support/audit-log'
import { longestBlock } from '../../test/support/longest-block'
import { createServer } from '../../test/support/server'
import { createNumbers, MAX_REQUEST, randomRequest, sizeOf, toUrl, type Candidate, type Searched, type SearchedRequest } from './grammar.ts'
import { openScene, TABLES } from './scene.ts'

export interface Dearest {
  readonly request: string
  readonly status: number
  /** The longest block in milliseconds of processor time, and as a multiple of one `$like` scan. */
  readonly block: number
  readonly ratio: number
}

export interface Found {
  readonly scan: number
  readonly tried: number
  readonly accepted: number
  /** The dearest requests, the dearest first. */
  readonly dearest: readonly Dearest[]
}

const KEPT = 10
const TURNS = 5
/** One `$like` over the body of every post. */
const SCAN: SearchedRequest = {
  method: 'GET',
  path: 'posts',
  parameters: { filter: { body: { $like: 'zz' } }, fields: 'id', limit: '1', count: 'none' },
}

/** Tries random requests, and variants of the dearest ones. A variant is measured twice, and the shorter block counts. */
export async function searchDearest({
  searched,
  seed,
  tries,
}: {
  readonly searched: Searched
  readonly seed: number
  readonly tries: number
}): Promise<Found> {
  const { client, db } = openScene()
  client.exec(await auditLogSql('sqlite'))
  const permissions = {
    read: true,
    create: true,
    update: true,
    delete: true,
    purge: true,
    restore: true,
    viewDeleted: true,
    aggregate: true,
  } as const
  const { users, posts, comments, tags } = TABLES
  const server = await createServer({
    db,
    modules: [TABLES],
    plugins: [auditLog()],
    registrations: Object.entries({ users, posts, comments, tags, auditLog: sqliteTable('audit_log', auditLogColumns()) }).map(
      ([name, schema]) => ({ name, schema: schema as never, authorization: { permissions } }),
    ),
  })
  const send = async ({ method, body, ...request }: SearchedRequest) =>
    (await server.request(method, toUrl({ method, ...request }), { ...(body !== undefined && { body }) })).status

  /** A write is undone, so that each request finds the same rows. */
  async function measure(request: SearchedRequest): Promise<{ status: number, block: number }> {
    let status = 0
    const isWrite = request.method !== 'GET'
    if (isWrite) client.exec('begin immediate')
    const block = await longestBlock(async () => void (status = await send(request)))
    if (isWrite) client.exec('rollback')
    return { status, block }
  }

  await measure(SCAN)
  const scan = await least(() => measure(SCAN), 5)
  const random = createNumbers(seed)
  let dearest: { candidate: Candidate, status: number, block: number }[] = []
  let accepted = 0
  for (let tried = 0; tried < tries; tried++) {
    const candidate
      = dearest.length > 0 && random() < 0.6
        ? dearest[Math.floor(random() * dearest.length)]!.candidate.vary()
        : randomRequest(random, searched)
    if (sizeOf(candidate.request) > MAX_REQUEST) continue
    const { status, block } = await measure(candidate.request)
    if (status < 400) accepted++
    if (status >= 500) throw new Error(`${candidate.request.method} ${toUrl(candidate.request)} returned ${status}.`)
    if (dearest.length === KEPT && block <= dearest.at(-1)!.block) continue
    const again = await least(() => measure(candidate.request), 2)
    dearest = [...dearest, { candidate, status, block: Math.min(block, again) }].sort((a, b) => b.block - a.block).slice(0, KEPT)
  }
  // The search takes minutes, in which the machine can become slower. So each ratio is that of measurements in turns.
  const compared: Dearest[] = []
  for (const { candidate: { request }, status } of dearest) {
    let [scan, block] = [Infinity, Infinity]
    for (let turn = 0; turn < TURNS; turn++) {
      scan = Math.min(scan, (await measure(SCAN)).block)
      block = Math.min(block, (await measure(request)).block)
    }
    compared.push({ request: describeRequest(request), status, block, ratio: block / scan })
  }
  client.close()
  return { scan, tried: tries, accepted, dearest: compared.sort((a, b) => b.ratio - a.ratio) }
}

const describeRequest = (request: SearchedRequest) => {
  const url = decodeURIComponent(toUrl(request).replaceAll('+', ' ')).slice(0, 1500)
  return `${request.method} ${url} ${JSON.stringify(request.body ?? '').slice(0, 80)}`
}

async function least(run: () => Promise<{ readonly block: number }>, times: number): Promise<number> {
  let block = Infinity
  for (let time = 0; time < times; time++) block = Math.min(block, (await run()).block)
  return block
}
