/** A server with webhooks that writes records at random until it is killed, and delivers meanwhile. */
import Database from 'better-sqlite3'
import { drizzle as betterSqlite3 } from 'drizzle-orm/better-sqlite3'
import { drizzle as nodePostgres } from 'drizzle-orm/node-postgres'
import type { Table } from 'drizzle-orm'
import pg from 'pg'
import { auditLog } from '../../../src/runtime/plugins/audit-log/index'
import { batch } from '../../../src/runtime/plugins/batch/index'
import { webhooks } from '../../../src/runtime/plugins/webhooks/index'
import { createServer, type Caller } from '../../support/server'
import { TABLES, type Kind } from './webhook-tables'

const [kind, url, receiver, mode, writes] = process.argv.slice(2) as [Kind, string, string, 'write' | 'drain', string]

function openSqlite() {
  const client = new Database(url)
  client.pragma('busy_timeout = 5000')
  return betterSqlite3({ client })
}
const db = kind === 'sqlite' ? openSqlite() : nodePostgres({ client: new pg.Pool({ connectionString: url, max: 8 }) })

const OWNER = { id: 1, permissions: ['all'] }
const CALLER: Caller = { user: { id: 1 }, permissions: ['all'] }
const permissions = Object.fromEntries(['read', 'create', 'update', 'delete', 'viewDeleted'].map(operation => [operation, 'all']))

const server = await createServer({
  db,
  engine: kind === 'sqlite' ? 'better-sqlite3' : 'postgres',
  registrations: Object.entries<Table>(TABLES[kind]).map(([name, schema]) =>
    ({ name, schema, authorization: { permissions: name === 'auditLog' ? { read: 'all' } : permissions } })),
  config: { bulk: { enabled: true, maxBatchSize: 100, transactional: true } },
  plugins: [
    auditLog(), batch(),
    // Failed attempts repeat after a second, so that the queue is empty soon.
    webhooks({
      findUser: () => OWNER, allowHttp: true, allowPrivateNetworks: true, timeout: Number(process.env.WEBHOOK_TIMEOUT ?? 1),
      retries: Array.from({ length: 20 }, () => 1),
    }),
  ],
})
const send = async (method: string, path: string, body?: unknown) => {
  const { status, body: answer, text } = await server.request(method, `/api/${path}`, { body, caller: CALLER })
  if (status >= 500 && status !== 503) throw new Error(text)
  return answer as { id?: number, data?: { id: number }[] } | undefined
}

if ((await send('GET', 'webhooks'))!.data!.length === 0) await send('POST', 'webhooks', { url: receiver, events: ['items.*'] })
const ids = (await send('GET', 'items?sort=-id&limit=20&trashed=with'))?.data?.map(({ id }) => id) ?? []

const random = (below: number) => Math.floor(Math.random() * below)
const someId = () => ids[random(ids.length)] ?? 1
const item = (code: string = crypto.randomUUID()) => ({ code, n: random(1e9) })
const keep = (records: readonly { id?: number }[]) => {
  for (const { id } of records) if (id !== undefined) ids.push(id)
  ids.splice(0, ids.length - 30)
}
const several = () => [...new Set([someId(), someId(), someId()])]

/** Each write with its weight. The last ones are rolled back. */
const WRITES: readonly (readonly [weight: number, write: () => Promise<unknown>])[] = [
  [30, async () => keep([await send('POST', 'items', item()) ?? {}])],
  [30, () => send('PATCH', `items/${someId()}`, { n: random(1e9) })],
  [8, () => send('DELETE', `items/${someId()}`)],
  [8, () => send('POST', `items/${someId()}/restore`)],
  [4, () => send('DELETE', `items/${someId()}?force=true`)],
  [6, async () => keep((await send('POST', 'items/bulk', { items: [item(), item(), item()] }))?.data ?? [])],
  [6, () => send('PATCH', 'items/bulk', { items: several().map(id => ({ id, data: { n: random(1e9) } })) })],
  [3, () => send('DELETE', 'items/bulk', { ids: several() })],
  [4, () => send('POST', 'batch', { steps: [
    { resource: 'items', operation: 'create', data: item(), as: 'new' },
    { resource: 'items', operation: 'update', id: { $ref: 'new.id' }, data: { n: 1 } },
    { resource: 'items', operation: 'update', id: { $ref: 'new.id' }, data: { n: 2 } },
  ] })],
  [5, () => send('POST', 'items/bulk', { items: [item(), item('same'), item('same')] })],
  [5, () => send('POST', 'batch', { steps: [
    { resource: 'items', operation: 'create', data: item() },
    { resource: 'items', operation: 'create', data: item('twice') },
    { resource: 'items', operation: 'create', data: item('twice') },
  ] })],
  [3, () => send('POST', 'items?dryRun=true', item())],
]
const total = WRITES.reduce((sum, [weight]) => sum + weight, 0)

async function writeSome(): Promise<void> {
  for (let left = Number(writes); left > 0; left--) {
    let at = random(total)
    const [, write] = WRITES.find(([weight]) => (at -= weight) < 0)!
    process.stdout.write('begin\n')
    await write()
    process.stdout.write('end\n')
    await new Promise(resolve => setTimeout(resolve, random(10)))
  }
}

// Something must be written: a server that starts does not look for deliveries before its task runs.
if (mode === 'drain') await send('POST', 'items', item())
else await Promise.all([writeSome(), writeSome(), writeSome()])
process.stdout.write('written\n')
setInterval(() => {}, 1000)
