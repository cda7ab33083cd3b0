/** The paths of the newsroom: plugins that the visibility app lacks, the audit log of its writes, and the pages of the admin. */
import { EDITOR } from '../newsroom/callers'
import type { Newsroom } from '../newsroom/server'
import type { Server } from '../support/server'
import { NO_EFFECTS } from './judge'
import type { App, Described, Target } from './run'

const comment = () => ({ postId: 1, body: 'A comment on the first post' })
const rename = (n: number) => ({ title: `Title ${n}` })

/** Those of each build. */
const COMMON: readonly Target[] = [
  { path: '/api/auditLog', query: '?limit=3&filter[at][$lt]=2026-01-01' },
  { path: '/api/audit-log', query: '?limit=3&to=2026-01-01T00:00:00Z' },
  { path: '/api/posts/2/history', query: '?to=2026-01-01T00:00:00Z' },
  { path: '/api/tags/export' },
  { path: '/api/_live', query: '?resources=posts' },
  { path: '/api/webhooks' },
  { path: '/api/posts/1', method: 'PATCH', body: rename },
  { path: '/api/posts/bulk', method: 'PATCH', body: n => ({ ids: [1], data: rename(n) }) },
  { path: '/api/comments', method: 'POST', body: comment },
]

const OF_PLAYGROUND: readonly Target[] = [
  { path: '/api/activity', query: '?limit=3' },
  { path: '/api/_openapi.json' },
  { path: '/api/_admin' },
  { path: '/api/_admin/rows' },
  { path: '/api/apiTokens' },
  {
    path: '/api/batch', method: 'POST',
    body: n => ({ steps: [{ method: 'update', resource: 'posts', id: 1, data: rename(n) }] }),
  },
]

const page = (path: string): Target => ({ path, headers: { accept: 'text/html' } })

const PAGES: readonly Target[] = ['', '/posts', '/auditLog', '/-/audit', '/-/permissions', '/-/activity', '/desk-report'].map(end => page(`/admin${end}`))

const editor = { 'x-demo-user': String(EDITOR) }

export const ofEdge = (newsroom: () => Newsroom & { readonly directUrl: string }, count: number): Described => ({
  app: () => toApp(newsroom(), newsroom().directUrl),
  targets: COMMON, open: '/api/tags', editor, count,
  gate: { paths: ['/api/posts'], resource: 'posts' },
})

export const ofPlayground = (newsroom: () => Newsroom, count: number): Described =>
  ({ app: () => toApp(newsroom()), targets: [...COMMON, ...OF_PLAYGROUND], open: '/api/tags', editor, count })

export const ofPages = (newsroom: () => Newsroom, count: number): Described =>
  ({ app: () => toApp(newsroom()), targets: PAGES, open: '/admin/tags', editor, count })

/** The admin of another app, with a middleware that compares the path. */
export const ofBackOffice = (server: () => Server, count: number): Described => ({
  app: () => ({ url: server().url, effects: async () => NO_EFFECTS }),
  targets: ['/samples', '/samples/1', '/payroll-plan', '/-/permissions'].map(end => page(`/back-office${end}`)),
  open: '/back-office/open',
  editor: { 'x-caller': JSON.stringify({ user: { id: 1 }, permissions: ['editor', 'payroll-clerk'] }) },
  gate: { paths: ['/back-office/samples', '/back-office/payroll-plan', '/back-office/-'] },
  count,
})

const APPS = new WeakMap<Newsroom, App>()

function toApp(newsroom: Newsroom, url = newsroom.url): App {
  const known = APPS.get(newsroom)
  if (known) return known
  // The id of an entry is of its time. An export only reads, and is recorded.
  const entriesAfter = (id: string) => newsroom.rows<Entry>('select * from audit_log where id > ? and kind <> \'export\' order by id', id)
  const last = () => newsroom.rows<{ id: string }>('select coalesce(max(id), \'\') as id from audit_log where kind <> \'export\'')[0]!.id
  const sums = () => JSON.stringify(newsroom.rows(
    'select (select sum(updated_at) from posts) as posts, (select sum(updated_at) from comments) as comments, (select count(*) from tags) as tags'))
  let state: { readonly last: string, readonly sums: string } | undefined
  const app: App = {
    url,
    async effects() {
      const [was, is] = [state, { last: last(), sums: sums() }]
      state = is
      if (!was || (was.last === is.last && was.sums === is.sums)) return NO_EFFECTS
      const entries = entriesAfter(was.last).map(({ kind, resource, record_id, user_id, tenant_id, via, columns }) =>
        [kind, resource, kind === 'create' ? undefined : record_id, user_id, tenant_id, via, columns].join(' '))
      return `${was.sums === is.sums ? 'no row' : 'rows'}, recorded: ${entries.join()}`
    },
  }
  APPS.set(newsroom, app)
  return app
}

type Entry = Readonly<Record<'kind' | 'resource' | 'record_id' | 'user_id' | 'tenant_id' | 'via' | 'columns', string | null>>
