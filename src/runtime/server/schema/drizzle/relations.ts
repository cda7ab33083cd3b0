/** Describes as plain data the relations that Drizzle's `relations()` declares for a table. */
import type { Table } from 'drizzle-orm'
import { is, One, Relations, createTableRelationsHelpers } from 'drizzle-orm'
import { propertyName } from './config'

export interface DeclaredRelation {
  readonly name: string
  readonly target: Table
  readonly many: boolean
  /** Present on the side that holds the foreign key. */
  readonly columns?: readonly string[]
  readonly foreignColumns?: readonly string[]
  readonly relationName?: string
}

/** @throws When the value does not come from `relations()`. */
export function describeRelations(relations: unknown): { table: Table, relations: DeclaredRelation[] } {
  if (!is(relations, Relations)) throw new TypeError('not a value made by Drizzle\'s relations()')
  const table = relations.table as Table
  const declared = relations.config(createTableRelationsHelpers(table as never))
  return {
    table,
    relations: Object.entries(declared).map(([name, relation]) => {
      const target = relation.referencedTable as Table
      const config = is(relation, One) ? relation.config : undefined
      return {
        name,
        target,
        many: !is(relation, One),
        columns: config?.fields.map(column => propertyName(table, column)),
        foreignColumns: config?.references.map(column => propertyName(target, column)),
        relationName: relation.relationName,
      }
    }),
  }
}
