/** Inserts rows for changed rows whose values are known: `insert into audit (record_id, before) values (?, ?), …`. */
import { sql } from 'drizzle-orm'
import type { WriteStatement } from '../../../../engines/engine'
import type { Call } from '../../../context'
import { parameter, statement } from '../../../sql/clause'
import { shape } from '../../../sql/shape'
import { uuidv7 } from '../../../uuid'
import { columnName, commaList } from '../columns'
import type { ChangeSet, Insertion } from './changed-rows'
import type { FoundRow } from './found-rows'
import { toImage, type Image } from './image'
import type { Operand } from './operand'
import { reportedColumns } from './report'
import { encodeOperand, type Target } from './target'

type Values = readonly unknown[]

export function insertRows({ set, target }: Insertion, rows: readonly FoundRow[], call: Call): readonly WriteStatement[] {
  const tuples = rows.map((row): Values => {
    const valueOf = operandsOf(set, row, call)
    return target.columns.flatMap(column => column.operand ? [encodeOperand(column, valueOf(column.operand))] : column.value!.values)
  })
  return chunksOf(tuples, call).map(chunk => insertStatement(target, chunk, call))
}

/** Returns a function that computes the values of one changed row. */
function operandsOf({ table, kind }: ChangeSet, { id, before, after }: FoundRow, call: Call): (operand: Operand) => unknown {
  let image: Image | undefined
  return (operand) => {
    switch (operand) {
      case 'id': return id
      case 'uuid': return uuidv7()
      case 'tenant': {
        const row = after ?? before
        if (!table.tenant || !row) return null
        const value = row[reportedColumns(call, table).fields.indexOf(table.tenant)]
        return table.tenant.decode ? table.tenant.decode(value) : value
      }
      default: return (image ??= toImage(table, kind, before, after))[operand]
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
