/**
 * Inserts rows for changed rows in SQL: `insert into audit (record_id, before) select id, … from t where …`.
 *
 * A batch cannot always read its rows first and insert plain values, as `guarded-rows.ts` does. The database alone knows the values after
 * a change: generated keys, defaults, columns that SQL or a trigger sets. A second batch could read them, but a server that stops between
 * the two would lose the rows of the first one. So the images after a change are built in SQL, and those before it are read from the same
 * list.
 */
import { sql, type SQL } from 'drizzle-orm'
import type { WriteStatement } from '../../../../engines/engine'
import type { Call } from '../../../request/session'
import { uuidv7 } from '../../../process/uuid'
import { columnName } from '../../columns'
import type { Insertion } from '../changed-rows'
import { JSON_OPERANDS } from '../operand'
import type { AssignedValues, RowSource } from '../source'
import type { TargetColumn } from '../target'
import { columnList, foreignIdSql, imageSql, type ImageOperand } from './images'
import { idSql } from './wire'
import { statement } from '../../../sql/parameterize'
import { EMPTY, commaList, value, where, word, type Part, type Where } from '../../../sql/where'
import type { ChangedTable } from '../table'

/** Selects changed rows in SQL. Each row has the columns `id`, `tenant` and those that `image` uses. */
export interface SelectedRows {
  readonly with?: RowSource['with']
  readonly rows: Where
  /** Builds the value of an image from the columns of the derived table `changed`. */
  readonly image: (operand: ImageOperand) => SQL
  /** The list of the columns of a row that was created or removed. */
  readonly list: SQL
}

/** `insert into audit (id, after) with recursive reached … select changed.id, (…) from (select id, null, … from t where …) as changed` */
export function insertSelect(insertion: Insertion, source: RowSource, assigned: AssignedValues, call: Call): WriteStatement {
  const { set } = insertion
  const list = usesImages(insertion) ? columnList(set, assigned, insertion.target.wholeBefore) : NULL
  return insertSelected(insertion, {
    with: source.with,
    rows: where`select ${identityAnd(set.table, list)}${source.from}`,
    image: operand => imageSql(set, operand, sql.raw('changed.list'), insertion.target),
    list: sql.raw('changed.list'),
  }, call)
}

export const usesImages = ({ target: { columns } }: Insertion) =>
  columns.some(({ operand }) => operand === 'foreignId' || (operand && JSON_OPERANDS.has(operand)))

const NULL = where`null`

/** `id as id, tenant_id as tenant, … as list` */
export const identityAnd = ({ primaryKey, tenant }: ChangedTable, list: Where): Where =>
  where`${idSql(primaryKey)} as id, ${tenant ? tenant.column : NULL} as tenant, ${list} as list`

export function insertSelected({ target }: Insertion, { with: reached, rows, image, list }: SelectedRows, call: Call): WriteStatement {
  const { table, columns } = target
  const into = commaList(columns.map(({ field }) => columnName(call.engine, field)))
  const values = commaList(columns.map(column => column.value ?? operandSql(column, image, list)))
  const select = where`select ${values} from (${rows}) as changed`
  return statement(call, where`insert into ${table} (${into}) ${reached ? where`${reached} ` : EMPTY}${select}`)
}

function operandSql({ operand, foreignKey = [] }: TargetColumn, image: SelectedRows['image'], list: SQL): Part {
  switch (operand!) {
    case 'id': return word('changed.id')
    case 'tenant': return word('changed.tenant')
    case 'foreignId': return foreignIdSql(foreignKey, list)
    case 'uuid': return newUuid()
    case 'columns':
    case 'before':
    case 'after': return image(operand!)
  }
}

/** A UUID of version 7 with the server's time. The database adds random digits, because it determines the number of rows. */
const newUuid = (): Where => where`${value(uuidv7().slice(0, 19))} || substr('89ab', 1 + (random() & 3), 1)
  || substr(lower(hex(randomblob(2))), 2) || '-' || lower(hex(randomblob(6)))`
