/** Strapi 5 on SQLite, from npm. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { NEW_POST, type Data } from './data.ts'
import { install } from './install.ts'
import { LIMIT } from './operations.ts'
import { start } from './process.ts'
import { insert } from './seed.ts'
import { MEMBER, STRAPI_APP } from './strapi-app.ts'
import { call, INSTALLED, post, search, VERSIONS, type Command, type System, type SystemRow } from './system.ts'

const PACKAGES = [
  '@strapi/strapi', '@strapi/plugin-users-permissions', 'better-sqlite3', 'react', 'react-dom', 'react-router-dom', 'styled-components',
] as const

const installation = join(INSTALLED, 'strapi')
const FIRST = '/api/posts?pagination[pageSize]=1'

/** Document ids have 24 characters. */
const idOf = (kind: string, id: number) => kind + String(id).padStart(23, '0')

const command = (folder: string, port: number, environment: Readonly<Record<string, string>> = {}): Command => ({
  file: process.execPath,
  args: [join(installation, 'node_modules/@strapi/strapi/bin/strapi.js'), 'start'],
  cwd: installation,
  environment: {
    PORT: String(port), DATABASE_FILENAME: join(folder, 'data.sqlite'), STRAPI_TELEMETRY_DISABLED: 'true',
    STRAPI_DISABLE_UPDATE_NOTIFICATION: 'true', ...environment,
  },
})

/** A relation is a table of its own. The indexes of `INDEXES` that are left are those of columns. */
function fill(file: string, { authors, posts, comments }: Data): void {
  const db = new Database(file)
  const system = (kind: string, id: number, time: number) =>
    ({ id, document_id: idOf(kind, id), created_at: time, updated_at: time, published_at: time })
  insert(db, 'authors', authors.map(({ id, name }) => ({ ...system('a', id, 0), name })))
  insert(db, 'posts', posts.map(({ id, author: _, featured, releasedAt, ...row }) => {
    const time = Date.parse(releasedAt)
    return { ...row, ...system('p', id, time), featured: Number(featured), released_at: time }
  }))
  insert(db, 'comments', comments.map(({ id, body }) => ({ ...system('c', id, 0), body })))
  insert(db, 'posts_author_lnk', posts.map(({ id, author }) => ({ post_id: id, author_id: author })))
  insert(db, 'comments_author_lnk', comments.map(({ id, author }) => ({ comment_id: id, author_id: author })))
  insert(db, 'comments_post_lnk', comments.map(({ id, post }) => ({ comment_id: id, post_id: post, comment_ord: id })))
  db.exec('create index posts_state_released on posts (state, released_at)')
  db.exec('create index posts_state_featured_views on posts (state, featured, views)')
  // The file keeps this mode. A new app has no setting for it.
  db.pragma('journal_mode = WAL')
  db.close()
}

export const strapi: System = {
  key: 'Strapi',
  title: `Strapi ${VERSIONS['@strapi/strapi']} without its admin panel, better-sqlite3`,
  pragmas: 'WAL in the file, synchronous NORMAL (the default of better-sqlite3)',
  setup: 'the admin panel is not built; the rule is in the controller; bodies have no author id; no bulk; members have a JWT',
  installation,
  async prepare(data, seed) {
    install('strapi', PACKAGES)
    for (const [path, text] of Object.entries(STRAPI_APP)) {
      mkdirSync(dirname(join(installation, path)), { recursive: true })
      writeFileSync(join(installation, path), text)
    }
    mkdirSync(join(installation, 'public/uploads'), { recursive: true })
    const server = await start(port => command(seed, port, { BENCH_SETUP: '1' }), FIRST, join(seed, 'log'))
    await server.stop()
    fill(join(seed, 'data.sqlite'), data)
  },
  command,
  async member(url) {
    const { jwt } = await call<{ jwt: string }>(`${url}/api/auth/local`, { method: 'POST', body: JSON.stringify(MEMBER) })
    return { authorization: `Bearer ${jwt}` }
  },
  toRequest(query) {
    if (query.kind === 'create') return post('/api/posts', { data: { ...NEW_POST, author: idOf('a', NEW_POST.author) } })
    if (query.kind === 'bulk') return undefined
    if (query.kind === 'get') return { path: `/api/posts/${idOf('p', query.id)}` }
    const { page, total, featured, byViews, withAuthor, commentedBy } = query.list
    return {
      path: `/api/posts${search({
        'pagination[page]': page,
        'pagination[pageSize]': LIMIT,
        'pagination[withCount]': !total && 'false',
        'sort': byViews ? 'views:desc' : 'releasedAt:desc',
        'filters[featured][$eq]': featured && 'true',
        'filters[comments][author][name][$eq]': commentedBy,
        'populate[author][fields][0]': withAuthor && 'name',
      })}`,
    }
  },
  rows: body => toList((body as { data: unknown }).data)
    .map(({ author, ...row }) => ({ ...row, authorName: (author as { name?: unknown } | undefined)?.name })),
  total: body => (body as { meta: { pagination: { total?: unknown } } }).meta.pagination.total,
}

const toList = (value: unknown) => (Array.isArray(value) ? value : [value]) as readonly SystemRow[]
