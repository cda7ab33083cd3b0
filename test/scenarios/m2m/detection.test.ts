/** Detection of junction tables: by their keys, or by name in the options. */
import type { Table } from 'drizzle-orm'
import { foreignKey, integer, primaryKey, sqliteTable, text, unique, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import type { ManyToManyConfig } from '../../../src/runtime/shared/config'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import { OPEN, serveTables } from '../../support/tables-server'
import { resourcesOf, type Resource } from '../../support/tables'

const students = sqliteTable('students', { id: integer('id').primaryKey() })
const courses = sqliteTable('courses', { id: integer('id').primaryKey() })
const teachers = sqliteTable('teachers', { id: integer('id').primaryKey() })

const student = () => integer('student_id').notNull().references(() => students.id)
const course = () => integer('course_id').notNull().references(() => courses.id)
const id = () => integer('id').primaryKey({ autoIncrement: true })

const joined = (resource: Resource) => [...resource.relations.values()].filter(({ kind }) => kind === 'manyToMany').map(({ name }) => name)
const over = (junction: Table, { registered = false, m2m = {} }: { registered?: boolean, m2m?: Partial<ManyToManyConfig> } = {}) =>
  resourcesOf(
    { students, courses, ...(registered ? { enrolments: junction } : {}) },
    { modules: [{ enrolments: junction }], config: { m2m: { ...DEFAULT_CONFIG.m2m, ...m2m } } },
  )
const isJunction = (...args: Parameters<typeof over>) => joined(over(...args).get('students')!).length > 0

const SHAPES = {
  'the primary key is the two foreign keys': sqliteTable('enrolments', { studentId: student(), courseId: course() }, t => [
    primaryKey({ columns: [t.studentId, t.courseId] }),
  ]),
  'the primary key is the two foreign keys, the other way round': sqliteTable(
    'enrolments',
    { studentId: student(), courseId: course() },
    t => [primaryKey({ columns: [t.courseId, t.studentId] })],
  ),
  'the primary key is the two foreign keys, with metadata that may be left out': sqliteTable(
    'enrolments',
    { studentId: student(), courseId: course(), note: text('note') },
    t => [primaryKey({ columns: [t.studentId, t.courseId] })],
  ),
  'the primary key is the two foreign keys, with metadata that is required': sqliteTable(
    'enrolments',
    { studentId: student(), courseId: course(), seat: integer('seat').notNull() },
    t => [primaryKey({ columns: [t.studentId, t.courseId] })],
  ),
}

/** Junctions only while they are not registered as resources. */
const UNREGISTERED = {
  'a key of its own, both foreign keys unique together': sqliteTable(
    'enrolments',
    { id: id(), studentId: student(), courseId: course() },
    t => [unique().on(t.studentId, t.courseId)],
  ),
  'a key of its own, a unique index over both': sqliteTable(
    'enrolments',
    { id: id(), studentId: student(), courseId: course(), note: text('note') },
    t => [uniqueIndex('both').on(t.courseId, t.studentId)],
  ),
  'a key the app makes': sqliteTable(
    'enrolments',
    {
      id: text('id')
        .primaryKey()
        .$defaultFn(() => crypto.randomUUID()),
      studentId: student(),
      courseId: course(),
      level: integer('level').notNull().default(1),
    },
    t => [unique().on(t.studentId, t.courseId)],
  ),
  'no key at all': sqliteTable('enrolments', { studentId: student(), courseId: course() }, t => [unique().on(t.studentId, t.courseId)]),
}

const NEVER = {
  'not unique': sqliteTable('enrolments', { id: id(), studentId: student(), courseId: course() }),
  'unique each, not together': sqliteTable('enrolments', { id: id(), studentId: student().unique(), courseId: course().unique() }),
  'unique together with a third column': sqliteTable(
    'enrolments',
    { id: id(), studentId: student(), courseId: course(), year: integer('year') },
    t => [unique().on(t.studentId, t.courseId, t.year)],
  ),
  'another required column': sqliteTable(
    'enrolments',
    { id: id(), studentId: student(), courseId: course(), seat: integer('seat').notNull() },
    t => [unique().on(t.studentId, t.courseId)],
  ),
  'a key that must be given': sqliteTable(
    'enrolments',
    { code: text('code').primaryKey(), studentId: student(), courseId: course() },
    t => [unique().on(t.studentId, t.courseId)],
  ),
  'a third column in the key': sqliteTable('enrolments', { studentId: student(), courseId: course(), year: integer('year') }, t => [
    primaryKey({ columns: [t.studentId, t.courseId, t.year] }),
  ]),
  'a third foreign key': sqliteTable(
    'enrolments',
    { studentId: student(), courseId: course(), teacherId: integer('teacher_id').references(() => teachers.id) },
    t => [primaryKey({ columns: [t.studentId, t.courseId] }), unique().on(t.studentId, t.courseId)],
  ),
  'one foreign key': sqliteTable('enrolments', { studentId: student(), courseId: integer('course_id') }, t => [
    primaryKey({ columns: [t.studentId, t.courseId] }),
  ]),
}

describe('detecting a junction by its keys', () => {
  it.each(Object.entries(SHAPES))('detects a table, registered or not, when %s', (_shape, table) => {
    expect([isJunction(table), isJunction(table, { registered: true })]).toEqual([true, true])
  })

  it.each(Object.entries(UNREGISTERED))('detects an unregistered table with %s', (_shape, table) => {
    expect(isJunction(table)).toBe(true)
  })

  it.each(Object.entries(UNREGISTERED).filter(([shape]) => shape !== 'no key at all'))(
    'does not detect a registered table with %s',
    (_shape, table) => {
      expect(isJunction(table, { registered: true })).toBe(false)
    },
  )

  it.each(Object.entries(NEVER))('does not detect a table with: %s', (_shape, table) => {
    expect(isJunction(table)).toBe(false)
  })

  it.each(Object.entries({ ...SHAPES, ...UNREGISTERED }))('detects nothing with `autoDetect: false`: %s', (_shape, table) => {
    expect(isJunction(table, { m2m: { autoDetect: false } })).toBe(false)
  })
})

describe('naming a junction in m2m.relations', () => {
  const relations = { enrolments: ['students', 'courses'] } as const

  it.each(Object.entries(NEVER).filter(([shape]) => shape !== 'one foreign key'))(
    'makes any table with both foreign keys a junction: %s',
    (_shape, table) => {
      const m2m = { autoDetect: false, relations }
      expect([isJunction(table, { m2m }), isJunction(table, { m2m, registered: true })]).toEqual([true, true])
    },
  )

  it('accepts the two resources in either order', () => {
    const resources = over(NEVER['not unique'], { m2m: { relations: { enrolments: ['courses', 'students'] } } })
    expect([joined(resources.get('students')!), joined(resources.get('courses')!)]).toEqual([['courses'], ['students']])
  })

  it('joins only the two named resources when the table has more foreign keys', () => {
    const resources = resourcesOf(
      { students, courses, teachers },
      {
        modules: [{ enrolments: NEVER['a third foreign key'] }],
        config: { m2m: { autoDetect: true, relations: { enrolments: ['students', 'teachers'] } } },
      },
    )
    expect([...resources].map(([name, resource]) => [name, joined(resource)])).toEqual([
      ['students', ['teachers']],
      ['courses', []],
      ['teachers', ['students']],
    ])
  })

  it('joins a resource with itself', () => {
    const pairs = sqliteTable('pairs', {
      id: id(),
      aId: integer('a_id').references(() => students.id),
      bId: integer('b_id').references(() => students.id),
    })
    expect(
      joined(
        resourcesOf(
          { students },
          { modules: [{ pairs }], config: { m2m: { autoDetect: true, relations: { pairs: ['students', 'students'] } } } },
        ).get('students')!,
      ),
    ).toEqual(['studentsByA', 'studentsByB'])
  })

  it.each([
    ['a table without keys to both', { enrolments: NEVER['one foreign key'] }, ['students', 'courses']],
    ['a resource that is not registered', { enrolments: SHAPES['the primary key is the two foreign keys'] }, ['students', 'pupils']],
    ['a table that does not exist', {}, ['students', 'courses']],
  ] as const)('fails at startup when the options name %s', (_what, modules, pair) => {
    expect(() =>
      resourcesOf({ students, courses }, { modules: [modules], config: { m2m: { autoDetect: true, relations: { enrolments: pair } } } }),
    ).toThrow('`m2m.relations.enrolments`')
  })
})

describe('composite keys of a junction', () => {
  const wards = sqliteTable('wards', { clinic: integer('clinic'), number: integer('number') }, t => [
    primaryKey({ columns: [t.clinic, t.number] }),
  ])
  const nurses = sqliteTable('nurses', { clinic: integer('clinic'), code: text('code') }, t => [
    primaryKey({ columns: [t.clinic, t.code] }),
  ])
  const duties = sqliteTable(
    'duties',
    { clinic: integer('clinic').notNull(), ward: integer('ward').notNull(), nurse: text('nurse').notNull() },
    t => [
      primaryKey({ columns: [t.clinic, t.ward, t.nurse] }),
      foreignKey({ columns: [t.clinic, t.ward], foreignColumns: [wards.clinic, wards.number] }),
      foreignKey({ columns: [t.clinic, t.nurse], foreignColumns: [nurses.clinic, nurses.code] }),
    ],
  )
  const DDL = `
    create table wards (clinic integer, number integer, primary key (clinic, number));
    create table nurses (clinic integer, code text, primary key (clinic, code));
    create table duties (
      clinic integer not null, ward integer not null, nurse text not null, primary key (clinic, ward, nurse),
      foreign key (clinic, ward) references wards(clinic, number), foreign key (clinic, nurse) references nurses(clinic, code)
    );
    insert into wards values (1, 1), (2, 1);
    insert into nurses values (1, 'ann'), (1, 'bob'), (2, 'zoe');
  `
  const authorization = { permissions: OPEN }
  const openWards = () =>
    serveTables(DDL, [{ wards, nurses, duties }], { wards: { schema: wards, authorization }, nurses: { schema: nurses, authorization } })

  it('can share a column', () => {
    expect(joined(resourcesOf({ wards, nurses }, { modules: [{ duties }] }).get('wards')!)).toEqual(['nurses'])
  })

  it('link only records with the same value in a shared column', async () => {
    const target = await openWards()
    expect((await target.request('PUT', '/api/wards/1,1/relations/nurses', { body: { ids: ['1,ann', '1,bob'] } })).body).toEqual({
      added: 2,
      removed: 0,
      total: 2,
    })
    expect((await target.request('PUT', '/api/wards/1,1/relations/nurses', { body: { ids: ['1,bob'] } })).body).toEqual({
      added: 0,
      removed: 1,
      total: 1,
    })
    const refused = await target.request('POST', '/api/wards/1,1/relations/nurses', { body: { ids: ['2,zoe'] } })
    expect([refused.status, refused.body.data]).toEqual([404, { code: 'NOT_FOUND', relation: 'nurses', ids: ['2,zoe'] }])
    expect(target.rows('duties')).toEqual([[1, 1, 'bob']])
    expect((await target.request('GET', '/api/nurses/1,bob/relations/wards')).body.data).toEqual([{ clinic: 1, number: 1 }])
  })
})

describe('links over a junction that the options name', () => {
  const m2m = { autoDetect: false, relations: { enrolments: ['students', 'courses'] } } as const
  const authorization = { permissions: OPEN }
  const open = (junction: Table, columns: string) =>
    serveTables(
      `
    create table students (id integer primary key); create table courses (id integer primary key);
    create table enrolments (${columns});
    insert into students values (1); insert into courses values (1), (2);
  `,
      [{ students, courses, enrolments: junction }],
      { students: { schema: students, authorization }, courses: { schema: courses, authorization } },
      { m2m },
    )

  it('are inserted once, without a unique constraint', async () => {
    const target = await open(
      NEVER['not unique'],
      'id integer primary key autoincrement, student_id integer not null, course_id integer not null',
    )
    const link = async (method: string, ids: number[]) =>
      (await target.request(method, '/api/students/1/relations/courses', { body: { ids } })).body
    expect(await link('POST', [1])).toEqual({ added: 1, removed: 0, total: 1 })
    expect(await link('POST', [1, 2])).toEqual({ added: 1, removed: 0, total: 2 })
    expect(await link('PUT', [2, 1])).toEqual({ added: 0, removed: 0, total: 2 })
    expect(target.rows('enrolments')).toEqual([[1, 1, 1], [2, 1, 2]])
    expect(await link('DELETE', [1])).toEqual({ added: 0, removed: 1, total: 1 })
  })

  it('are restored from the trash once', async () => {
    const kept = sqliteTable('enrolments', { id: id(), studentId: student(), courseId: course(), deletedAt: integer('deleted_at') })
    const target = await open(
      kept,
      'id integer primary key autoincrement, student_id integer not null, course_id integer not null, deleted_at integer',
    )
    const link = async (method: string, ids: number[]) =>
      (await target.request(method, '/api/students/1/relations/courses', { body: { ids } })).body
    await link('POST', [1])
    expect(await link('DELETE', [1])).toEqual({ added: 0, removed: 1, total: 0 })
    expect(await link('POST', [1])).toEqual({ added: 1, removed: 0, total: 1 })
    expect(target.rows('enrolments')).toEqual([[1, 1, 1, null]])
  })

  it('are added and removed in a table without a primary key', async () => {
    const bare = sqliteTable('enrolments', { studentId: student(), courseId: course() }, t => [unique().on(t.studentId, t.courseId)])
    const target = await open(bare, 'student_id integer not null, course_id integer not null, unique (student_id, course_id)')
    const link = async (method: string, ids: number[]) =>
      (await target.request(method, '/api/students/1/relations/courses', { body: { ids } })).body
    expect(await link('PUT', [1, 2])).toEqual({ added: 2, removed: 0, total: 2 })
    expect(await link('POST', [1])).toEqual({ added: 0, removed: 0, total: 2 })
    expect(await link('DELETE', [1])).toEqual({ added: 0, removed: 1, total: 1 })
  })

  it('return 400 and write nothing without the metadata that their junction requires', async () => {
    const strict = sqliteTable('enrolments', { studentId: student(), courseId: course(), seat: integer('seat').notNull() }, t => [
      primaryKey({ columns: [t.studentId, t.courseId] }),
    ])
    const target = await open(
      strict,
      'student_id integer not null, course_id integer not null, seat integer not null, primary key (student_id, course_id)',
    )
    const post = (body: object) => target.request('POST', '/api/students/1/relations/courses', { body })
    const { status, body } = await post({ ids: [1] })
    expect([status, body.data.code, target.rows('enrolments')]).toEqual([400, 'VALIDATION_FAILED', []])
    expect((await post({ ids: [1], metadata: { seat: 3 } })).status).toBe(200)
    expect(target.rows('enrolments')).toEqual([[1, 1, 3]])
  })
})
