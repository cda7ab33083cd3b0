/** Inserts rows for changed rows in SQL: `insert into audit (record_id, before) select id, … from t where …`. */
import { sql } from 'drizzle-orm'
import type { WriteStatement } from '../../../../../engines/engine'
import type { Call } from '../../../../context'
import { statement, type Clause } from '../../../../sql/clause'
import { shape } from '../../../../sql/shape'
import { uuidv7 } from '../../../../uuid'
import { columnName, commaList } from '../../columns'
import type { ChangeSet, Insertion } from '../changed-rows'
import { JSON_OPERANDS } from '../operand'
import type { AssignedValues, RowSource } from '../source'
import type { TargetColumn } from '../target'
import { columnList, imageSql } from './images'
import { idSql } from './wire'

/**
 * Each row of the derived table `changed` is one changed row: `id`, `tenant` and, if the insertion uses images, `list`.
 *
 * insert into audit (record_id, after) with recursive reached … select changed.id, (…) from (select id, null, … from t where …) as changed
 */
export function insertSelect(
  { set, target: { table, columns } }: Insertion,
  source: RowSource,
  assigned: AssignedValues,
  { api, engine }: Call,
): WriteStatement {
  const list = columns.some(({ operand }) => operand && JSON_OPERANDS.has(operand)) ? columnList(set, assigned) : undefined
  const values = columns.map((column): Clause => column.value ?? operandClause(column, set))
  const names = columns.map(({ field }) => field.column)
  const key = shape`insert select ${table}${names}${set.table.table}${set.kind}${values.map(({ shape }) => shape)}${
    list?.shape ?? shape`none`}${source.shape}`
  const bound = [...source.with?.values ?? [], ...values.flatMap(({ values }) => values), ...list?.values ?? [], ...source.values]
  return statement(api.statements, engine, key, bound, () => {
    const { primaryKey, tenant } = set.table
    const selected = commaList([
      sql`${idSql(primaryKey)} as id`,
      sql`${tenant ? tenant.column : sql`null`} as tenant`,
      sql`${list ? list.build() : sql`null`} as list`,
    ])
    const into = commaList(columns.map(({ field }) => columnName(engine, field)))
    const expressions = commaList(values.map(value => value.build()))
    const rows = sql`select ${expressions} from (select ${selected}${source.build()}) as changed`
    return { sql: sql`insert into ${table} (${into}) ${source.with ? sql`${source.with.build()} ` : sql``}${rows}`, extra: undefined }
  })
}

function operandClause({ operand }: TargetColumn, set: ChangeSet): Clause {
  const list = sql.raw('changed.list')
  switch (operand!) {
    case 'id': return { shape: shape`id`, values: [], build: () => sql.raw('changed.id') }
    case 'tenant': return { shape: shape`tenant`, values: [], build: () => sql.raw('changed.tenant') }
    case 'uuid': return newUuid()
    case 'columns': return { shape: shape`columns`, values: [], build: () => imageSql(set, 'columns', list) }
    case 'before': return { shape: shape`before`, values: [], build: () => imageSql(set, 'before', list) }
    case 'after': return { shape: shape`after`, values: [], build: () => imageSql(set, 'after', list) }
  }
}

/** A UUID of version 7 with the server's time. The database adds random digits, because it determines the number of rows. */
function newUuid(): Clause {
  const start = uuidv7().slice(0, 19)
  return {
    shape: shape`uuid`,
    values: [start],
    build: () => sql`${sql.param(start)} || substr('89ab', 1 + (random() & 3), 1) || substr(lower(hex(randomblob(2))), 2)
      || '-' || lower(hex(randomblob(6)))`,
  }
}
