/** An app with the database of NuxtHub needs neither a server plugin nor the path of its schema. In development, it follows both. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAppFolder, LEFT_BY_COMMANDS } from '../support/copy'
import { root } from '../support/once'
import { buildFixture, folderOf } from './support/build'
import { startDevelopment, startServer, type Server } from './support/server'

/** `tags` is registered in a hook, the others in resource files. */
const RESOURCES = ['posts', 'drafts', 'notes', 'tags']

let server: Server
beforeAll(async () => {
  server = await startServer(await buildFixture('hub'))
})
afterAll(() => server?.stop())

it.each(RESOURCES)('finds the table of a resource, however it is registered and imported: %s', async (name) => {
  const { status, body } = await server.request(`/api/${name}`)
  expect([status, Array.isArray(body.data)]).toEqual([200, true])
})

it('writes and reads in the database of the hub, with its migrations', async () => {
  const title = `written at ${Date.now()}`
  const { status, body } = await server.request('/api/posts', { method: 'POST', body: { title } })
  expect([status, body.title]).toEqual([201, title])
  expect((await server.request(`/api/posts?filter={"title":"${title}"}`)).body.data).toEqual([{ id: body.id, title }])
})

it('applies rules that name a table of the hub', async () => {
  const { body } = await server.request('/api/posts', { method: 'POST', body: { title: 'hidden' } })
  expect((await server.request(`/api/posts/${body.id}`)).status).toBe(404)
})

it('knows a junction table of the hub that is not registered', async () => {
  const { status, body } = await server.request('/api/posts?include=tags&limit=1')
  expect([status, body.data[0]?.tags]).toEqual([200, []])
})

describe('in development', () => {
  const app = createAppFolder()
  const edit = (path: string, change: (text: string) => string) =>
    writeFileSync(join(app, path), change(readFileSync(join(app, path), 'utf8')))
  const migrate = (name: string, ...statements: string[]) =>
    writeFileSync(join(app, `server/db/migrations/sqlite/${name}.sql`), statements.join('\n--> statement-breakpoint\n'))
  const types = () => readFileSync(join(app, '.nuxt/types/auto-api.d.ts'), 'utf8')
  const becomes = (path: string, body: object) =>
    expect.poll(() => running.request(path), { timeout: 60_000, interval: 250 }).toMatchObject({ status: 200, body })

  let running: Server
  beforeAll(async () => {
    cpSync(join(root, folderOf('hub')), app, { recursive: true, filter: source => !LEFT_BY_COMMANDS.has(basename(source)) })
    // NuxtHub adds the folder of its database to the `.gitignore` of the workspace.
    writeFileSync(join(app, 'pnpm-workspace.yaml'), '')
    running = await startDevelopment(`../.data/${basename(app)}`)
  })
  afterAll(async () => {
    await running?.stop()
    rmSync(app, { recursive: true })
  })

  it.each(RESOURCES)('finds the table of a resource, and migrates the database: %s', async (name) => {
    await becomes(`/api/${name}`, { data: [] })
  })

  it('follows a new column and its migration, in responses and in types', async () => {
    await running.request('/api/posts', { method: 'POST', body: { title: 'first' } })
    expect(types()).not.toContain('draft: ')
    edit('server/db/schema/posts.ts', text => text.replace(
      'sqliteTable(\'posts\', columns())',
      'sqliteTable(\'posts\', { ...columns(), subtitle: text(\'subtitle\').default(\'none\'), draftId: integer(\'draft_id\').references(() => drafts.id) })',
    ))
    migrate('0001_columns', 'alter table posts add column subtitle text default \'none\';', 'alter table posts add column draft_id integer references drafts(id);')
    await becomes('/api/posts?filter={"subtitle":"none"}&include=draft', { data: [{ title: 'first', subtitle: 'none', draftId: null, draft: null }] })
    await expect.poll(types, { timeout: 30_000 }).toContain('draft: { to: "drafts"')
  })

  it('follows a new schema file, with a table that no resource registers', async () => {
    writeFileSync(join(app, 'server/db/schema/comments.ts'), `import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { notes, posts } from './posts'

export const comments = sqliteTable('comments', { id: integer('id').primaryKey(), text: text('text'), postId: integer('post_id').references(() => posts.id) })
export const postNotes = sqliteTable(
  'post_notes',
  { postId: integer('post_id').references(() => posts.id), noteId: integer('note_id').references(() => notes.id) },
  table => [primaryKey({ columns: [table.postId, table.noteId] })],
)
`)
    migrate(
      '0002_comments',
      'create table comments (id integer primary key, text text, post_id integer references posts(id));',
      'create table post_notes (post_id integer references posts(id), note_id integer references notes(id), primary key (post_id, note_id));',
    )
    await becomes('/api/posts?include=notes', { data: [{ title: 'first', notes: [] }] })
    const file = 'import { comments } from \'hub:db:schema\'\n\nexport default defineResource(comments, { permissions: { read: true } })\n'
    writeFileSync(join(app, 'server/resources/comments.ts'), file)
    await becomes('/api/comments?include=post', { data: [] })
    await expect.poll(types, { timeout: 30_000 }).toMatch(/comments: \{\s+table: typeof import\("[^"]*server\/db\/schema\/comments"\)/)
  })
})
