/** Edge cases of values and errors: no input causes a 500, and no internal error is disclosed. */
import { sql } from 'drizzle-orm'
import { customType, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { createError } from 'h3'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { allFields } from '../../../src/runtime/server/core/access/fields'
import { planOrder } from '../../../src/runtime/server/core/plan/order'
import { createCursor } from '../../../src/runtime/server/core/sql/cursor'
import { OPEN, serveTables, type TablesServer } from '../../support/tables-server'

const notes = sqliteTable('notes', {
  id: integer('id').primaryKey(),
  title: text('title'),
  flag: integer('flag', { mode: 'boolean' }),
  dueAt: integer('due_at', { mode: 'timestamp' }),
  deletedAt: integer('deleted_at'),
  deletionId: text('deletion_id'),
  deletedReason: text('deleted_reason'),
})
const replies = sqliteTable('replies', {
  id: integer('id').primaryKey(),
  noteId: integer('note_id').references(() => notes.id),
  deletedAt: integer('deleted_at'),
  deletionId: text('deletion_id'),
})
const DDL = `
  create table notes (id integer primary key, title text, flag integer, due_at integer, deleted_at integer, deletion_id text, deleted_reason text);
  create table replies (id integer primary key, note_id integer references notes(id), deleted_at integer, deletion_id text);
  insert into notes (id, title, flag, due_at) values (1, 'a', 1, 5), (2, 'b', 0, 6);
  insert into replies (id, note_id) values (1, 1);
`
const purged: unknown[] = []
const held = vi.fn()
const created = vi.fn()
let hidden = false
let target: TablesServer

beforeEach(async () => {
  held.mockReset()
  created.mockReset()
  purged.length = 0
  hidden = false
  target = await serveTables(DDL, [{ notes, replies }], {
    notes: {
      schema: notes,
      authorization: { permissions: OPEN, objectLevel: () => !hidden },
      hooks: { beforePurge: held, beforeCreate: created, afterPurge: id => void purged.push(['note', id]) },
    },
    replies: {
      schema: replies,
      authorization: { permissions: { read: true, delete: 'staff', restore: 'staff' } },
      hooks: { afterPurge: id => void purged.push(['reply', id]) },
    },
  })
})

describe('a query', () => {
  it.each(['filter[title][$eq][x]=1', 'filter[title][$in][x]=1', 'filter[title][$nin][a][]=1', 'filter[flag][$ne][x]=1'])(
    'returns 400: %s',
    async (query) => {
      expect((await target.request('GET', `/api/notes?${query}`)).status).toBe(400)
    },
  )

  it.each(['flag', 'dueAt'])('returns 400 for a cursor with a boolean over %s', async (field) => {
    const { useApi } = await import('../../../src/runtime/server/runtime')
    const resource = useApi().resources.get('notes')!
    const order = planOrder(resource, allFields(resource), [{ name: field, descending: false }], [])
    const cursor = createCursor(resource, order, [true, 1])
    const { status, body } = await target.request('GET', `/api/notes?sort=${field}&cursor=${cursor}`)
    expect([status, body.data?.code]).toEqual([400, 'INVALID_CURSOR'])
  })

  it('returns 400 and deletes nothing for a reason with a NUL', async () => {
    const before = target.rows('notes')
    expect((await target.request('DELETE', '/api/notes/1?reason=a%00b')).body.data).toEqual({ code: 'INVALID_VALUE', parameter: 'reason' })
    expect((await target.request('DELETE', '/api/notes/bulk?reason=a%00b', { body: { ids: [1] } })).status).toBe(400)
    expect(target.rows('notes')).toEqual(before)
    expect((await target.request('DELETE', '/api/notes/1?reason=spam')).status).toBe(200)
  })
})

describe('a column whose type writes values as SQL', () => {
  const upper = customType<{ data: string, driverData: string }>({ dataType: () => 'text', toDriver: value => sql`upper(${value})` })
  const codes = sqliteTable('codes', { id: integer('id').primaryKey(), code: upper('code') })

  it('is compared in the same form', async () => {
    const server = await serveTables('create table codes (id integer primary key, code text)', [{ codes }], {
      codes: { schema: codes, authorization: { permissions: OPEN } },
    })
    await server.request('POST', '/api/codes', { body: { code: 'ab' } })
    const found = async (code: string) => (await server.request('GET', `/api/codes?filter[code]=${code}`)).body.meta?.total
    expect([await found('Ab'), await found('b')]).toEqual([1, 0])
  })
})

describe('an error of a hook in a bulk', () => {
  const bulk = async () => (await target.request('POST', '/api/notes/bulk', { body: { items: [{ title: 'x' }] } })).body.data.errors

  it('is not disclosed when it is an error of another server, whatever its status', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    created.mockImplementation(() => {
      throw Object.assign(new Error('[GET] "http://inner/?token=1": 401'), { statusCode: 401, data: { code: 'inner' } })
    })
    expect(await bulk()).toEqual([{ index: 0, statusCode: 500, message: 'Something went wrong.' }])
    vi.restoreAllMocks()
  })

  it('is returned when the hook intends it for the client', async () => {
    created.mockImplementation(() => {
      throw createError({ statusCode: 409, message: 'Taken.', data: { code: 'TAKEN' } })
    })
    expect(await bulk()).toEqual([{ index: 0, statusCode: 409, message: 'Taken.', code: 'TAKEN' }])
  })
})

describe('a cascade group', () => {
  const staff = { user: { id: 1 }, permissions: ['staff'] }
  const trash = async () => (await target.request('DELETE', '/api/notes/1')).body.deletionId as string
  const purge = (deletionId: string, caller: object = staff, name = 'notes') =>
    target.request('DELETE', `/api/${name}/bulk?force=true`, { body: { deletionId }, caller })

  it.each(['notes', 'replies'])('runs the before-hooks of its rows when it is requested over %s', async (name) => {
    const deletionId = await trash()
    held.mockImplementation(() => {
      throw createError({ statusCode: 423, message: 'Held.' })
    })
    const { status, body } = await purge(deletionId, staff, name)
    expect([status, body.data.code, target.rows('notes').length, target.rows('replies').length]).toEqual([423, 'BULK_FAILED', 2, 1])
    held.mockReset()
    expect((await purge(deletionId, staff, name)).status).toBe(200)
    expect([target.rows('notes').length, target.rows('replies').length, purged]).toEqual([
      1,
      0,
      expect.arrayContaining([
        ['note', 1],
        ['reply', 1],
      ]),
    ])
  })

  it('returns 404 when it is not visible, also for callers who cannot change its rows', async () => {
    const deletionId = await trash()
    expect((await purge(deletionId, { user: { id: 2 } })).status).toBe(403)
    hidden = true
    expect([(await purge(deletionId, { user: { id: 2 } })).status, (await purge('none', { user: { id: 2 } })).status]).toEqual([404, 404])
  })
})
