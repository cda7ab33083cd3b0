/** Measures plugins: updates with an audit log, a page of the activity feed compared with a list, and an export of all visible posts. */
import { copyFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import type { Sample } from './dataset.ts'
import { IMPLEMENTATIONS, type Implementation } from './implementations.ts'
import { measure, toTargets, type Effort, type Generator, type Target } from './measure.ts'
import type { BenchRequest, Operation } from './operations.ts'
import type { Measured } from './report.ts'
import { startServer, type RunningServer } from './server.ts'
import { assertSameResponses } from './verify.ts'

const environment = () => ({ BENCH_PLUGINS: '1' })
const [a, , , d] = IMPLEMENTATIONS
/** The handwritten routes, and the API. */
const AUDITED: readonly Implementation[] = [{ ...a, posts: '/hand/audited', environment }, { ...d, environment }]

/** Every request changes the title: two titles take turns. */
const titles = ['One title', 'Another title']

const UPDATES: readonly Operation[] = [
  {
    title: 'update with audit log',
    writes: 1,
    status: 200,
    requests: ({ callers }) => titles.flatMap(title => callers.flatMap(({ id, visible }) =>
      visible.slice(0, 10).map((post): BenchRequest => ({ caller: id, path: `/${post}`, method: 'PATCH', body: { title } })))),
    isCorrect: body => titles.includes((body as { title: string }).title),
  },
  {
    title: 'bulk update of 100 with audit log',
    writes: 100,
    status: 200,
    requests: ({ mine, writer }) => titles.map((title): BenchRequest =>
      ({ caller: writer, path: '/bulk', method: 'PATCH', body: { items: mine.map(id => ({ id, data: { title } })) } })),
    isCorrect: body => (body as { data?: unknown[] }).data?.length === 100,
  },
]

/** An export takes about 100 ms: with 20 connections, a round of a second ends before the first response. */
const EXPORT_EFFORT = { connections: 1, seconds: 4 }

const EXPORTS: readonly Operation[] = [
  { title: 'export of 10 000 posts, csv', format: 'csv', records: (text: string) => text.split('\r\n').length - 2 },
  { title: 'export of 10 000 posts, ndjson', format: 'ndjson', records: (text: string) => text.split('\n').length - 1 },
  { title: 'export of 10 000 posts, json', format: 'json', records: (text: string) => (JSON.parse(text) as unknown[]).length },
].map(({ title, format, records }) => ({
  title,
  requests: ({ callers }) => callers.map(({ id }) => ({ caller: id, path: `/export?format=${format}` })),
  parse: text => text,
  isCorrect: text => records(text as string) > 9000,
}))

/** The same servers. Both export by key: the handwritten route has another path. */
const forExport = (servers: readonly RunningServer[]) =>
  servers.map(server => ({ ...server, posts: server.posts.replace('/hand/audited', '/hand/exported') }))

/** A page of the feed, and a page of the list for the same caller, both by cursor. */
const FEED = 'activity feed, page of 20'

export const PLUGIN_OPERATIONS = [...UPDATES.map(({ title }) => title), FEED, ...EXPORTS.map(({ title }) => title)]

export async function comparePlugins(
  only: string | undefined, database: string, sample: Sample, generator: Generator, effort: Effort,
): Promise<Measured[]> {
  const servers: RunningServer[] = []
  const files: string[] = []
  try {
    for (const implementation of AUDITED) {
      const copy = database.replace('.sqlite', `-audited-${implementation.key}.sqlite`)
      copyFileSync(database, copy)
      files.push(copy)
      servers.push(await startServer(implementation, copy))
    }
    const measured: Measured[] = []
    const isWanted = (title: string) => title.includes(only ?? '')
    // The export comes first, because updates set different times.
    const exporting = forExport(servers)
    for (const operation of EXPORTS) {
      if (!isWanted(operation.title)) continue
      const bytes = await assertSameResponses(operation, exporting, sample)
      console.info(`measuring ${operation.title} …`)
      const readings = await measure(toTargets(operation, exporting, sample), generator, { ...effort, ...EXPORT_EFFORT })
      measured.push({ operation: operation.title, bytes, readings })
    }
    if (![...UPDATES.map(({ title }) => title), FEED].some(isWanted)) return measured
    // The feed needs the entries.
    const sizes: number[] = []
    for (const operation of UPDATES) sizes.push(await assertSameResponses(operation, servers, sample))
    assertSameEntries(files)
    // The feed comes first: an entry takes longer the more updates it stands for.
    if (isWanted(FEED)) {
      console.info(`measuring ${FEED} …`)
      measured.push({ operation: FEED, bytes: 0, readings: await measure(await feedTargets(servers[1]!, sample), generator, effort) })
    }
    for (const [index, operation] of UPDATES.entries()) {
      const { title, writes } = operation
      if (!isWanted(title)) continue
      console.info(`measuring ${title} …`)
      measured.push({
        operation: title,
        bytes: sizes[index]!,
        writes,
        readings: await measure(toTargets(operation, servers, sample), generator, effort),
      })
    }
    return measured
  }
  finally {
    await Promise.all(servers.map(server => server.stop()))
  }
}

/** The first five pages of the list and of the feed, both by cursor. @throws If a page has other than 20 items. */
async function feedTargets(server: RunningServer, { writer }: Sample): Promise<Target[]> {
  const feed = { ...server, posts: server.posts.replace(/posts$/, 'activity') }
  return [
    { key: 'd, list 20', server, requests: await cursorPages(server, writer) },
    { key: 'd, activity', server: feed, requests: await cursorPages(feed, writer) },
  ]
}

async function cursorPages({ posts }: RunningServer, caller: number): Promise<BenchRequest[]> {
  const requests: BenchRequest[] = []
  let cursor = ''
  while (requests.length < 5) {
    const request = { caller, path: `?${new URLSearchParams({ limit: '20', cursor })}` }
    const response = await fetch(posts + request.path, { headers: { 'x-caller': String(caller) } })
    const { data, meta } = await response.json() as { data?: unknown[], meta?: { nextCursor: string } }
    if (data?.length !== 20) throw new Error(`${posts} answers ${response.status} with ${data?.length} items.`)
    requests.push(request)
    cursor = meta!.nextCursor
  }
  return requests
}

/** @throws When the handwritten routes and the API have written different entries. */
function assertSameEntries(files: readonly string[]): void {
  const [expected, found] = files.map((file) => {
    const connection = new Database(file, { readonly: true })
    const rows = connection
      .prepare(
        'select kind, resource, record_id, user_id, via, tenant_id, columns, before, after from audit_log where kind = \'update\' order by record_id, after',
      )
      .all()
    connection.close()
    return JSON.stringify(rows).replace(/(\\"updatedAt\\":)\\"[^"]*\\"/g, '$1"generated"')
  })
  if (expected !== found || expected === '[]') throw new Error(`The entries differ.\n${expected!.slice(0, 2000)}\n${found!.slice(0, 2000)}`)
}
