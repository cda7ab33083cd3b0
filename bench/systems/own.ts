/** Our app, built for production. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { createJiti } from 'jiti'
import { NEW_POST, type Data } from './data.ts'
import { LIMIT } from './operations.ts'
import { run } from './process.ts'
import { insert } from './seed.ts'
import { call, post, search, type System, type SystemRow } from './system.ts'

const SESSION = 'a session of the benchmark'

const folderOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const output = folderOf('../.output/systems')

const toBody = ({ author, ...row }: typeof NEW_POST) => ({ ...row, authorId: author })

async function fill(file: string, { authors, posts, comments }: Data): Promise<void> {
  const kit = createRequire(import.meta.url)('drizzle-kit/api') as typeof import('drizzle-kit/api')
  // The tables use the module's presets, which Node cannot import without a bundler.
  const alias = { 'nuxt-auto-api/schema/sqlite': folderOf('../../src/runtime/plugins/schema-sqlite.ts') }
  const schema = await createJiti(import.meta.url, { alias }).import<Record<string, unknown>>('./app/server/database/schema.ts')
  const db = new Database(file)
  db.pragma('journal_mode = WAL')
  const empty = await kit.generateSQLiteDrizzleJson({})
  for (const statement of await kit.generateSQLiteMigration(empty, await kit.generateSQLiteDrizzleJson(schema))) db.exec(statement)
  insert(db, 'members', [{ id: 1, name: 'Member' }])
  insert(db, 'authors', authors.map(author => ({ ...author })))
  insert(db, 'posts', posts.map(({ featured, releasedAt, author, ...row }) => ({
    ...row, featured: Number(featured), released_at: Date.parse(releasedAt), author_id: author,
    created_at: Date.parse(releasedAt), updated_at: Date.parse(releasedAt),
  })))
  insert(db, 'comments', comments.map(({ id, body, post, author }) => ({ id, body, post_id: post, author_id: author })))
  db.close()
}

export const own: System = {
  key: 'nuxt-auto-api',
  title: 'nuxt-auto-api, built Nuxt server, better-sqlite3',
  pragmas: 'WAL, synchronous NORMAL',
  setup: 'members have an API token of the plugin `apiTokens`',
  installation: output,
  async prepare(data, seed, isBuilt) {
    if (!isBuilt) console.info('building our app …')
    if (!isBuilt) run('nuxi', ['build', folderOf('./app')], { cwd: folderOf('.'), env: { NUXT_TELEMETRY_DISABLED: '1' } })
    await fill(join(seed, 'data.sqlite'), data)
  },
  command: (folder, port) => ({
    file: process.execPath,
    args: [join(output, 'server/index.mjs')],
    cwd: folder,
    environment: { HOST: '127.0.0.1', PORT: String(port), BENCH_DATABASE: join(folder, 'data.sqlite'), BENCH_SESSION: SESSION },
  }),
  async member(url) {
    const headers = { 'x-session': SESSION }
    const { token } = await call<{ token: string }>(`${url}/api/apiTokens`, { method: 'POST', headers, body: '{"name":"bench"}' })
    return { authorization: `Bearer ${token}` }
  },
  toRequest(query) {
    if (query.kind === 'create') return post('/api/posts', toBody(NEW_POST))
    if (query.kind === 'bulk') return post('/api/posts/bulk', { items: Array.from({ length: query.count }, () => toBody(NEW_POST)) })
    if (query.kind === 'get') return { path: `/api/posts/${query.id}` }
    const { page, total, featured, byViews, withAuthor, commentedBy } = query.list
    const filter = { ...featured && { featured }, ...commentedBy && { comments: { author: { name: commentedBy } } } }
    return {
      path: `/api/posts${search({
        limit: LIMIT,
        page,
        count: !total && 'none',
        sort: byViews ? '-views' : '-releasedAt',
        filter: Object.keys(filter).length > 0 && JSON.stringify(filter),
        include: withAuthor && 'author[id,name]',
      })}`,
    }
  },
  rows: body => toList((body as { data?: unknown }).data ?? body)
    .map(({ authorId, author, ...row }) => ({ ...row, author: authorId, authorName: (author as { name?: unknown } | undefined)?.name })),
  total: body => (body as { meta: { total?: unknown } }).meta.total,
}

const toList = (value: unknown) => (Array.isArray(value) ? value : [value]) as readonly SystemRow[]
