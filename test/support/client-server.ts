/** A test harness that runs the composables against the API in memory, and records the requests they send. */
import Database from 'better-sqlite3'
import { environmentManager, QueryClient, VueQueryPlugin } from '@tanstack/vue-query'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { vi } from 'vitest'
import { createApp, effectScope, type EffectScope } from 'vue'
import { generateClient } from '../../src/build/virtual/client'
import { describeResources } from '../../src/runtime/server/schema/describe'
import type { ResourceRegistration } from '../../src/runtime/server/registration'
import { DEFAULT_CONFIG } from '../../src/runtime/shared/defaults'
import { AUDIT_LOGS, auditLogSql } from '../engines/support/audit-log'
import type { AutoApiStoredFile } from './composables'
import { createServer, type Caller } from './server'

const writers = sqliteTable('writers', { id: integer('id').primaryKey(), name: text('name').notNull() })
const articles = sqliteTable('articles', {
  id: integer('id').primaryKey(),
  writerId: integer('writer_id').references(() => writers.id),
  title: text('title', { length: 40 }).notNull(),
  views: integer('views').notNull().default(0),
  publishedAt: integer('published_at', { mode: 'timestamp_ms' }),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
  deletionId: text('deletion_id'),
})
const remarks = sqliteTable('remarks', {
  id: integer('id').primaryKey(),
  articleId: integer('article_id')
    .notNull()
    .references(() => articles.id, { onDelete: 'cascade' }),
  body: text('body').notNull(),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
  deletionId: text('deletion_id'),
})
const labels = sqliteTable('labels', { id: integer('id').primaryKey(), name: text('name').notNull() })
const articlesLabels = sqliteTable(
  'articles_labels',
  {
    articleId: integer('article_id')
      .notNull()
      .references(() => articles.id),
    labelId: integer('label_id')
      .notNull()
      .references(() => labels.id),
  },
  table => [primaryKey({ columns: [table.articleId, table.labelId] })],
)
const shelves = sqliteTable('shelves', { hall: text('hall').notNull(), row: text('row').notNull(), note: text('note') }, table => [
  primaryKey({ columns: [table.hall, table.row] }),
])

const pictures = sqliteTable('pictures', {
  id: integer('id').primaryKey(),
  title: text('title'),
  photo: text('photo', { mode: 'json' }).$type<AutoApiStoredFile>(),
  scans: text('scans', { mode: 'json' }).$type<AutoApiStoredFile[]>(),
})

const permissions = { read: true, create: 'edit', update: 'edit', delete: 'edit', restore: 'edit', purge: 'edit' }
const schemas = { writers, articles, remarks, labels, shelves, pictures }
const registrations: ResourceRegistration[] = Object.entries(schemas).map(([name, schema]) => ({
  name,
  schema,
  authorization: { permissions, ...(name === 'articles' && { fields: { views: { write: 'never' } } }) },
  ...(name === 'pictures' && { protectedFields: ['photo', 'scans'] }),
}))

export interface ClientServer {
  readonly composables: typeof import('./composables')
  readonly queryClient: QueryClient
  /** `GET /v1/articles?page=1`, in the order in which they were sent. */
  readonly requests: string[]
  /** The idempotency keys of the writes, in the order in which they were sent. */
  readonly keys: (string | undefined)[]
  /** Calls composables as `setup` does. */
  readonly setup: <T>(run: () => T) => T
  /** What the next write is answered with in place of the API's own answer. */
  refuseNext?: { readonly status: number, readonly body: unknown }
  caller: Caller
  /** Sends a file, as a browser does from an app below `/app/`. */
  readonly send: (url: string, raw: string, headers: Record<string, string>) => Promise<{ status: number, body: unknown, headers: Headers }>
  /** Reads a path, as a browser does for an image. */
  readonly get: (path: string) => Promise<{ status: number, text: string, headers: Headers }>
  readonly close: () => void
}

const TABLES = `
  create table writers (id integer primary key, name text not null);
  create table articles (id integer primary key, writer_id integer references writers, title text not null, views integer not null default 0, published_at integer, deleted_at integer, deletion_id text);
  create table remarks (id integer primary key, article_id integer not null references articles on delete cascade, body text not null, deleted_at integer, deletion_id text);
  create table labels (id integer primary key, name text not null);
  create table articles_labels (article_id integer not null references articles, label_id integer not null references labels, primary key (article_id, label_id));
  create table shelves (hall text not null, "row" text not null, note text, primary key (hall, "row"));
  create table pictures (id integer primary key, title text, photo text, scans text);
  insert into pictures (id, title) values (1, 'Harbour'), (2, 'Bridge');
  insert into writers values (1, 'Ada'), (2, 'Ben');
  insert into articles (id, writer_id, title) values (1, 1, 'One'), (2, 1, 'Two'), (3, 2, 'Three'), (4, null, 'Four'), (5, 2, 'Five');
  insert into remarks (id, article_id, body) values (1, 1, 'First'), (2, 1, 'Second');
  insert into labels values (1, 'Sport'), (2, 'Culture');
  insert into articles_labels values (1, 1);
  insert into shelves values ('a,b', 'c/d', null);
`

export async function openClientServer(
  { prefix = '/v1', plugins = [], built, further = [], sql = '', audited = false, extended = false }: {
    readonly prefix?: string
    readonly plugins?: readonly unknown[]
    readonly built?: readonly string[]
    /** Registrations besides those of the harness, and the SQL that creates their tables. */
    readonly further?: readonly ResourceRegistration[]
    readonly sql?: string
    readonly audited?: boolean
    /** `filters.extended` */
    readonly extended?: boolean
  } = {},
): Promise<ClientServer> {
  const sqlite = new Database(':memory:')
  sqlite.exec(TABLES + sql)
  const config = { ...DEFAULT_CONFIG, prefix, filters: { extended } }
  const registered = [...registrations, ...further]
  const modules = [{ ...schemas, articlesLabels }]
  if (audited) sqlite.exec(await auditLogSql('sqlite'))
  // The server's modules are loaded anew, so the plugins have to be as well.
  const { activityFeed, auditLog } = await import('../../src/runtime/plugins/index')
  const server = await createServer({
    registrations: audited
      ? [...registered, { name: 'auditLog', schema: AUDIT_LOGS.sqlite, authorization: { permissions: { read: 'edit' } } }]
      : registered,
    plugins: audited
      ? [auditLog(), activityFeed({ actor: { resource: 'writers', label: 'name' }, labels: { articles: 'title' } })]
      : plugins,
    built,
    modules,
    config,
    db: drizzle({ client: sqlite }),
  })
  // The first request waits until the plugins have loaded their modules, which are reset below.
  await server.request('GET', `${prefix}/articles`)
  const code = generateClient(prefix, describeResources(registered, modules, config))
  const harness = {
    requests: [] as string[],
    keys: [] as (string | undefined)[],
    caller: { user: { id: 1 }, permissions: ['edit'] },
    refuseNext: undefined,
  } as unknown as { -readonly [K in keyof ClientServer]: ClientServer[K] }

  /** As Nuxt's own: an answer that is no success is thrown. */
  async function fetch(
    path: string,
    {
      method,
      query,
      body,
      headers,
      onResponse,
    }: {
      method: string
      query: Record<string, string>
      body?: string
      headers?: Record<string, string>
      onResponse?: (context: { response: { headers: Headers } }) => void
    },
  ) {
    const search = new URLSearchParams(query).toString()
    const url = search ? `${path}?${search}` : path
    harness.requests.push(`${method} ${decodeURIComponent(url)}`)
    if (method !== 'GET') harness.keys.push(headers?.['idempotency-key'])
    const refusal = method === 'GET' ? undefined : harness.refuseNext
    if (refusal) harness.refuseNext = undefined
    const answer = refusal ?? (await server.request(method, url, { raw: body, headers, caller: harness.caller }))
    onResponse?.({ response: { headers: 'headers' in answer ? answer.headers : new Headers() } })
    if (answer.status >= 400) throw Object.assign(new Error('FetchError'), { statusCode: answer.status, data: answer.body })
    return answer.body
  }

  /** Leaves the body of the response unread. */
  function raw(path: string, { query, signal }: { query: Record<string, string>, signal: AbortSignal }): Promise<Response> {
    const url = `${path}?${new URLSearchParams(query)}`
    harness.requests.push(`GET ${decodeURIComponent(url)}`)
    return server.fetch(new Request(`http://localhost${url}`, { signal }), harness.caller)
  }

  harness.send = (url, raw, headers) => server.request('POST', url.replace(/^\/app/, ''), { raw, headers, caller: harness.caller })

  harness.get = path => server.request('GET', path, { caller: harness.caller })

  // The composables import the mock when they are loaded, so each desk loads them anew.
  vi.resetModules()
  vi.doMock('../../src/runtime/app/nuxt', () => ({
    prefix,
    hasNested: true,
    resources: JSON.parse(/Facts>> = ([\s\S]+)$/.exec(code)![1]!) as unknown,
    useNuxtApp: () => ({ isHydrating: false }),
    useRuntimeConfig: () => ({ app: { baseURL: '/app/' } }),
    useRequestFetch: () => Object.assign(fetch, { raw }),
  }))
  // Node is no browser, and this is about what happens in one.
  environmentManager.setIsServer(() => false)
  harness.composables = await import('./composables')
  harness.queryClient = new QueryClient()
  const vue = createApp({})
  vue.use(VueQueryPlugin, { queryClient: harness.queryClient })
  const scope: EffectScope = effectScope()
  harness.setup = run => vue.runWithContext(() => scope.run(run))!
  harness.close = () => {
    scope.stop()
    harness.queryClient.clear()
    sqlite.close()
  }
  return harness
}
