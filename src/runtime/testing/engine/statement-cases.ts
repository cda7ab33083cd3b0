/** The members of a statement beside its text: returned rows, `readBack`, `followUp`, `derive`, `retry` and `build`. */
import { eq, sql, type SQL } from 'drizzle-orm'
import { BusyError, ExpectationError, type CommitEntry, type Row } from '../../server/engines/engine'
import { equal, throws } from './check'
import type { EngineCase, Scene } from './scene'

/** The functions of Drizzle's databases that the tests use. They are the same in every dialect. */
interface Builder {
  readonly insert: (table: unknown) => { readonly values: (values: object) => unknown }
  readonly update: (table: unknown) => { readonly set: (values: object) => { readonly where: (condition: SQL) => unknown } }
  readonly select: (columns: object) => { readonly from: (table: unknown) => unknown }
}

const built = (build: (db: Builder) => unknown): CommitEntry => ({ build: build as (db: never) => unknown })

const insertMark = ({ engine, marks, statement }: Scene, note: string) => engine.adapter.returning
  ? statement(sql`insert into ${marks} (note) values (${note}) returning note, id`, { returnsRows: true, expectedRows: 1 })
  : statement(sql`insert into ${marks} (note) values (${note})`, {
      returnsRows: true,
      expectedRows: 1,
      readBack: id => engine.render(sql`select note, id from ${marks} where id = ${id}`),
    })

export const STATEMENT_CASES: readonly EngineCase[] = [
  {
    name: 'a write returns the rows that it wrote, with the keys that the database generated',
    async run(scene) {
      const outcomes = await scene.commit(insertMark(scene, 'first'), insertMark(scene, 'second'))
      const stored = await scene.query(sql`select note, id from ${scene.marks} order by id`)
      equal(outcomes.map(({ rows }) => rows[0]), stored, 'the returned rows')
      equal(outcomes.map(({ affectedRows }) => affectedRows), [1, 1], 'the numbers of affected rows')
    },
  },
  {
    name: 'a write that returns no row has the number of affected rows',
    async run({ commit, insert, statement, parents }) {
      const [, outcome] = await commit(insert(2, 'bob'), statement(sql`update ${parents} set age = 7`))
      equal([outcome?.rows, outcome?.affectedRows], [[], 2], 'the outcome')
    },
  },
  {
    name: '`followUp` receives the rows of its statement and runs in the same transaction, if the engine supports it',
    async run({ engine, commit, statement, parents, children, query, insert, assertUnchanged }) {
      if (!engine.supportsFollowUp) return
      const seen: (readonly Row[])[] = []
      const select = statement(sql`select id, name from ${parents}`, { returnsRows: true, followUp: (rows) => {
        seen.push(rows)
        return [2, 3].map(id => engine.render(sql`insert into ${children} (id, parent_id) values (${id}, 1)`))
      } })
      await throws(() => commit(select, insert(1, 'taken')), 'a commit that fails after `followUp`')
      await assertUnchanged('a `followUp` of a failed commit')
      await commit(select)
      equal(seen.at(-1), [[1, 'ada']], 'the rows that `followUp` received')
      equal(await query(sql`select id from ${children} order by id`), [[1], [2], [3]], 'the rows after the commit')
      await throws(() => commit({ ...select, followUp: () => {
        throw new RangeError('stop')
      } }, insert(2, 'bob')), 'an error of `followUp`', error => error instanceof RangeError)
    },
  },
  {
    name: '`derive` receives all earlier outcomes and runs in the same transaction, if the engine supports it',
    async run({ engine, commit, statement, parents, children, insert, rename, assertUnchanged }) {
      if (!engine.supportsFollowUp) return
      const derived: CommitEntry = { derive: outcomes => [
        statement(sql`insert into ${children} (id, parent_id) values (${10 + outcomes.length}, 1)`),
        statement(sql`select id from ${children} order by id`, { returnsRows: true }),
      ] }
      await throws(() => commit(insert(2, 'bob'), derived, insert(3, 'bob')), 'a commit that fails after `derive`')
      await assertUnchanged('a `derive` of a failed commit')
      const failing: CommitEntry = { derive: () => [rename(99, 'x')] }
      const error = await throws(() => commit(insert(2, 'bob'), failing), 'an expectation of a derived statement')
      equal(error instanceof ExpectationError && error.index, 1, 'the index of the entry')
      await assertUnchanged('a derived statement whose expectation is not met')
      const outcomes = await commit(insert(2, 'bob'), statement(sql`select id from ${parents}`, { returnsRows: true }), derived)
      equal(outcomes.map(({ rows }) => rows), [[], [[1], [2]], [[1], [12]]], 'the outcomes')
    },
  },
  {
    name: '`retry` repeats the whole commit and `followUp` runs again, if commits can run at the same time',
    async run({ engine, commit, statement, parents, children, query }) {
      if (!engine.concurrent || !engine.supportsFollowUp) return
      let attempts = 0
      const select = statement(sql`select id from ${parents}`, { returnsRows: true, followUp: () =>
        ++attempts === 1 ? [] : [engine.render(sql`insert into ${children} (id, parent_id) values (7, 1)`)] })
      const expectation = statement(sql`select id from ${children} where id = 7`, { returnsRows: true, expectedRows: 1, retry: true })
      await commit(select, expectation)
      equal(attempts, 2, 'the number of attempts')
      equal(await query(sql`select id from ${children} order by id`), [[1], [7]], 'the rows after the commit')
    },
  },
  {
    name: '`retry` ends with a BusyError if every attempt fails, and nothing is written',
    async run({ engine, commit, insert, rename, assertUnchanged }) {
      if (!engine.concurrent) return
      const attempt = () => commit(insert(2, 'bob'), { ...rename(99, 'carol'), retry: true })
      await throws(attempt, 'a commit whose expectation is never met', error => error instanceof BusyError)
      await assertUnchanged('a commit that failed in every attempt')
    },
  },
  {
    name: '`build` runs a query builder of Drizzle in the commit and returns its result',
    async run({ commit, parents, rename, dump }) {
      const outcomes = await commit(
        built(db => db.insert(parents).values({ id: 2, name: 'bob', age: 5 })),
        rename(2, 'bert'),
        built(db => db.update(parents).set({ age: 6 }).where(eq(parents.id, 2))),
        built(db => db.select({ key: parents.id, name: parents.name }).from(parents)),
      )
      equal(outcomes[3]?.result, [{ key: 1, name: 'ada' }, { key: 2, name: 'bert' }], 'the result of the select')
      equal(await dump(), [[[1, 'ada', 36], [2, 'bert', 6]], [[1, 1]]], 'the rows after the commit')
    },
  },
  {
    name: '`build` is rolled back with the commit',
    async run({ commit, parents, insert, assertUnchanged }) {
      const update = built(db => db.update(parents).set({ age: 6 }).where(eq(parents.id, 1)))
      await throws(() => commit(update, insert(2, 'ada')), 'a violation after a built statement')
      await assertUnchanged('a built statement before a violation')
      await throws(() => commit(insert(2, 'bob'), built(() => {
        throw new RangeError('stop')
      })), 'an error of `build`', error => error instanceof RangeError)
      await assertUnchanged('a statement before an error of `build`')
    },
  },
  {
    name: '`build` refuses a value that is not a query builder, and nothing is written',
    async run({ commit, insert, assertUnchanged }) {
      for (const value of [{}, Promise.resolve([])]) {
        const attempt = () => commit(insert(2, 'bob'), built(() => value))
        await throws(attempt, 'a value that is not a query builder', error => error instanceof TypeError)
      }
      await assertUnchanged('a commit with a value that is not a query builder')
    },
  },
]
