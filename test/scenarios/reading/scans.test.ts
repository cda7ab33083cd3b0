/** Lists with an object-level rule: the limit of a scan, and that other requests run meanwhile. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import type { ResourceAuth } from '../../../src/runtime/server/registration'
import type { AutoApiConfig } from '../../../src/runtime/shared/config'
import { LIMITS } from '../../../src/runtime/shared/limits'
import { createServer } from '../../support/server'

const notes = sqliteTable('notes', { id: integer('id').primaryKey(), kind: text('kind') })
const folders = sqliteTable('folders', { id: integer('id').primaryKey() })
const folderNotes = sqliteTable('folder_notes', {
  folderId: integer('folder_id').notNull().references(() => folders.id), noteId: integer('note_id').notNull().references(() => notes.id),
}, t => [primaryKey({ columns: [t.folderId, t.noteId] })])

let client: Database.Database
let sent: string[]
afterEach(() => client.close())

/** So many notes, all in one folder; every tenth is of another kind. */
async function open(count: number, objectLevel: ResourceAuth['objectLevel'], config: Partial<AutoApiConfig> = {}) {
  client = new Database(':memory:')
  client.exec(`
    create table notes (id integer primary key, kind text);
    create table folders (id integer primary key);
    create table folder_notes (folder_id integer, note_id integer, primary key (folder_id, note_id));
    insert into folders values (1);
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count}) insert into notes select i, case when i % 10 = 0 then 'rare' else 'common' end from n;
    insert into folder_notes select 1, id from notes;
  `)
  sent = []
  const permissions = { read: true, create: true, update: true, delete: true, aggregate: true } as const
  const server = await createServer({
    db: drizzle({ client, logger: { logQuery: text => void sent.push(text) } }),
    registrations: [
      { name: 'notes', schema: notes, authorization: { permissions, objectLevel } as ResourceAuth },
      { name: 'folders', schema: folders, authorization: { permissions } },
    ],
    modules: [{ notes, folders, folderNotes }],
    config,
  })
  sent.length = 0
  const request = async (method: string, path: string, body?: unknown) =>
    server.request(method, `/api/${path}`, { caller: { user: { id: 1 } }, ...(body !== undefined && { body }) })
  return { request, get: (path: string) => request('GET', path) }
}

const TOO_MANY = `More than ${LIMITS.scan} rows would have to be checked one by one. Narrow the filter.`

describe('with count=none', () => {
  const small = { objectLevelMaxRows: 10 }

  it.each([
    ['a page longer than objectLevelMaxRows', 'notes?limit=20&count=none', 1, 20],
    ['a later page', 'notes?limit=20&count=none&page=2', 21, 20],
    ['a page far out', 'notes?limit=20&count=none&page=40', 781, 20],
    ['the last page', 'notes?limit=20&count=none&page=50', 981, 20],
    ['a page of what is rare', 'notes?limit=20&count=none&filter[kind]=rare', 10, 20],
    ['a page of links', 'folders/1/relations/notes?limit=20&count=none', 1, 20],
  ])('returns %s', async (_, path, first, length) => {
    const { get } = await open(1000, () => true, small)
    const { status, body } = await get(path)
    expect([status, body.data?.[0]?.id, body.data?.length, 'total' in (body.meta ?? {})]).toEqual([200, first, length, false])
  })

  it('returns a page when few rows are accepted', async () => {
    const { get } = await open(1000, row => Number(row.id) > 990, small)
    const { body } = await get('notes?limit=9&count=none')
    expect([body.data.map(({ id }: { id: number }) => id), body.meta.hasMore]).toEqual([
      [991, 992, 993, 994, 995, 996, 997, 998, 999],
      true,
    ])
  })

  it('refuses a counted list beyond objectLevelMaxRows only', async () => {
    const { get } = await open(11, () => true, small)
    expect((await get('notes?filter[id][$lte]=10')).body.meta.total).toBe(10)
    const { status, body } = await get('notes')
    expect([status, body.data.code, body.message]).toEqual([
      400,
      'LIMIT_EXCEEDED',
      'More than 10 rows would have to be checked one by one. Narrow the filter, ask with count=none, or page by cursor.',
    ])
    expect((await get('notes/aggregate?aggregate=count')).body.data.code).toBe('LIMIT_EXCEEDED')
  })
})

describe('a list without any accepted row', () => {
  it.each(['notes?cursor=&limit=20', 'notes?count=none&limit=20'])('is refused after a limited number of rows: %s', async (path) => {
    const { get } = await open(LIMITS.scan + 1000, () => false)
    let turns = 0
    let going = true
    const count = () => {
      turns++
      if (going) setImmediate(count)
    }
    setImmediate(count)
    const { status, body } = await get(path)
    going = false
    expect([status, body.data.code, body.message]).toEqual([400, 'LIMIT_EXCEEDED', TOO_MANY])
    // Others get a turn after every batch.
    const batches = LIMITS.scan / LIMITS.scanBatch
    expect(sent.length).toBeLessThanOrEqual(batches + 2)
    expect(turns).toBeGreaterThanOrEqual(sent.length - 1)
  })

  it('is returned when it has no more rows than the limit', async () => {
    const { get } = await open(LIMITS.scan, () => false)
    expect((await get('notes?cursor=&limit=20')).body).toEqual({ data: [], meta: { limit: 20, hasMore: false, nextCursor: null } })
    expect((await get('notes?count=none&limit=20&filter[kind]=rare')).body.data).toEqual([])
  })
})

describe('more links than a batch has', () => {
  it('are all checked, removed and counted', async () => {
    const { request } = await open(1200, row => Number(row.id) > 5)
    const { status, body } = await request('PUT', 'folders/1/relations/notes', { ids: [7] })
    expect([status, body]).toEqual([200, { added: 0, removed: 1194, total: 1 }])
    expect(client.prepare('select note_id from folder_notes').raw().all().flat()).toEqual([1, 2, 3, 4, 5, 7])
  })
})
