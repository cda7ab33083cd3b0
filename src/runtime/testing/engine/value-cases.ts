/** Values reach the database and come back unchanged, in queries and in commits. */
import { sql, type Column, type Table } from 'drizzle-orm'
import { z } from 'zod'
import { InvalidValueError } from '../../server/engines/engine'
import { describeTable } from '../../server/schema/drizzle/table'
import { createField, type Field } from '../../server/schema/field'
import { boundDriverValue } from '../../server/core/sql/conditions'
import { equal, throws } from './check'
import type { EngineCase, Scene } from './scene'
import { VALUES, valueTable, type ValueKind } from './value-columns'

/** The fields of the table, as the API reads and writes them. */
const fieldsOf = (table: Table) =>
  describeTable(table).columns.map((facts, index) => createField(facts, index, z.any)) as [id: Field, value: Field]

type UseTable = (table: Table, id: Field, value: Field) => Promise<void>

async function withTable(scene: Scene, kind: ValueKind, run: UseTable): Promise<void> {
  const { commit, statement, engine, suffix } = scene
  const table = valueTable(engine.dialect, `suite_values_${suffix}`, kind)
  const [id, value] = fieldsOf(table)
  const charset = kind === 'text' && engine.dialect === 'mysql' ? ' character set utf8mb4 collate utf8mb4_bin' : ''
  const type = value.column.getSQLType() + charset
  await commit(statement(sql`create table ${table} (id integer primary key, value ${sql.raw(type)})`))
  try {
    await run(table, id, value)
  }
  finally {
    await commit(statement(sql`drop table ${table}`))
  }
}

const roundTrip = (kind: ValueKind): EngineCase => ({
  name: `a value of the kind ${kind} is stored and returned unchanged`,
  run: scene => withTable(scene, kind, async (table, id, value) => {
    const { commit, query, statement } = scene
    const values: readonly unknown[] = [...VALUES[kind], null]
    const name = (column: Column) => sql.identifier(column.name)
    const columns = sql`${name(id.column)}, ${name(value.column)}`
    await commit(...values.map((given, index) => statement(
      sql`insert into ${table} (${columns}) values (${sql.param(index)}, ${boundDriverValue(value, value.encode(given))})`,
      { expectedRows: 1 },
    )))
    const select = sql`select ${value.selection}, ${id.selection} from ${table} order by ${id.column}`
    const decode = (raw: unknown) => value.decode ? value.decode(raw) : raw
    equal((await query(select)).map(([raw]) => decode(raw)), values, 'the values of a query')
    const [outcome] = await commit(statement(select, { returnsRows: true }))
    equal(outcome?.rows.map(([raw]) => decode(raw)), values, 'the values of a commit')
    if (!value.comparable) return
    for (const [index, given] of values.slice(0, -1).entries()) {
      const parameter = sql`${sql.param(value.encode(given))}`
      const compared = value.compare ? value.compare(parameter) : parameter
      const rows = await query(sql`select ${id.column} from ${table} where ${value.column} = ${compared}`)
      equal(rows, [[index]], `the rows that are equal to ${String(given)}`)
    }
  }),
})

export const VALUE_CASES: readonly EngineCase[] = [
  ...(Object.keys(VALUES) as ValueKind[]).map(roundTrip),
  {
    name: 'query() returns the values by position, also of columns with the same name',
    async run({ query, parents, children }) {
      const columns = sql`${parents.id}, ${children.id}, ${parents.name}, null, ${parents.age}`
      const rows = await query(sql`select ${columns} from ${parents} inner join ${children} on ${children.parentId} = ${parents.id}`)
      equal(rows, [[1, 1, 'ada', null, 36]], 'the rows')
    },
  },
  {
    name: 'query() throws an InvalidValueError, or finds no row, for a value that the column cannot hold',
    async run({ query, parents, children }) {
      for (const value of ['abc', '99999999999999999999', '1.5']) {
        const search = () => query(sql`select ${parents.id} from ${parents} where ${parents.id} = ${sql.param(value)}`)
        const outcome = await search().catch((error: unknown) => error)
        if (outcome instanceof InvalidValueError) continue
        if (outcome instanceof Error) throw new Error(`the value ${value}: got another error`, { cause: outcome })
        equal(outcome, [], `the rows with the id ${value}`)
      }
      equal(await query(sql`select ${children.id} from ${children}`), [[1]], 'a query after the errors')
    },
  },
  {
    name: 'query() throws another error for a statement that is no SQL',
    async run({ query, parents }) {
      const search = () => query(sql`select from where ${parents.id}`)
      await throws(search, 'a statement that is no SQL', error => !(error instanceof InvalidValueError))
    },
  },
]
