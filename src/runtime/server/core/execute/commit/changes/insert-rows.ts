/** Inserts rows for changed rows whose values are known: `insert into audit (record_id, before) values (?, ?), …`. */
import { sql } from 'drizzle-orm'
import type { WriteStatement } from '../../../../engines/engine'
import { toId } from '../../../../schema/record-id'
import type { Field } from '../../../../schema/field'
import type { Call } from '../../../context'
import { parameter, statement } from '../../../sql/clause'
import { shape } from '../../../sql/shape'
import { uuidv7 } from '../../../uuid'
import { columnName, commaList } from '../columns'
import type { ChangeSet, Insertion } from './changed-rows'
import type { FoundRow } from './found-rows'
import { toImage, type Image } from './image'
import { reportedColumns } from './report'
import { encodeOperand, type Target, type TargetColumn } from './target'

type Values = readonly unknown[]

export function insertRows({ set, target }: Insertion, rows: readonly FoundRow[], call: Call): readonly WriteStatement[] {
  const tuples = rows.map((row): Values => {
    const valueOf = operandsOf(set, row, target, call)
    return target.columns.flatMap(column => column.operand ? [encodeOperand(column, valueOf(column))] : column.value!.values)
  })
  return chunksOf(tuples, call).map(chunk => insertStatement(target, chunk, call))
}

/** Returns a function that computes the values of one changed row. */
function operandsOf(
  { table, kind }: ChangeSet, { id, before, after }: FoundRow, { withoutValues }: Target, call: Call,
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
      case 'after': return (image ??= toImage(table, kind, before, after, withoutValues))[operand!]
    }
  }
}

const MAX_ROWS = 256
/** The text of one statement, in characters. Databases limit the size of a statement, and MySQL's limit can be 16 MB. */
const MAX_LENGTH = 1_000_000

const lengthOf = (values: Values) =>
  values.reduce<number>((sum, value) => sum + (typeof value === 'string' || value instanceof Uint8Array ? value.length : 8), 0)

/** Splits the rows into statements. The numbers of rows are powers of two, so that few different statements are cached. */
function chunksOf(rows: readonly Values[], { engine }: Call): readonly (readonly Values[])[] {
  const chunks: (readonly Values[])[] = []
  for (let start = 0; start < rows.length;) {
    const max = Math.min(MAX_ROWS, rows.length - start, Math.floor(engine.maxParameters / Math.max(1, rows[start]!.length)))
    let count = 0
    for (let length = 0; count < max && (count === 0 || length + lengthOf(rows[start + count]!) <= MAX_LENGTH); count++)
      length += lengthOf(rows[start + count]!)
    const size = 2 ** Math.floor(Math.log2(count))
    chunks.push(rows.slice(start, start + size))
    start += size
  }
  return chunks
}

function insertStatement({ table, columns }: Target, rows: readonly Values[], { api, engine }: Call): WriteStatement {
  const fixed = columns.map(({ value }) => value ? value.shape : shape`row`)
  const key = shape`insert changed ${table}${columns.map(({ field }) => field.column)}${fixed}${rows.length}`
  return statement(api.statements, engine, key, rows.flat(), () => {
    const row = sql`(${commaList(columns.map(({ field, value }) => value ? value.build() : parameter(field, null)))})`
    const names = commaList(columns.map(({ field }) => columnName(engine, field)))
    return { sql: sql`insert into ${table} (${names}) values ${commaList(rows.map(() => row))}`, extra: undefined }
  })
}
