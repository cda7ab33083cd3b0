/** On every engine a commit is all or nothing when its statements succeed, fail, or affect another number of rows. */
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findViolation } from '../../src/runtime/server/engines/violation'
import { ExpectationError, type Engine, type WriteStatement } from '../../src/runtime/server/engines/engine'
import { createEngine } from '../../src/runtime/server/engines/index'
import { ENGINE_CASES, isAvailable, type Opened } from './support/databases'

const TABLES = `
  create table parent (id integer primary key, name varchar(40) not null unique, age integer check (age > 0));
  create table child (id integer primary key, parent_id integer, constraint of_parent foreign key (parent_id) references parent(id));
`

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('a list of statements', () => {
    let opened: Opened
    let engine: Engine

    beforeAll(async () => {
      opened = await engineCase.open()
      await opened.exec(TABLES)
      engine = createEngine(engineCase.engine, opened.db)
    })
    beforeEach(() => opened.exec(`delete from child; delete from parent; insert into parent values (1, 'ada', 36); insert into child values (1, 1);`))
    afterAll(() => opened?.close())

    const render = (query: ReturnType<typeof sql>, rest: Partial<WriteStatement> = {}): WriteStatement => ({ ...engine.render(query), ...rest })
    const insert = (id: number, name: string | null) => render(sql`insert into parent (id, name) values (${id}, ${name})`)
    const rename = (id: number, name: string) => render(sql`update parent set name = ${name} where id = ${id}`, { expectedRows: 1 })
    const dump = async () => [await opened.all('select * from parent order by id'), await opened.all('select * from child order by id')]

    it.each<[why: string, statements: () => WriteStatement[]]>([
      ['a unique value that is taken', () => [insert(2, 'bob'), insert(3, 'bob')]],
      ['a missing reference', () => [insert(2, 'bob'), render(sql`insert into child values (2, 99)`)]],
      ['a required value', () => [insert(2, 'bob'), insert(3, null)]],
      ['a statement that is no SQL', () => [insert(2, 'bob'), render(sql`insert into`)]],
      ['a guard that found no row', () => [insert(2, 'bob'), rename(99, 'carol')]],
      ['an expectation that finds too many rows', () => [insert(2, 'bob'), render(sql`update parent set age = 1`, { expectedRows: 1 })]],
      ['an expectation about selected rows', () => [insert(2, 'bob'), render(sql`select id from parent`, { returnsRows: true, expectedRows: 1 })]],
      ['a guard in the middle', () => [insert(2, 'bob'), rename(99, 'carol'), insert(3, 'dan')]],
      ['a single statement that affects too many rows', () => [render(sql`delete from child`, { expectedRows: 2 })]],
    ])('is rolled back completely after %s', async (_why, statements) => {
      const before = await dump()
      await expect((async () => engine.commit(statements()))()).rejects.toThrow()
      expect(await dump()).toEqual(before)
    })

    it('returns one outcome per statement when all succeed', async () => {
      const outcomes = await engine.commit([insert(2, 'bob'), rename(2, 'bert'), render(sql`select name, id from parent where id = 2`, { returnsRows: true, expectedRows: 1 })])
      expect(outcomes.map(({ affectedRows }) => affectedRows)).toEqual([1, 1, 1])
      expect(outcomes[2]!.rows).toEqual([['bert', 2]])
      expect(await opened.all('select name from parent order by id')).toEqual([['ada'], ['bert']])
    })

    it('counts a row that an update does not change', async () => {
      expect((await engine.commit([rename(1, 'ada')]))[0]!.affectedRows).toBe(1)
    })

    it('reports the index of the failed statement and the number of affected rows', async () => {
      const error = await (async () => engine.commit([insert(2, 'bob'), render(sql`update parent set age = 1`, { expectedRows: 1 })]))().catch((error: unknown) => error)
      expect(error).toBeInstanceOf(ExpectationError)
      expect(error).toMatchObject({ index: 1, affectedRows: 2 })
    })

    it('reads a null, a number and a text by position', async () => {
      expect(await engine.query(render(sql`select id, name, age, null from parent`))).toEqual([[1, 'ada', 36, null]])
    })

    it.each<[kind: string, columns: string[], statement: () => WriteStatement]>([
      ['unique', ['name'], () => insert(2, 'ada')],
      ['reference', [], () => render(sql`insert into child values (2, 99)`)],
      ['reference', [], () => render(sql`delete from parent where id = 1`)],
      ['required', ['name'], () => insert(2, null)],
      ['check', [], () => render(sql`update parent set age = -1`)],
    ])('recognizes a violated %s constraint', async (kind, columns, statement) => {
      const error = await (async () => engine.commit([statement()]))().catch((error: unknown) => error)
      const violation = findViolation(engineCase.dialect, error)
      expect(violation?.kind).toBe(kind)
      if (columns.length > 0) expect(violation?.columns.length ? violation.columns : [violation?.key]).toEqual(columns)
    })

    it('isolates commits that run at the same time', async () => {
      await opened.exec('update parent set age = 1')
      const one = async () => engine.commit([render(sql`update parent set age = age + 1 where id = 1`, { expectedRows: 1 }), render(sql`update parent set age = age + 1 where id = 1`, { expectedRows: 1 })])
      const failing = async () => engine.commit([render(sql`update parent set age = age + 100 where id = 1`), render(sql`update parent set age = 1 where id = 99`, { expectedRows: 1 })])
      const settled = await Promise.allSettled(Array.from({ length: 30 }, (_, index) => index % 3 === 0 ? failing() : one()))
      expect(settled.filter(({ status }) => status === 'fulfilled').length).toBe(20)
      expect(await opened.all('select age from parent where id = 1')).toEqual([[41]])
    })
  })
})
