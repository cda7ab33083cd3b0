/** Describes a Drizzle column as plain data. */
import type { Column } from 'drizzle-orm'
import type { Kind } from '../../../shared/wire'
import { kindOf, typeOf } from '../../drizzle/index'

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
    || SERIAL.test(typeOf(column))
    // In SQLite, an INTEGER PRIMARY KEY is the rowid. For uuid and text keys, a database default generates the value.
    || (column.primary && (/^SQLite(?:Integer|Boolean|Timestamp)$/.test(typeOf(column)) || column.default !== undefined))
}
