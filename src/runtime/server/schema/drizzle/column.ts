/** Describes a Drizzle column as plain data. */
import type { Column } from 'drizzle-orm'
import type { Kind } from '../../../shared/wire'

export interface ColumnFacts {
  /** The property name in the table, which is the field's name in the API. */
  readonly name: string
  readonly column: Column
  readonly kind: Kind
  readonly nullable: boolean
  /** Whether an insert can omit the column. */
  readonly optional: boolean
  /** Whether the database generates the value: auto-increment, serial, identity, a generated column, or a default on a primary key. */
  readonly generated: boolean
}

export function describeColumn(name: string, column: Column): ColumnFacts {
  const facts = column as Column & { autoIncrement?: boolean, generatedIdentity?: unknown }
  return Object.freeze({
    name,
    column,
    kind: kindOf(column),
    nullable: !column.notNull,
    optional: !column.notNull || column.hasDefault || isGenerated(facts),
    generated: isGenerated(facts),
  })
}

const SERIAL = /Serial/

function isGenerated(column: Column & { autoIncrement?: boolean, generatedIdentity?: unknown }): boolean {
  return column.generated !== undefined
    || column.generatedIdentity !== undefined
    || column.autoIncrement === true
    || SERIAL.test(column.columnType)
    // In SQLite, an INTEGER PRIMARY KEY is the rowid. For uuid and text keys, a database default generates the value.
    || (column.primary && (/^SQLite(?:Integer|Boolean|Timestamp)$/.test(column.columnType) || column.default !== undefined))
}

const WHOLE = /(?:Integer|Int|BigInt53|BigSerial53|SmallSerial|Serial|Year)$/

const EXACT = /(?:Numeric|Decimal)$/

function kindOf(column: Column): Kind {
  switch (column.dataType) {
    case 'string': return EXACT.test(column.columnType) ? 'decimal' : 'text'
    case 'number': return WHOLE.test(column.columnType) ? 'integer' : 'number'
    case 'boolean': return 'boolean'
    case 'date': return 'date'
    case 'bigint': return 'bigint'
    case 'buffer': return 'blob'
    case 'json': case 'array': return 'json'
    default: return 'custom'
  }
}
