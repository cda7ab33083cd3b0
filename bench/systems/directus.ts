/** Directus 11 on SQLite, from npm. Directus 12 needs a license for a permission with a condition on rows. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { INDEXES, NEW_POST, type Data } from './data.ts'
import { install } from './install.ts'
import { LIMIT } from './operations.ts'
import { run, start } from './process.ts'
import { insert } from './seed.ts'
import { call, INSTALLED, post, search, VERSIONS, type Command, type System, type SystemRow } from './system.ts'

const ADMIN = 'a-token-of-the-administrator'
const MEMBER = 'a-token-of-the-member'

const installation = join(INSTALLED, 'directus')
const script = join(installation, 'node_modules/directus/cli.js')

/** The pressure limiter would refuse requests of a load test. */
const environmentOf = (folder: string, port = 0) => ({
  DB_CLIENT: 'sqlite3', DB_FILENAME: join(folder, 'data.sqlite'), SECRET: 'a secret of the benchmark with many characters',
  ADMIN_EMAIL: 'admin@example.org', ADMIN_PASSWORD: 'a password of the bench', ADMIN_TOKEN: ADMIN,
  TELEMETRY: 'false', LOG_LEVEL: 'silent', PRESSURE_LIMITER_ENABLED: 'false', HOST: '127.0.0.1', PORT: String(port),
})

const command = (folder: string, port: number): Command =>
  ({ file: process.execPath, args: [script, 'start'], cwd: folder, environment: environmentOf(folder, port) })

const id = { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } }
const fields = (types: Readonly<Record<string, string>>) =>
  Object.entries(types).map(([field, type]) => ({ field, type, schema: {}, meta: {} }))
const special = (field: string, type: string, name: string) =>
  ({ field, type, schema: {}, meta: { special: [name] } })

/** Creates the collections, the rule and the member over the API, as the studio does. */
async function configure(url: string): Promise<void> {
  const headers = { authorization: `Bearer ${ADMIN}` }
  const send = async (path: string, body: object) =>
    (await call<{ data: { id: string } }>(url + path, { method: 'POST', body: JSON.stringify(body), headers })).data?.id
  // Writes are not logged, as in the other systems.
  const meta = { accountability: null }
  await send('/collections', { collection: 'authors', meta, schema: {}, fields: [id, ...fields({ name: 'string' })] })
  await send('/collections', {
    collection: 'posts', meta, schema: {}, fields: [
      id,
      ...fields({
        title: 'string', slug: 'string', excerpt: 'text', state: 'string', views: 'integer', releasedAt: 'timestamp', author: 'integer',
      }),
      special('featured', 'boolean', 'cast-boolean'),
      special('createdAt', 'timestamp', 'date-created'), special('updatedAt', 'timestamp', 'date-updated'),
    ],
  })
  const comment = fields({ body: 'text', post: 'integer', author: 'integer' })
  await send('/collections', { collection: 'comments', meta, schema: {}, fields: [id, ...comment] })
  await send('/fields/posts', { field: 'comments', type: 'alias', meta: { special: ['o2m'] } })
  const relation = (collection: string, field: string, related: string, one?: string) =>
    send('/relations', { collection, field, related_collection: related, schema: {}, meta: { one_field: one } })
  await relation('posts', 'author', 'authors')
  await relation('comments', 'author', 'authors')
  await relation('comments', 'post', 'posts', 'comments')

  const { data: policies } = await call<{ data: { id: string, icon: string }[] }>(`${url}/policies`, { headers })
  const anonymous = policies.find(({ icon }) => icon === 'public')!.id
  const allow = (policy: string, collection: string, action: string, permissions: object = {}) =>
    send('/permissions', { policy, collection, action, permissions, fields: ['*'] })
  await allow(anonymous, 'posts', 'read', { state: { _eq: 'published' } })
  await allow(anonymous, 'authors', 'read')
  await allow(anonymous, 'comments', 'read')
  const policy = await send('/policies', { name: 'Member' })
  await allow(policy, 'posts', 'read')
  await allow(policy, 'posts', 'create')
  const role = await send('/roles', { name: 'Member', policies: { create: [{ policy }] } })
  await send('/users', { email: 'member@example.org', token: MEMBER, role, status: 'active' })
}

function fill(file: string, { authors, posts, comments }: Data): void {
  const db = new Database(file)
  insert(db, 'authors', authors.map(author => ({ ...author })))
  insert(db, 'posts', posts.map(({ featured, releasedAt, ...row }) => {
    const time = Date.parse(releasedAt)
    return { ...row, featured: Number(featured), releasedAt: time, createdAt: time, updatedAt: time }
  }))
  insert(db, 'comments', comments.map(comment => ({ ...comment })))
  for (const [table, indexes] of Object.entries(INDEXES)) {
    for (const columns of indexes) db.exec(`create index ${[table, ...columns].join('_')} on ${table} (${columns.join(', ')})`)
  }
  // The file keeps this mode. Directus has no setting for it.
  db.pragma('journal_mode = WAL')
  db.close()
}

export const directus: System = {
  key: 'Directus',
  title: `Directus ${VERSIONS.directus}, sqlite3`,
  pragmas: 'WAL in the file, synchronous FULL (the default of sqlite3)',
  setup: 'version 12 needs a license for this rule; `isolated-vm` 6 for Node 24; the log of changes is off (`accountability: null`); '
    + 'members have a static token',
  installation,
  async prepare(data, seed) {
    // The version that Directus names does not compile for Node 24.
    install('directus', ['directus'], { 'isolated-vm': '6.0.2' })
    mkdirSync(join(seed, 'extensions'), { recursive: true })
    run(process.execPath, [script, 'bootstrap'], { cwd: seed, env: environmentOf(seed) })
    const server = await start(port => command(seed, port), '/server/ping', join(seed, 'log'))
    await configure(server.url).finally(() => server.stop())
    fill(join(seed, 'data.sqlite'), data)
  },
  command,
  member: async () => ({ authorization: `Bearer ${MEMBER}` }),
  toRequest(query) {
    if (query.kind === 'create') return post('/items/posts', NEW_POST)
    if (query.kind === 'bulk') return post('/items/posts', Array.from({ length: query.count }, () => NEW_POST))
    // Without `comments`, whose ids would be read for each post.
    if (query.kind === 'get') return { path: `/items/posts/${query.id}${search({ fields: FIELDS })}` }
    const { page, total, featured, byViews, withAuthor, commentedBy } = query.list
    const filter = featured ? { featured: { _eq: true } } : commentedBy && { comments: { author: { name: { _eq: commentedBy } } } }
    return {
      path: `/items/posts${search({
        limit: LIMIT,
        page,
        meta: total && 'filter_count',
        sort: byViews ? '-views' : '-releasedAt',
        filter: filter && JSON.stringify(filter),
        fields: withAuthor ? FIELDS.replace('author', 'author.id,author.name') : FIELDS,
      })}`,
    }
  },
  rows: body => toList((body as { data: unknown }).data).map(({ author, ...row }) => typeof author === 'object'
    ? { ...row, author: (author as SystemRow).id, authorName: (author as SystemRow).name }
    : { ...row, author }),
  total: body => (body as { meta?: { filter_count?: unknown } }).meta?.filter_count,
}

const FIELDS = 'id,title,slug,excerpt,state,featured,views,releasedAt,author,createdAt,updatedAt'

const toList = (value: unknown) => (Array.isArray(value) ? value : [value]) as readonly SystemRow[]
