/** The tables of one test, and the functions with which the test uses the engine. */
import { sql, type SQL } from 'drizzle-orm'
import type { CommitEntry, Engine, Outcome, Row, WriteStatement } from '../../server/engines/engine'
import { buildTables, createStatements, dropStatements, type Tables } from './tables'

export interface EngineCase {
  readonly name: string
  readonly run: (scene: Scene) => Promise<void>
  /** The test needs another connection. */
  readonly blocks?: true
}

export interface Scene extends Tables {
  readonly engine: Engine
  readonly suffix: string
  readonly statement: (query: SQL, rest?: Partial<WriteStatement>) => WriteStatement
  /** Like the engine's function, but a synchronous error becomes a rejected promise. */
  readonly commit: (...entries: CommitEntry[]) => Promise<readonly Outcome[]>
  readonly query: (query: SQL) => Promise<readonly Row[]>
  readonly insert: (id: number, name: string | null) => WriteStatement
  readonly rename: (id: number, name: string) => WriteStatement
  /** All rows of parents and children. */
  readonly dump: () => Promise<unknown>
  /** @throws When the rows are not those that the test started with. */
  readonly assertUnchanged: (what: string) => Promise<void>
  readonly block: (query: SQL) => Promise<() => unknown>
  readonly close: () => Promise<void>
}

/** Creates the tables, with parent 1 (`ada`, 36) and its child 1. */
export async function openScene(engine: Engine, block?: (sql: string) => Promise<() => unknown>): Promise<Scene> {
  const suffix = Math.random().toString(36).slice(2, 12)
  const tables = buildTables(engine.dialect, suffix)
  const { parents, children } = tables
  const statement: Scene['statement'] = (query, rest) => ({ ...engine.render(query), ...rest })
  const commit: Scene['commit'] = async (...entries) => await engine.commit(entries)
  const query: Scene['query'] = async sql => await engine.query(engine.render(sql))
  const dump = async () => [
    await query(sql`select id, name, age from ${parents} order by id`),
    await query(sql`select id, parent_id from ${children} order by id`),
  ]
  for (const create of createStatements(tables, engine, suffix)) await commit(statement(create))
  await commit(statement(sql`insert into ${parents} (id, name, age) values (1, 'ada', 36)`))
  await commit(statement(sql`insert into ${children} (id, parent_id) values (1, 1)`))
  const before = JSON.stringify(await dump())
  return {
    ...tables,
    engine,
    suffix,
    statement,
    commit,
    query,
    dump,
    insert: (id, name) => statement(sql`insert into ${parents} (id, name) values (${id}, ${name})`),
    rename: (id, name) => statement(sql`update ${parents} set name = ${name} where id = ${id}`, { expectedRows: 1 }),
    async assertUnchanged(what) {
      const after = JSON.stringify(await dump())
      if (after !== before) throw new Error(`${what} changed the database: ${before} became ${after}`)
    },
    async block(query) {
      if (!block) throw new Error('The suite has no `block` function.')
      return block(engine.render(query).text)
    },
    async close() {
      for (const drop of dropStatements(tables)) await commit(statement(drop))
    },
  }
}
