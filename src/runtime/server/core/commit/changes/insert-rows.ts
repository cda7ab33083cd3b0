/** Inserts rows for changed rows whose values are known: one statement for a list of them, or `values (?, ?), …`. */
import type { WriteStatement } from '../../../engines/engine'
import { toId } from '../../../schema/record-id'
import type { Field } from '../../../schema/field'
import type { Call } from '../../request/session'
import { canList, ROW_LISTS } from '../../sql/row-list'
import { uuidv7 } from '../../process/uuid'
import { columnName } from '../columns'
import type { ChangeSet, Insertion } from './changed-rows'
import type { FoundRow } from './found-rows'
import { toImage, type Image } from './image'
import { reportedColumns } from './report'
import { encodeOperand, type Target, type TargetColumn } from './target'
import { boundDriverValue } from '../../sql/conditions'
import { statement } from '../../sql/parameterize'
import { asSql, commaList, where } from '../../sql/where'

type Values = readonly unknown[]

export function insertRows({ set, target }: Insertion, rows: readonly FoundRow[], call: Call): readonly WriteStatement[] {
  const perRow = target.columns.filter(({ operand }) => operand)
  const tuples = rows.map((row): Values => {
    const valueOf = operandsOf(set, row, target, call)
    return perRow.map(column => encodeOperand(column, valueOf(column)))
  })
  return tuples.length > 1 && perRow.every(({ field }, index) => canList(field, tuples.map(tuple => tuple[index])))
    ? insertLists(target, perRow, tuples, call)
    : chunksOf(tuples, target.columns.length, call).map(chunk => insertValues(target, chunk, call))
}

/** Returns a function that computes the values of one changed row. */
function operandsOf(
  { table, kind }: ChangeSet, { id, before, after }: FoundRow, target: Target, call: Call,
): (column: TargetColumn) => unknown {
  let image: Image | undefined
  const row = after ?? before
  const valueOf = (field: Field) => {
    const value = row![reportedColumns(call, table).fields.indexOf(field)]
    return field.decode ? field.decode(value) : value
  }
  return ({ operand, foreignKey }) => {
    switch (operand!) {
      case 'id': return id
      case 'uuid': return uuidv7()
      case 'tenant': return table.tenant && row ? valueOf(table.tenant) : null
      case 'foreignId': {
        const key = row ? foreignKey!.map(valueOf) : []
        return key.length === 0 || key.includes(null) ? null : toId({ primaryKey: foreignKey! }, key)
      }
      case 'columns':
      case 'before':
      case 'after': return (image ??= toImage(table, kind, before, after, target))[operand!]
    }
  }
}

const lengthOf = (values: Values) =>
  values.reduce<number>((sum, value) => sum + (typeof value === 'string' || value instanceof Uint8Array ? value.length : 8), 0)

/** The first rows from `start` on, at least one, whose values are not longer than `maxLength`. */
function countWithin(rows: readonly Values[], start: number, maxCount: number, maxLength: number): number {
  let count = 0
  for (let length = 0; count < maxCount; count++) {
    length += lengthOf(rows[start + count]!)
    if (count > 0 && length > maxLength) break
  }
  return count
}

/** `insert into audit (kind, record_id) select ?, value ->> 0 from json_each(?)`: the rows are one list, limited by its length only. */
function insertLists(target: Target, perRow: readonly TargetColumn[], rows: readonly Values[], call: Call): readonly WriteStatement[] {
  const { maxLength } = ROW_LISTS[call.engine.dialect]
  const statements: WriteStatement[] = []
  for (let start = 0; start < rows.length;) {
    const count = countWithin(rows, start, rows.length - start, maxLength)
    statements.push(insertList(target, perRow, rows.slice(start, start + count), call))
    start += count
  }
  return statements
}

function insertList({ table, columns }: Target, perRow: readonly TargetColumn[], rows: readonly Values[], call: Call): WriteStatement {
  const { engine } = call
  const list = ROW_LISTS[engine.dialect]
  const names = commaList(columns.map(({ field }) => columnName(engine, field)))
  const selection = commaList(columns.map(column =>
    column.value ? engine.adapter.typed(asSql(column.value), column.field.column) : list.column(perRow.indexOf(column))))
  const listed = list.from(perRow.map(({ field }) => field), rows)
  return statement(call, where`insert into ${table} (${names}) select ${selection} from ${listed}`)
}

const MAX_ROWS = 256
/** The text of one statement, in characters. Databases limit the size of a statement, and MySQL's limit can be 16 MB. */
const MAX_LENGTH = 1_000_000

/** Splits the rows into statements. The numbers of rows are powers of two, so that few different statements are cached. */
function chunksOf(rows: readonly Values[], columns: number, { engine }: Call): readonly (readonly Values[])[] {
  const chunks: (readonly Values[])[] = []
  for (let start = 0; start < rows.length;) {
    const max = Math.min(MAX_ROWS, rows.length - start, Math.floor(engine.maxParameters / Math.max(1, columns)))
    const size = 2 ** Math.floor(Math.log2(countWithin(rows, start, max, MAX_LENGTH)))
    chunks.push(rows.slice(start, start + size))
    start += size
  }
  return chunks
}

/** `insert into audit (kind, record_id) values (?, ?), (?, ?)` */
function insertValues({ table, columns }: Target, rows: readonly Values[], call: Call): WriteStatement {
  const toValues = (row: Values) => {
    let next = 0
    return where`(${commaList(columns.map(({ field, value }) => value ?? boundDriverValue(field, row[next++])))})`
  }
  const names = commaList(columns.map(({ field }) => columnName(call.engine, field)))
  return statement(call, where`insert into ${table} (${names}) values ${commaList(rows.map(toValues))}`)
}
