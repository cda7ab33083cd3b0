/** Views as resources: the types of their columns, their keys, and the mistakes that stop the start. */
import { count, eq, max, sql, sum } from 'drizzle-orm'
import { getTableConfig, integer, pgMaterializedView, pgSchema, pgTable, text as pgText } from 'drizzle-orm/pg-core'
import { int, mysqlTable, mysqlView, varchar } from 'drizzle-orm/mysql-core'
import { integer as sqliteInteger, sqliteTable, sqliteView, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import type { ResourceRegistration } from '../../../../src/runtime/server/registration'
import { toTable } from '../../../../src/runtime/server/schema/drizzle/view'
import { createResources } from '../../../../src/runtime/server/schema/resource'
import type { AutoApiConfig } from '../../../../src/runtime/shared/config'
import { DEFAULT_CONFIG, DEFAULT_MULTI_TENANCY } from '../../../../src/runtime/shared/defaults'

const users = sqliteTable('users', { id: sqliteInteger('id').primaryKey(), name: text('name').notNull(), organizationId: sqliteInteger('organization_id') })
const notes = sqliteTable('notes', { id: sqliteInteger('id').primaryKey(), text: text('text').notNull(), userId: sqliteInteger('user_id').notNull() })
const userNotes = sqliteView('user_notes').as(qb =>
  qb.select({ userId: users.id, note: notes.text, organizationId: users.organizationId })
    .from(users).leftJoin(notes, eq(notes.userId, users.id)))

const USERS: ResourceRegistration = { name: 'users', schema: users }
const create = (parts: Partial<ResourceRegistration>, config: Partial<AutoApiConfig> = {}) =>
  createResources([USERS, { name: 'userNotes', schema: userNotes, key: 'userId', ...parts }], [], { ...DEFAULT_CONFIG, ...config }).get('userNotes')!
const kindsOf = (schema: ResourceRegistration['schema'], key: string) =>
  Object.fromEntries([...createResources([{ name: 'v', schema, key }], [], DEFAULT_CONFIG).get('v')!.fields.values()]
    .map(({ name, kind, nullable }) => [name, nullable ? `${kind} or null` : kind]))

describe('the columns of a view', () => {
  it('can be NULL, except its key, because a view can join its tables in any way', () => {
    expect(kindsOf(userNotes, 'userId')).toEqual({ userId: 'integer', note: 'text or null', organizationId: 'integer or null' })
  })

  it('are what the app declares, if it declares them', () => {
    const declared = sqliteView('v', { id: text('id').notNull(), total: sqliteInteger('total').notNull(), note: text('note') })
    for (const view of [declared.existing(), declared.as(sql`select 1`)])
      expect(kindsOf(view, 'id')).toEqual({ id: 'text', total: 'integer', note: 'text or null' })
  })

  it('have the types of expressions that Drizzle decodes', () => {
    const view = sqliteView('v').as(qb => qb.select({
      id: users.id,
      notes: count(notes.id).as('notes'),
      longest: sql`max(length(${notes.text}))`.mapWith(Number).as('longest'),
      last: max(notes.text).as('last'),
      busy: sql`count(*) > 3`.mapWith(Boolean).as('busy'),
    }).from(users))
    expect(kindsOf(view, 'id')).toEqual({
      id: 'integer', notes: 'number or null', longest: 'number or null', last: 'text or null', busy: 'boolean or null',
    })
  })

  it('belong to the view in SQL, with its schema and the aliases of expressions', () => {
    const people = pgTable('people', { id: integer('id').primaryKey(), name: pgText('name') })
    const view = pgSchema('reports').materializedView('totals').as(qb => qb.select({ key: people.id, people: count().as('people_count') }).from(people))
    const { name, schema, columns } = getTableConfig(toTable(view) as never)
    expect([name, schema, columns.map(({ name, primary }) => [name, primary])]).toEqual(['totals', 'reports', [['id', false], ['people_count', false]]])
  })

  it('do not change those of their table', () => {
    const before = { ...users.id }
    toTable(userNotes)
    expect({ ...users.id }).toEqual(before)
    expect([users.id.primary, users.id.table]).toEqual([true, users])
  })

  it('have a kind on each dialect', () => {
    const rooms = mysqlTable('rooms', { id: int('id').primaryKey(), name: varchar('name', { length: 9 }) })
    const people = pgTable('people', { id: integer('id').primaryKey(), name: pgText('name') })
    expect(kindsOf(mysqlView('v').as(qb => qb.select({ id: rooms.id, n: count().as('n') }).from(rooms)), 'id')).toEqual({ id: 'integer', n: 'number or null' })
    expect(kindsOf(pgMaterializedView('v').as(qb => qb.select({ id: people.id, n: count().as('n') }).from(people)), 'id'))
      .toEqual({ id: 'integer', n: 'number or null' })
  })
})

it('always returns the same table for a view', () => {
  expect(toTable(userNotes)).toBe(toTable(userNotes))
  expect(toTable(users)).toBe(users)
})

describe('a mistake in the registration of a view', () => {
  const select = (fields: object) => ({ schema: sqliteView('v').as(qb =>
    qb.select(fields as { id: typeof users.id }).from(users).leftJoin(notes, eq(notes.userId, users.id))), key: 'id' })

  it.each<[string, () => unknown, ...string[]]>([
    ['without a key', () => create({ key: undefined }), '`userNotes`: view "user_notes" has no primary key', '`key: \'id\'` or `key: [\'a\', \'b\']`'],
    ['with an unknown key', () => create({ key: 'usrId' }), '`userNotes.key` names `usrId`, which is not a column of view "user_notes"', 'Did you mean `userId`?'],
    ['with a key that can be NULL', () => create({ key: 'organizationId' }), '`userNotes.key` names `organizationId`, which can be NULL', 'Declare the columns of the view, this one with `.notNull()`'],
    ['with an expression as its key', () => create({ ...select({ id: sql`1`.mapWith(Number).as('id') }) }), '`userNotes.key` names `id`, which can be NULL'],
    ['with an expression of an unknown type', () => create(select({ id: users.id, n: sum(users.id).as('n') })), '`userNotes`: the type of the column `n` is not known', '.mapWith(Number)', 'view(name, { n: integer() })'],
    ['with an expression without a name', () => create(select({ id: users.id, n: sql`1` })), '`userNotes`: the column `n` is an expression without a name', '.as(\'n\')'],
    ['with a group of columns', () => create(select({ id: users.id, user: { name: users.name } })), '`userNotes`: the column `user` is a group of columns'],
    ['with two columns of one name', () => create(select({ id: users.id, note: notes.id })), '`userNotes`: two columns are called "id" in the database', '.as(\'note\')'],
    ['with validation', () => create({ validation: {} }), '`userNotes.validation` has no effect, because a view is read-only. Remove it.'],
    ['with protected fields', () => create({ protectedFields: ['note'] }), '`userNotes.protectedFields` has no effect'],
    ['with `requireIfMatch`', () => create({ requireIfMatch: true }), '`userNotes.requireIfMatch` has no effect'],
    ['with a permission to write', () => create({ authorization: { permissions: { read: true, update: true, delete: 'x' } } }), '`userNotes.authorization.permissions.update` has no effect', '`userNotes.authorization.permissions.delete` has no effect'],
    ['with a rule for writing a field', () => create({ authorization: { fields: { note: { write: true } } } }), '`userNotes.authorization.fields.note.write` has no effect'],
    ['with `softDelete`', () => create({ authorization: { softDelete: { retentionDays: 3 } } }), '`userNotes.authorization.softDelete` has no effect'],
    ['with a hook of a write', () => create({ hooks: { beforeUpdate: () => {}, afterGet: () => {} } }), '`userNotes.hooks.beforeUpdate` has no effect'],
    ['that tracks nothing known', () => create({ tracks: ['user'] }), '`userNotes.tracks` names `user`, which is not a registered resource', 'Did you mean `users`?'],
    ['that tracks a view', () => create({ tracks: ['userNotes'] }), '`userNotes.tracks` names `userNotes`, which is a view'],
    ['that references nothing known', () => create({ references: { userId: 'user' } }), '`userNotes.references.userId` names `user`, which is not a registered resource', 'Did you mean `users`?'],
    ['with a reference from an unknown column', () => create({ references: { usrId: 'users' } }), '`userNotes.references` names `usrId`, which is not a column', 'Did you mean `userId`?'],
  ])('%s stops the start with a message that names it', (_what, start, ...parts) => {
    let message = ''
    try {
      start()
    }
    catch (error) {
      ({ message } = error as Error)
    }
    for (const part of parts) expect(message).toContain(part)
  })

  it.each(['tracks', 'references'] as const)('`%s` of a table stops the start', (key) => {
    const value = key === 'tracks' ? ['users'] : { id: 'users' }
    expect(() => createResources([{ ...USERS, [key]: value }], [], DEFAULT_CONFIG))
      .toThrow(`\`users.${key}\` has no effect, because only the registration of a view has it. Remove it.`)
  })
})

describe('a view under `multiTenancy`', () => {
  const tenancy = (changes: Partial<typeof DEFAULT_MULTI_TENANCY> = {}) => ({ multiTenancy: { ...DEFAULT_MULTI_TENANCY, ...changes } })
  const schema = sqliteView('all_notes').as(qb => qb.select({ id: notes.id, text: notes.text }).from(notes))

  it('belongs to tenants, if it has the column', () => {
    expect(create({}, tenancy()).tenant?.name).toBe('organizationId')
    expect(create({}, tenancy({ scopedResources: ['users'] })).tenant).toBeUndefined()
  })

  it.each(['*', ['users']] as const)('without the column stops the start, unless it is excluded by name: %j', (scoped) => {
    const config = tenancy({ scopedResources: scoped as never })
    expect(() => create({ schema, key: 'id' }, config)).toThrow(
      '`userNotes`: view "all_notes" has no column `organizationId`, so each tenant would see the rows of all tenants. '
      + 'Select the column in the view, or add `\'userNotes\'` to `multiTenancy.excludedResources`.',
    )
    const excluded = { multiTenancy: { ...config.multiTenancy, excludedResources: ['userNotes'] } }
    expect(create({ schema, key: 'id' }, excluded).tenant).toBeUndefined()
    expect(create({ schema, key: 'id' }, tenancy({ enabled: false })).tenant).toBeUndefined()
  })
})
