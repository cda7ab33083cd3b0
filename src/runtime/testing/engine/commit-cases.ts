/** A commit applies all of its statements or none, and checks how many rows each of them affects. */
import { sql } from 'drizzle-orm'
import { ExpectationError, type CommitEntry, type WriteStatement } from '../../server/engines/engine'
import { equal, throws } from './check'
import type { EngineCase, Scene } from './scene'

const age = ({ parents, statement }: Scene, rest: Partial<WriteStatement>) => statement(sql`update ${parents} set age = 1`, rest)
const ids = ({ parents, statement }: Scene, rest: Partial<WriteStatement>) =>
  statement(sql`select id from ${parents}`, { returnsRows: true, ...rest })

/** The last members: the index of the statement whose expectation is not met, and the number of rows that it affects. */
type FailureRow = readonly [after: string, entries: (scene: Scene) => CommitEntry[], index?: number, affectedRows?: number]

const FAILURES: readonly FailureRow[] = [
  ['a unique value that is taken', ({ insert }) => [insert(2, 'bob'), insert(3, 'bob')]],
  ['a missing reference', ({ insert, children, statement }) =>
    [insert(2, 'bob'), statement(sql`insert into ${children} (id, parent_id) values (2, 99)`)]],
  ['a required value', ({ insert }) => [insert(2, 'bob'), insert(3, null)]],
  ['a statement that is no SQL', ({ insert, statement }) => [insert(2, 'bob'), statement(sql`insert into`)]],
  ['an expectation of a row that does not exist', ({ insert, rename }) => [insert(2, 'bob'), rename(99, 'carol')], 1, 0],
  ['an expectation in the middle', ({ insert, rename }) => [insert(2, 'bob'), rename(99, 'carol'), insert(3, 'dan')], 1, 0],
  ['an expectation of the first statement', ({ insert, rename }) => [rename(99, 'carol'), insert(2, 'bob')], 0, 0],
  ['an expectation of fewer rows', scene => [scene.insert(2, 'bob'), age(scene, { expectedRows: 1 })], 1, 2],
  ['an expectation of more rows', scene => [scene.insert(2, 'bob'), age(scene, { expectedRows: 3 })], 1, 2],
  ['an expectation of no row', scene => [scene.insert(2, 'bob'), age(scene, { expectedRows: 0 })], 1, 2],
  ['an expectation of selected rows', scene => [scene.insert(2, 'bob'), ids(scene, { expectedRows: 1 })], 1, 2],
  ['an expectation of no selected row', scene => [scene.insert(2, 'bob'), ids(scene, { expectedRows: 0 })], 1, 2],
  ['an expectation of the only statement', ({ parents, statement }) =>
    [statement(sql`insert into ${parents} (id, name) values (2, 'bob'), (3, 'carl')`, { expectedRows: 1 })], 0, 2],
  ['an expectation of the only statement, which is atomic', ({ rename }) => [{ ...rename(99, 'carol'), atomic: true }], 0, 0],
  ['a violation in the only statement', ({ statement, parents }) =>
    [statement(sql`insert into ${parents} (id, name) values (2, 'bob'), (3, 'ada')`, { expectedRows: 2, atomic: true })]],
]

export const COMMIT_CASES: readonly EngineCase[] = [
  ...FAILURES.map(([after, entries, index, affectedRows]): EngineCase => ({
    name: `commit() writes nothing after ${after}`,
    async run(scene) {
      const error = await throws(() => scene.commit(...entries(scene)), 'the commit')
      await scene.assertUnchanged('a failed commit')
      equal(error instanceof ExpectationError, index !== undefined, 'the error is an ExpectationError')
      if (error instanceof ExpectationError) equal([error.index, error.affectedRows], [index, affectedRows], 'index and rows of the error')
    },
  })),
  {
    name: 'commit() returns one outcome for each statement, in their order',
    async run({ commit, insert, rename, parents, statement, dump }) {
      const outcomes = await commit(
        insert(2, 'bob'),
        rename(2, 'bert'),
        statement(sql`select name, id from ${parents} where id = 2`, { returnsRows: true, expectedRows: 1 }),
        { ...rename(99, 'x'), expectedRows: 0 },
        statement(sql`delete from ${parents} where id = 2`),
      )
      equal(outcomes.map(({ rows }) => rows), [[], [], [['bert', 2]], [], []], 'the rows of the outcomes')
      equal(outcomes.map(({ affectedRows }) => affectedRows), [1, 1, 1, 0, 1], 'the numbers of affected rows')
      equal(await dump(), [[[1, 'ada', 36]], [[1, 1]]], 'the rows after the commit')
    },
  },
  {
    name: 'commit() of no statement writes nothing and returns no outcome',
    async run({ commit }) {
      equal(await commit(), [], 'the outcomes')
    },
  },
  {
    name: 'commit() counts a row that an update finds but does not change',
    async run({ commit, rename }) {
      const [outcome] = await commit(rename(1, 'ada'))
      equal(outcome?.affectedRows, 1, 'the number of affected rows')
    },
  },
  {
    name: 'commit() after a failed commit is not affected by it',
    async run({ commit, insert, query, parents }) {
      await throws(() => commit(insert(2, 'bob'), insert(2, 'carol')), 'the first commit')
      await commit(insert(2, 'carol'), insert(3, 'dan'))
      equal(await query(sql`select name from ${parents} order by id`), [['ada'], ['carol'], ['dan']], 'the rows')
    },
  },
]
