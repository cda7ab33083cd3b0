/** The engine renders SQL for its database, respects its limits and reports its constraints. */
import { sql, type SQL } from 'drizzle-orm'
import { findViolation, type Violation } from '../../server/engines/violation'
import { equal, throws } from './check'
import type { EngineCase, Scene } from './scene'

/** The statements that violate a constraint, with the columns that the error names, if it names any. */
const VIOLATIONS: readonly [kind: string, columns: readonly string[], violate: (scene: Scene) => SQL][] = [
  ['unique', ['name'], ({ parents }) => sql`insert into ${parents} (id, name) values (2, 'ada')`],
  ['reference', [], ({ children }) => sql`insert into ${children} (id, parent_id) values (2, 99)`],
  ['reference', [], ({ parents }) => sql`delete from ${parents} where id = 1`],
  ['required', ['name'], ({ parents }) => sql`insert into ${parents} (id, name) values (2, null)`],
  ['check', [], ({ parents }) => sql`update ${parents} set age = -1`],
]

const like = ({ engine, parents }: Scene, pattern: string) =>
  sql`select id from ${parents} where ${engine.adapter.like(parents.name, sql`${sql.param(pattern)}`)}`

/** A driver reports the columns of a unique constraint, or its name. */
function namedColumns({ columns, key }: Violation, { suffix }: Scene): readonly string[] {
  return columns.length > 0 ? columns : key === undefined ? [] : [key.replace(`_${suffix}`, '')]
}

export const DIALECT_CASES: readonly EngineCase[] = [
  ...VIOLATIONS.map(([kind, columns, violate], index): EngineCase => ({
    name: `commit() throws an error that names the violated constraint: ${kind}${index === 2 ? ' of a row that is still referenced' : ''}`,
    async run(scene) {
      const error = await throws(() => scene.commit(scene.statement(violate(scene))), 'the commit')
      const violation = findViolation(scene.engine.dialect, error)
      if (!violation) throw new Error('the API does not recognize the constraint in the error', { cause: error })
      equal(violation.kind, kind, 'the kind of the constraint')
      if (columns.length > 0) equal(namedColumns(violation, scene), columns, 'the columns of the constraint')
      await scene.assertUnchanged('a violation')
    },
  })),
  {
    name: 'render() returns the parameters in the order of the text, and the same text for other values',
    async run({ engine, query, parents }) {
      const select = (id: number, name: string) =>
        sql`select ${parents.id} from ${parents} where ${parents.name} = ${name} and ${parents.id} = ${id} and 'a ?' = 'a ?'`
      const [one, other] = [engine.render(select(1, 'ada')), engine.render(select(2, 'it\'s'))]
      equal(one.values, ['ada', 1], 'the values')
      equal(one.text, other.text, 'the text with other values')
      equal(await query(select(1, 'ada')), [[1]], 'the rows')
    },
  },
  {
    name: 'columnName() returns the name that render() uses',
    async run({ engine, commit, query, statement, cased }) {
      const [id, name] = [cased.id, cased.fullName].map(column => sql.identifier(engine.columnName(column)))
      await commit(statement(sql`insert into ${cased} (${id}, ${name}) values (1, 'Ada')`))
      equal(await query(sql`select ${cased.fullName} from ${cased} where ${cased.id} = 1`), [['Ada']], 'the rows')
      equal(engine.render(sql`${cased.fullName}`).text.includes(engine.columnName(cased.fullName)), true, 'the text contains the name')
    },
  },
  {
    name: 'a statement can have `maxParameters` parameters, in a query and in a commit',
    async run({ engine, query, commit, statement, parents }) {
      const list = sql.join(Array.from({ length: engine.maxParameters }, (_, index) => sql`${index + 1}`), sql`, `)
      equal(await query(sql`select ${parents.id} from ${parents} where ${parents.id} in (${list})`), [[1]], 'the rows of the query')
      const [outcome] = await commit(statement(sql`update ${parents} set age = 7 where id in (${list})`, { expectedRows: 1 }))
      equal(outcome?.affectedRows, 1, 'the number of affected rows')
    },
  },
  {
    name: 'a statement can reach `limits`: the terms of a compound SELECT, and the characters of a LIKE pattern',
    async run(scene) {
      const { engine: { limits }, query, parents } = scene
      const selects = Array.from({ length: limits?.terms ?? 50 }, (_, index) => sql`select ${sql.raw(String(index))} as n`)
      const rows = await query(sql`select count(*) from (${sql.join(selects, sql` union all `)}) as terms where n = 1`)
      equal(rows.map(([n]) => Number(n)), [1], 'the rows')
      if (limits) await query(sql`select ${parents.id} from ${parents} where ${parents.name} like ${'a'.repeat(limits.pattern)}`)
      else await query(like(scene, `${'a'.repeat(500)}%`))
    },
  },
  {
    name: 'the LIKE of the dialect ignores the case of ASCII letters, and `\\` escapes a wildcard',
    async run(scene) {
      const { commit, insert, query } = scene
      await commit(insert(2, '100%'), insert(3, '100x'))
      equal(await query(like(scene, 'AD%')), [[1]], 'the rows like AD%')
      equal(await query(like(scene, '100\\%')), [[2]], 'the rows like 100\\%')
    },
  },
  {
    name: 'NULL sorts before or after all values, as the dialect says',
    async run({ engine, commit, insert, query, parents }) {
      await commit(insert(2, 'bob'))
      equal(await query(sql`select id from ${parents} order by age`), engine.adapter.nullsLow ? [[2], [1]] : [[1], [2]], 'the order')
    },
  },
  {
    name: 'an insert can set no column, and the clauses that lock rows are SQL',
    async run({ engine, commit, statement, marks, query }) {
      await commit(statement(sql`insert into ${marks} ${engine.adapter.defaultValues}`))
      equal(await query(sql`select note from ${marks}`), [[null]], 'the new row')
      if (!engine.concurrent) return
      for (const lock of [engine.adapter.lock.share, engine.adapter.lock.update]) {
        await commit(statement(sql`select id from ${marks} order by id${lock}`, { returnsRows: true, expectedRows: 1 }))
      }
    },
  },
  {
    name: 'foreign keys can be checked at the end of the commit, if the dialect says so',
    async run({ engine: { adapter, dialect }, commit, statement, children, insert, query, assertUnchanged }) {
      if (adapter.deferForeignKeys === undefined) return
      const defer = { text: adapter.deferForeignKeys, values: [] }
      const child = (id: number) => statement(sql`insert into ${children} (id, parent_id) values (${id}, ${id})`)
      const error = await throws(() => commit(defer, child(2)), 'a reference that is missing at the end')
      equal(findViolation(dialect, error)?.kind, 'reference', 'the kind of the constraint')
      await assertUnchanged('a failed deferred check')
      await commit(defer, child(2), insert(2, 'bob'))
      equal(await query(sql`select id from ${children} order by id`), [[1], [2]], 'the rows')
    },
  },
]
