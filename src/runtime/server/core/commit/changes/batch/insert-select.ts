/** Inserts rows for changed rows in SQL: `insert into audit (record_id, before) select id, … from t where …`. */
import { sql, type SQL } from 'drizzle-orm'
import type { WriteStatement } from '../../../../engines/engine'
import type { Call } from '../../../request/session'
import { statement, type Clause } from '../../../sql/clause'
import { quoted, shape } from '../../../sql/shape'
import { uuidv7 } from '../../../process/uuid'
import { columnName, commaList } from '../../columns'
import type { Insertion } from '../changed-rows'
import { JSON_OPERANDS } from '../operand'
import type { AssignedValues, RowSource } from '../source'
import type { TargetColumn } from '../target'
import { columnList, foreignIdSql, imageSql, type ImageOperand } from './images'
import { idSql } from './wire'

/** Selects changed rows in SQL. Each row has the columns `id`, `tenant` and those that `image` uses. */
export interface SelectedRows {
  readonly with?: RowSource['with']
  readonly rows: Clause
  /** Builds the value of an image from the columns of the derived table `changed`. */
  readonly image: (operand: ImageOperand) => SQL
  /** The list of the columns of a row that was created or removed. */
  readonly list: SQL
}

/** `insert into audit (id, after) with recursive reached … select changed.id, (…) from (select id, null, … from t where …) as changed` */
export function insertSelect(insertion: Insertion, source: RowSource, assigned: AssignedValues, call: Call): WriteStatement {
  const { set } = insertion
  const list = usesImages(insertion) ? columnList(set, assigned) : undefined
  const { primaryKey, tenant } = set.table
  return insertSelected(insertion, {
    with: source.with,
    rows: {
      shape: shape`rows ${list?.shape ?? shape`none`}${source.shape}`,
      values: [...list?.values ?? [], ...source.values],
      build: () => sql`select ${commaList([
        sql`${idSql(primaryKey)} as id`,
        sql`${tenant ? tenant.column : sql`null`} as tenant`,
        sql`${list ? list.build() : sql`null`} as list`,
      ])}${source.build()}`,
    },
    image: operand => imageSql(set, operand, sql.raw('changed.list'), insertion.target.withoutValues),
    list: sql.raw('changed.list'),
  }, call)
}

export const usesImages = ({ target: { columns } }: Insertion) =>
  columns.some(({ operand }) => operand === 'foreignId' || (operand && JSON_OPERANDS.has(operand)))

export function insertSelected(
  { set, target: { table, columns, withoutValues } }: Insertion,
  { with: reached, rows, image, list }: SelectedRows,
  { api, engine }: Call,
): WriteStatement {
  const values = columns.map((column): Clause => column.value ?? operandClause(column, image, list))
  const names = columns.map(({ field }) => field.column)
  const omitted = [...withoutValues].map(quoted)
  const key = shape`insert select ${table}${names}${set.table.table}${set.kind}${omitted}${values.map(({ shape }) => shape)}${rows.shape}`
  const bound = [...reached?.values ?? [], ...values.flatMap(({ values }) => values), ...rows.values]
  return statement(api.statements, engine, key, bound, () => {
    const into = commaList(columns.map(({ field }) => columnName(engine, field)))
    const expressions = commaList(values.map(value => value.build()))
    const select = sql`select ${expressions} from (${rows.build()}) as changed`
    return { sql: sql`insert into ${table} (${into}) ${reached ? sql`${reached.build()} ` : sql``}${select}`, extra: undefined }
  })
}

function operandClause({ operand, foreignKey = [] }: TargetColumn, image: SelectedRows['image'], list: SQL): Clause {
  switch (operand!) {
    case 'id': return { shape: shape`id`, values: [], build: () => sql.raw('changed.id') }
    case 'tenant': return { shape: shape`tenant`, values: [], build: () => sql.raw('changed.tenant') }
    case 'foreignId': return {
      shape: shape`foreign id ${foreignKey.map(({ column }) => column)}`, values: [], build: () => foreignIdSql(foreignKey, list),
    }
    case 'uuid': return newUuid()
    case 'columns': return { shape: shape`columns`, values: [], build: () => image('columns') }
    case 'before': return { shape: shape`before`, values: [], build: () => image('before') }
    case 'after': return { shape: shape`after`, values: [], build: () => image('after') }
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
