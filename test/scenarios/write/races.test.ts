/** Tests changes between check and commit: when a named row changes in between, the request writes nothing. */
import { integer, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it } from 'vitest'
import type { ResourceHooks } from '../../../src/runtime/server/registration'
import { DEFAULT_CONFIG, DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { batch, dataExport } from '../../../src/runtime/plugins'
import { png } from '../../plugins/file-upload/bytes'
import { EDITOR, openWorld as openFiles } from '../../plugins/file-upload/world'
import { EVERYTHING, openWorld, outcome, type World } from './world'

const columns = () => ({
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  title: text('title').notNull(),
  state: text('state').notNull().default('open'),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
  deletionId: text('deletion_id'),
})
const flat = sqliteTable('flat', columns())
/** A self-referencing table, whose rows are deleted by other statements. */
const tree = sqliteTable('tree', { ...columns(), parentId: integer('parent_id').references((): AnySQLiteColumn => tree.id) })

const NAMES = ['beforeUpdate', 'beforeDelete', 'beforeRestore', 'beforePurge'] as const
/** SQL that runs after the checks and before the commit, as another request could. */
let otherWrite: string
let dump: string
/** Runs each time that the object-level rule judges a row. */
let judge: (() => void) | undefined
let world: World
afterEach(() => world?.client.close())

async function open(objectLevel: boolean, transactional = true): Promise<void> {
  judge = undefined
  const runOtherWrite = () => {
    if (otherWrite) world.client.exec(otherWrite)
    otherWrite = ''
    dump = world.dump()
  }
  const registration = {
    authorization: {
      permissions: EVERYTHING,
      ...(objectLevel && { objectLevel: (row: { state?: unknown }) => (judge?.(), row.state === 'open') }),
    },
    hooks: Object.fromEntries(NAMES.map(name => [name, runOtherWrite])) as ResourceHooks,
  }
  const rows = (table: string) =>
    `insert into ${table} (id, organization_id, title) values (1, 1, 'one'), (2, 1, 'two'), (3, 1, 'three'); insert into ${table} (id, organization_id, title, deleted_at, deletion_id) values (4, 1, 'four', 1000, 'd4'), (5, 1, 'five', 1000, 'd4');`
  world = await openWorld({
    tables: { flat, tree },
    resources: { flat: registration, tree: registration },
    rows: `${rows('flat')} ${rows('tree')} update tree set parent_id = 1 where id = 2`,
    config: { multiTenancy: DEFAULT_MULTI_TENANCY, bulk: { ...DEFAULT_CONFIG.bulk, transactional } },
    plugins: [batch()],
  })
}

/** `row`: the row that changes, the last one that the request names. */
const WRITES: [method: string, path: string, body: unknown, row: number][] = [
  ['PATCH', '1', { title: 'new' }, 1],
  ['PATCH', '1', {}, 1],
  ['DELETE', '1', undefined, 1],
  ['DELETE', '1?force=true', undefined, 1],
  ['POST', '4/restore', undefined, 4],
  [
    'PATCH',
    'bulk',
    {
      items: [
        { id: 1, data: { title: 'a' } },
        { id: 3, data: { title: 'b' } },
      ],
    },
    3,
  ],
  ['DELETE', 'bulk', { ids: [1, 3] }, 3],
  ['DELETE', 'bulk?force=true', { ids: [1, 3] }, 3],
  ['POST', 'bulk/restore', { ids: [4, 5] }, 5],
  ['POST', 'bulk/restore', { deletionId: 'd4' }, 5],
  ['DELETE', 'bulk?force=true', { deletionId: 'd4' }, 5],
]

describe.each(['flat', 'tree'])('a write to the table `%s`', (table) => {
  it.each(WRITES)('%s %s %j writes nothing and returns 404 when a named row moves to another tenant', async (method, path, body, row) => {
    await open(false)
    otherWrite = `update ${table} set organization_id = 2 where id = ${row}`
    expect((await world.send(method, `${table}/${path}`, body)).status).toBe(404)
    expect([otherWrite, world.dump()]).toEqual(['', dump])
  })

  it.each(WRITES)('%s %s %j writes nothing when a named row is removed', async (method, path, body, row) => {
    await open(false)
    // In `tree`, 2 refers to 1.
    otherWrite = `delete from ${table} where id = 2; delete from ${table} where id = ${row}`
    // The rest of a group can be requested again, therefore 409.
    expect((await world.send(method, `${table}/${path}`, body)).status).toBe(body && 'deletionId' in (body as object) ? 409 : 404)
    expect(world.dump()).toBe(dump)
  })

  it.each(WRITES)(
    '%s %s %j writes nothing when a row that an object-level rule accepted has changed, and the rule refuses it now',
    async (method, path, body, row) => {
      await open(true)
      otherWrite = `update ${table} set state = 'closed' where id = ${row}`
      const answer = await world.send(method, `${table}/${path}`, body)
      expect(outcome(answer)).toBe(
        path.startsWith('bulk') && body && !('deletionId' in (body as object)) ? '404 BULK_FAILED' : '404 NOT_FOUND',
      )
      expect(world.dump()).toBe(dump)
    },
  )

  it.each(WRITES)(
    '%s %s %j judges a row that has changed once more, and succeeds if the rule still accepts it',
    async (method, path, body, row) => {
      await open(true)
      otherWrite = `update ${table} set title = 'by others' where id = ${row}`
      expect((await world.send(method, `${table}/${path}`, body)).status).toBe(200)
      expect([otherWrite, world.dump() === dump]).toEqual(['', Object.keys(body ?? { none: 1 }).length === 0])
    },
  )

  it.each(WRITES)(
    '%s %s %j returns 409 and writes nothing when an accepted row changes again and again',
    async (method, path, body, row) => {
      await open(true)
      let changes = 0
      judge = () => world.client.exec(`update ${table} set title = 'change ${changes++}' where id = ${row}`)
      const trashed = () => world.client.prepare(`select id, deleted_at from ${table}`).all()
      const before = trashed()
      const answer = await world.send(method, `${table}/${path}`, body)
      expect(outcome(answer)).toBe(
        path.startsWith('bulk') && body && !('deletionId' in (body as object)) ? '409 BULK_FAILED' : '409 CONFLICT',
      )
      expect([trashed(), world.client.prepare(`select title from ${table} where id = ${row}`).get()]).toEqual([
        before,
        { title: `change ${changes - 1}` },
      ])
    },
  )
})

it('writes a row that has not changed since an object-level rule accepted it', async () => {
  await open(true)
  otherWrite = 'select 1'
  expect((await world.send('PATCH', 'flat/1', { title: 'new' })).body.title).toBe('new')
})

it.each([
  ['accepts', 'title = \'by others\'', 'b', []], ['refuses', 'state = \'closed\'', 'three', [{ index: 1, code: 'NOT_FOUND' }]],
])('judges a row of a batch that is not atomic once more, if the rule %s it then', async (_rule, change, title, errors) => {
  await open(true, false)
  otherWrite = `update flat set ${change} where id = 3`
  const { body } = await world.send('PATCH', 'flat/bulk', { items: [{ id: 1, data: { title: 'a' } }, { id: 3, data: { title: 'b' } }] })
  expect([body.meta.errors ?? [], world.client.prepare('select title from flat where id = 3').get()]).toMatchObject([errors, { title }])
})

describe('a write of a plugin to a row that changes after an object-level rule accepted it', () => {
  type Files = Awaited<ReturnType<typeof openFiles>>
  const WRITES_OF_PLUGINS: [what: string, write: (files: Files, entry: string) => Promise<{ status: number }>][] = [
    ['an upload', files => files.send(EDITOR, 'POST', '/posts/1/upload/cover', { body: png(), headers: { 'content-type': 'image/png' } })],
    ['the removal of a file', files => files.send(EDITOR, 'DELETE', '/posts/1/files/cover')],
    [
      'a revert',
      (files, entry) =>
        files.send(EDITOR, 'POST', `/audit-log/${entry}/revert`, { body: '{}', headers: { 'content-type': 'application/json' } }),
    ],
    [
      'an import',
      files =>
        files.send(EDITOR, 'POST', '/posts/import?mode=upsert', {
          body: 'id,title\n1,Imported\n',
          headers: { 'content-type': 'text/csv' },
        }),
    ],
  ]

  it.each(WRITES_OF_PLUGINS)('%s succeeds if the rule still accepts the row', async (_what, write) => {
    let change = ''
    const files = await openFiles({ audited: true, plugins: [dataExport()], hooks: { beforeUpdate: () => void files.client.exec(change) } })
    for (const body of ['{"title":"Second"}', '{"title":"Third"}'])
      await files.send(EDITOR, 'PATCH', '/posts/1', { body, headers: { 'content-type': 'application/json' } })
    expect(
      (await files.send(EDITOR, 'POST', '/posts/1/upload/cover', { body: png(), headers: { 'content-type': 'image/png' } })).status,
    ).toBe(200)
    const [{ id }] = files.client.prepare('select id from audit_log order by id').all() as [{ id: string }]
    change = `update posts set title = 'Others' where id = 1`
    expect(await write(files, id)).toMatchObject({ status: 200 })
    change = `update posts set title = 'Private' where id = 1`
    files.client.exec(`update posts set cover = '{"key":"a"}' where id = 1`)
    expect((await write(files, id)).status).toBeGreaterThan(400)
    await files.close()
  })
})

describe('a write that sends the reference that a row already has', () => {
  const SENT: [method: string, path: string, body: unknown, error: string][] = [
    ['PATCH', '2', { parentId: 1 }, 'CONFLICT'],
    ['PATCH', '2', { parentId: 1, title: 'new' }, 'CONFLICT'],
    ['PATCH', 'bulk', { items: [{ id: 3, data: { title: 'b' } }, { id: 2, data: { parentId: 1 } }] }, 'BULK_FAILED'],
  ]
  const step = (id: number, data: object) => ({ operation: 'update', resource: 'tree', id, data })
  const away = 'update tree set parent_id = 3 where id = 2; update tree set deleted_at = 1, deletion_id = \'d1\' where id = 1'

  it.each(SENT)('%s %s %j writes nothing if the reference has changed since', async (method, path, body, error) => {
    await open(false)
    otherWrite = away
    expect(outcome(await world.send(method, `tree/${path}`, body))).toBe(`409 ${error}`)
    expect([otherWrite, world.dump()]).toEqual(['', dump])
  })

  it.each(SENT)('%s %s %j is refused with a rule in code, which judges the row as it is now', async (method, path, body, error) => {
    await open(true)
    otherWrite = away
    expect(outcome(await world.send(method, `tree/${path}`, body))).toBe(error === 'CONFLICT' ? '400 INVALID_REFERENCE' : '400 BULK_FAILED')
    expect([otherWrite, world.dump()]).toEqual(['', dump])
  })

  it('is refused as a step of a batch too', async () => {
    await open(false)
    otherWrite = away
    const answer = await world.send('POST', 'batch', { steps: [step(3, { title: 'b' }), step(2, { parentId: 1 })] })
    expect([outcome(answer), answer.body.data.errors.map((error: { step: number, code: string }) => [error.step, error.code])])
      .toEqual(['409 BULK_FAILED', [[1, 'CONFLICT']]])
    expect([otherWrite, world.dump()]).toEqual(['', dump])
  })

  it('can be set back by a later step of the same batch', async () => {
    await open(false)
    otherWrite = ''
    const steps = [step(2, { parentId: 3 }), step(2, { parentId: 1 })]
    expect(outcome(await world.send('POST', 'batch', { steps }))).toBe('200')
    expect(world.rows('select parent_id from tree where id = 2')).toEqual([1])
  })

  it.each(SENT)('%s %s %j succeeds if something else has changed', async (method, path, body) => {
    await open(false)
    otherWrite = 'update tree set state = \'done\' where id = 2; update tree set deleted_at = 1, deletion_id = \'d1\' where id = 1'
    expect(outcome(await world.send(method, `tree/${path}`, body))).toBe('200')
  })
})
