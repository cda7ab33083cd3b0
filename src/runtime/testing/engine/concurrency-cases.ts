/** Commits that run at the same time do not see or overwrite each other's half-written rows. */
import { sql } from 'drizzle-orm'
import { BusyError, type CommitEntry } from '../../server/engines/engine'
import { equal, throws } from './check'
import type { EngineCase, Scene } from './scene'

/** Locks parent 1 if other commits can run between the statements of this one. */
const lock = ({ engine, statement, parents }: Scene): CommitEntry[] => engine.concurrent
  ? [statement(sql`select id from ${parents} where id = 1${engine.adapter.lock.update}`, { returnsRows: true, expectedRows: 1 })]
  : []

export const CONCURRENCY_CASES: readonly EngineCase[] = [
  {
    name: 'a statement sees everything that earlier commits wrote: of twenty checks and inserts, three insert a row',
    async run(scene) {
      const { commit, statement, engine, children, query } = scene
      const id = (value: number) => engine.adapter.typed(sql`${sql.param(value)}`, children.id)
      const count = sql`(select count(*) as n from ${children}) as found`
      const insert = (index: number) =>
        statement(sql`insert into ${children} (id, parent_id) select ${id(10 + index)}, 1 from ${count} where n < 4`)
      await Promise.all(Array.from({ length: 20 }, (_, index) => commit(...lock(scene), insert(index))))
      equal(Number((await query(sql`select count(*) from ${children}`))[0]?.[0]), 4, 'the number of children')
    },
  },
  {
    name: 'failed commits do not affect commits that run at the same time',
    async run({ commit, statement, parents, query }) {
      await commit(statement(sql`update ${parents} set age = 1`))
      const add = (years: number) =>
        statement(sql`update ${parents} set age = age + ${sql.raw(String(years))} where id = 1`, { expectedRows: 1 })
      const missing = statement(sql`update ${parents} set age = 1 where id = 99`, { expectedRows: 1 })
      const settled = await Promise.allSettled(
        Array.from({ length: 30 }, (_, index) => index % 3 === 0 ? commit(add(100), missing) : commit(add(1), add(1))),
      )
      equal(settled.filter(({ status }) => status === 'fulfilled').length, 20, 'the number of commits that succeeded')
      equal(await query(sql`select age from ${parents}`), [[41]], 'the rows')
    },
  },
  {
    name: 'a query sees all rows of a commit or none',
    async run({ commit, statement, children, query }) {
      const insert = (id: number) => statement(sql`insert into ${children} (id, parent_id) values (${id}, 1)`)
      const pair = (index: number) => [insert(100 + 2 * index), insert(101 + 2 * index)]
      const counts: Promise<number>[] = []
      const count = async () => Number((await query(sql`select count(*) from ${children} where id >= 100`))[0]?.[0])
      await Promise.all(Array.from({ length: 20 }, async (_, index) => {
        const done = commit(...pair(index))
        counts.push(count(), count())
        await done
        counts.push(count())
      }))
      equal((await Promise.all(counts)).filter(n => n % 2 !== 0), [], 'the numbers of rows that contain half a commit')
      equal(await count(), 40, 'the number of rows at the end')
    },
  },
  {
    name: 'commit() throws a BusyError if another connection holds a lock, and nothing is written',
    blocks: true,
    async run({ commit, insert, rename, block, parents, assertUnchanged, query }) {
      const release = await block(sql`update ${parents} set age = age where id = 1`)
      try {
        await throws(() => commit(insert(2, 'bob'), rename(1, 'bert')), 'a commit to a locked row', error => error instanceof BusyError)
        await assertUnchanged('a commit to a locked row')
      }
      finally {
        await release()
      }
      await commit(insert(2, 'bob'), rename(1, 'bert'))
      equal(await query(sql`select name from ${parents} order by id`), [['bert'], ['bob']], 'the rows after the lock')
    },
  },
]
