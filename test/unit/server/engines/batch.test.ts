/** D1 commits a batch: all or nothing, and with more parameters than D1 accepts per statement. */
import { eq, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/d1'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findViolation } from '../../../../src/runtime/server/engines/violation'
import { ExpectationError, type Engine, type WriteStatement } from '../../../../src/runtime/server/engines/engine'
import { createEngine } from '../../../../src/runtime/server/engines/index'
import { encodeParameters } from '../../../../src/runtime/server/engines/encode-parameters'
import { openD1, type LocalD1 } from '../../../support/d1'

const parent = sqliteTable('parent', { id: integer().primaryKey(), name: text().notNull().unique(), age: integer() })

let local: LocalD1
let engine: Engine

beforeAll(async () => {
  local = await openD1()
  await local.exec(`
    create table parent (id integer primary key, name text not null unique, age integer check (age > 0), face blob);
    create table child (id integer primary key, parent_id integer references parent(id))
  `)
  engine = createEngine('d1', drizzle(local.d1 as never))
})

afterAll(() => local.close())

beforeEach(() => local.exec(`
  delete from child; delete from parent;
  insert into parent (id, name, age) values (1, 'ada', 36);
  insert into child values (1, 1)
`))

const dump = async () =>
  JSON.stringify([await local.rows('select * from parent order by id'), await local.rows('select * from child order by id')])
const insert = (id: number, name: string | null): WriteStatement => ({
  text: 'insert into parent (id, name) values (?, ?)',
  values: [id, name],
})
const rename = (id: number, name: string): WriteStatement => ({
  text: 'update parent set name = ? where id = ?',
  values: [name, id],
  expectedRows: 1,
})

/** Lists of statements that fail, and the statement whose expectation is not met. */
const FAILING: [why: string, statements: WriteStatement[], guard?: { index: number, affectedRows: number }][] = [
  ['a unique value that is taken', [insert(2, 'bob'), insert(3, 'bob')]],
  ['a missing reference', [insert(2, 'bob'), { text: 'insert into child values (2, 99)', values: [] }, insert(3, 'eve')]],
  ['a required value', [insert(2, 'bob'), insert(3, null)]],
  ['a statement that is no SQL', [insert(2, 'bob'), { text: 'insert into', values: [] }]],
  ['an expectation that finds no row', [insert(2, 'bob'), rename(99, 'carol'), insert(3, 'dan')], { index: 1, affectedRows: 0 }],
  [
    'an expectation that finds too many rows',
    [insert(2, 'bob'), { text: 'update parent set age = 1', values: [], expectedRows: 1 }],
    { index: 1, affectedRows: 2 },
  ],
  [
    'an expectation about returned rows',
    [insert(2, 'bob'), { text: 'update parent set age = 1 returning id', values: [], returnsRows: true, expectedRows: 1 }],
    { index: 1, affectedRows: 2 },
  ],
  [
    'an expectation about selected rows',
    [insert(2, 'bob'), { text: 'select id from parent where id > ?', values: [0], returnsRows: true, expectedRows: 1 }],
    { index: 1, affectedRows: 2 },
  ],
  [
    'an expectation about rows found by a recursive query',
    [
      insert(2, 'bob'),
      {
        text: 'with recursive up(id) as (select id from parent where id = ?) select 1 from up limit 1',
        values: [2],
        returnsRows: true,
        expectedRows: 0,
      },
    ],
    { index: 1, affectedRows: 1 },
  ],
  [
    'a single statement that would affect too many rows',
    [{ text: 'insert into parent (id, name) values (7, \'x\'), (8, \'y\')', values: [], expectedRows: 1 }],
    { index: 0, affectedRows: 2 },
  ],
]

describe('a batch', () => {
  it.each(FAILING)('is rolled back completely after %s', async (_why, statements, guard) => {
    const before = await dump()
    const error = await Promise.resolve(engine.commit(statements)).then(() => undefined, (error: unknown) => error)
    expect(error).toBeInstanceOf(Error)
    expect(error instanceof ExpectationError).toBe(guard !== undefined)
    if (guard) expect(error).toMatchObject(guard)
    expect(await dump()).toBe(before)
  })

  it('returns one outcome per statement, with rows by position', async () => {
    const outcomes = await engine.commit([
      insert(2, 'bob'),
      rename(2, 'bert'),
      { text: 'insert into parent (id, name) values (3, \'cleo\') returning name, id', values: [], returnsRows: true, expectedRows: 1 },
      { text: 'select count(*) from parent', values: [], returnsRows: true },
      { ...rename(99, 'x'), expectedRows: 0 },
    ])
    expect(outcomes).toEqual([
      { rows: [], affectedRows: 1 },
      { rows: [], affectedRows: 1 },
      { rows: [['cleo', 3]], affectedRows: 1 },
      { rows: [[3]], affectedRows: 1 },
      { rows: [], affectedRows: 0 },
    ])
  })

  it('writes nothing without statements', async () => {
    expect(await engine.commit([])).toEqual([])
  })

  it('runs statements that the app built with Drizzle and returns their results', async () => {
    const built = (build: (db: ReturnType<typeof drizzle>) => unknown) => ({ build: build as never })
    const [inserted, updated, read] = await engine.commit([
      built(db => db.insert(parent).values({ id: 2, name: 'bob', age: 7 }).returning()),
      built(db => db.update(parent).set({ age: sql`${parent.age} + 1` })),
      built(db => db.select({ age: parent.age }).from(parent).where(eq(parent.id, 2))),
    ])
    expect(inserted!.result).toEqual([{ id: 2, name: 'bob', age: 7 }])
    expect(updated!.affectedRows).toBe(2)
    expect(read!.result).toEqual([{ age: 8 }])
  })

  it('rolls back the statements that the app built', async () => {
    const before = await dump()
    const built = (db: ReturnType<typeof drizzle>) => db.update(parent).set({ age: 1 })
    await expect(engine.commit([{ build: built as never }, insert(2, 'ada')])).rejects.toThrow('UNIQUE')
    await expect(
      Promise.resolve().then(() => engine.commit([{ build: built as never }, { build: () => Promise.resolve() }])),
    ).rejects.toThrow('not one of Drizzle\'s query builders')
    expect(await dump()).toBe(before)
  })
})

describe('a column whose name consists of digits', () => {
  const odd = sqliteTable('odd', { id: integer('id').primaryKey(), second: integer('2'), first: integer('1') })

  it('is refused by name, because a batch returns it in another order', () => {
    expect(() => engine.render(sql`update ${odd} set "1" = 5 returning ${odd.id}, ${odd.second}`)).toThrow('the column "1"')
    expect(() => engine.render(sql`select ${odd.first} from ${odd}`)).toThrow('Rename the column')
    expect(() => engine.render(sql`select ${'"1"'} from ${odd}`)).not.toThrow()
    expect(() => engine.render(sql`select json_extract(meta, '$."2024"') from posts where name = 'it''s "1"'`)).not.toThrow()
  })
})

describe('a violation on D1', () => {
  it.each([
    ['a unique value', 'insert into parent (id, name) values (2, \'ada\')', { kind: 'unique', columns: ['name'], table: 'parent' }],
    ['a primary key', 'insert into parent (id, name) values (1, \'bob\')', { kind: 'unique', columns: ['id'], table: 'parent' }],
    ['a reference to nothing', 'insert into child values (2, 99)', { kind: 'reference', columns: [] }],
    ['a row that is referred to', 'delete from parent', { kind: 'reference', columns: [] }],
    ['a required value', 'insert into parent (id, name) values (2, null)', { kind: 'required', columns: ['name'], table: 'parent' }],
    ['a check', 'insert into parent (id, name, age) values (2, \'bob\', 0)', { kind: 'check', columns: [], key: 'age > 0' }],
  ])('is known by its kind and its columns: %s', async (_why, text, violation) => {
    const error = await Promise.resolve(engine.commit([{ text, values: [] }])).catch((error: unknown) => error)
    expect(findViolation('sqlite', error)).toEqual(violation)
  })
})

describe('more parameters than D1 accepts', () => {
  const face = (index: number) => Uint8Array.from([index % 256, 0, 255])
  const values = Array.from({ length: 100 }, (_, index) => [
    index + 10,
    index % 7 === 0 ? `it's ${index}` : `'?' -- "${index}"`,
    index % 3 === 0 ? null : index + 1,
    face(index),
  ])

  it('are sent in one statement without changing a value', async () => {
    const statement = {
      text: `insert into parent (id, name, age, face) values ${values.map(() => '(?, ?, ?, ?)').join(', ')}`,
      values: values.flat(),
      expect: 100,
    }
    await engine.commit([statement])
    expect(await local.rows('select id, name, age, face from parent where id >= 10 order by id')).toEqual(
      values.map(([id, name, age, face]) => [id, name, age, [...(face as Uint8Array)]]),
    )
    expect(await local.rows('select distinct typeof(id), typeof(name), typeof(face) from parent where id >= 10')).toEqual([
      ['integer', 'text', 'blob'],
    ])
  })

  it('also work in a query', async () => {
    const ids = Array.from({ length: 700 }, (_, index) => index)
    expect(
      await engine.query({
        text: `select id from parent where name <> '?' and id in (${ids.map(() => '?').join()}) limit ?`,
        values: [...ids, 5],
      }),
    ).toEqual([[1]])
  })

  it('do not change question marks in texts, names and comments', () => {
    const many = Array.from({ length: 150 }, () => 1)
    const { text } = encodeParameters({
      text: `select '?''?', "a?", /* ? */ \`?\`, [?] -- ?\n, ${many.map(() => '?').join()}`,
      values: many,
    })
    expect(text.startsWith('select \'?\'\'?\', "a?", /* ? */ `?`, [?] -- ?\n, (?1 ->> 0),(?1 ->> 1),(?2 ->> 0)')).toBe(true)
  })

  it('become at most a hundred parameters', () => {
    for (const count of [100, 101, 199, 200, 201, 2000, 4321]) {
      const { text, values } = encodeParameters({
        text: Array.from({ length: count }, () => '?').join(),
        values: Array.from({ length: count }, (_, index) => index),
      })
      expect(values.length).toBeLessThanOrEqual(100)
      if (count > 100)
        expect(
          [...text.matchAll(/\(\?(\d+) ->> (\d+)\)/g)].map(
            ([, array, item]) => JSON.parse(values[Number(array) - 1] as string)[Number(item)],
          ),
        ).toEqual(Array.from({ length: count }, (_, index) => index))
    }
  })

  it('can be bytes and bigints', async () => {
    await engine.commit([{ text: 'update parent set face = ?, age = ? where id = 1', values: [Buffer.from('hello'), 9n] }])
    expect(await local.rows('select face, age from parent where id = 1')).toEqual([[[...Buffer.from('hello')], 9]])
  })
})
