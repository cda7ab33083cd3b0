/** The paths of the visibility app: each kind of route of the API, and of its plugins. */
import { COVER } from '../../support/matrix/reasons'
import type { VisibilityApp } from '../support/visibility'
import { NO_EFFECTS } from './judge'
import type { App, Described, Target } from './run'

/** Long enough to be recognized in a response. */
const ROWS = {
  articles: [
    { id: 1, organization_id: 1, title: 'An article for members only', note: 'hidden', cover: COVER },
    { id: 2, organization_id: 1, title: 'An article in the trash', deleted_at: 1_700_000_000_000, deletion_id: 'd2' },
  ],
  article_tags: [{ article_id: 1, tag_id: 1 }],
}

const EDITOR = { user: { id: 1, role: 'chief', organizationId: 1 }, permissions: ['articles'] }

const rename = (n: number) => ({ title: `Title ${n}` })

const TARGETS: readonly Target[] = [
  { path: '/articles' },
  { path: '/articles/1' },
  { path: '/articles/aggregate', query: '?aggregate=count&groupBy=title' },
  { path: '/articles/permissions' },
  { path: '/articles/export' },
  { path: '/articles/1/title' },
  { path: '/articles/titles' },
  { path: '/articles/titles.csv' },
  { path: '/articles/1/files/cover' },
  { path: '/titles/articles' },
  { path: '/titles/articles/1' },
  { path: '/_openapi.json' },
  { path: '/_admin' },
  { path: '/_schema' },
  { path: '/articles', method: 'POST', body: rename },
  { path: '/articles/1', method: 'PATCH', body: rename },
  { path: '/articles/1', method: 'DELETE' },
  { path: '/articles/bulk', method: 'POST', body: n => ({ items: [rename(n)] }) },
  { path: '/articles/bulk', method: 'PATCH', body: n => ({ ids: [1], data: rename(n) }) },
  { path: '/articles/bulk', method: 'DELETE', body: () => ({ ids: [1] }) },
  { path: '/articles/2/restore', method: 'POST' },
  { path: '/articles/1/relations/tags', method: 'PUT', body: () => ({ ids: [2] }) },
  { path: '/articles/1/title', method: 'PUT', body: rename },
  { path: '/articles/titles', method: 'POST', body: rename },
  { path: '/titles/articles/1', method: 'PUT', body: rename },
]

export function ofVisibility(server: () => VisibilityApp, count: number, base = '', below = '/api'): Described {
  const prefix = base + below
  return {
    app: () => toApp(server()),
    targets: TARGETS.map(target => ({ ...target, path: prefix + target.path })),
    open: `${prefix}/labels`,
    editor: { 'x-caller': JSON.stringify(EDITOR) },
    // Middleware of Nuxt 4 sees paths without the base URL.
    gate: { paths: [...new Set([prefix, below])].map(path => `${path}/articles`), resource: 'articles' },
    count,
  }
}

const APPS = new WeakMap<VisibilityApp, App>()

function toApp(server: VisibilityApp): App {
  const known = APPS.get(server)
  if (known) return known
  let before: Awaited<ReturnType<VisibilityApp['rows']>> | undefined
  const app: App = {
    url: server.url,
    async effects() {
      const [was, is] = [before, await server.rows()]
      const changed = Object.keys(is).flatMap(table => [...new Set([...Object.keys(was?.[table] ?? {}), ...Object.keys(is[table]!)])]
        .map(id => [table, id, JSON.stringify(was?.[table]?.[id]), JSON.stringify(is[table]![id])])
        .filter(([,, from, to]) => from !== to))
      if (was && changed.length === 0) return NO_EFFECTS
      before = await server.putRows(ROWS)
      return was ? changed.map(([table, id, , to]) => `${table} ${id}: ${to}`).join().replace(/"deletion_id":"[^"]+"/g, '"deletion_id":"<id>"') : NO_EFFECTS
    },
  }
  APPS.set(server, app)
  return app
}
