/** The names that fields and relations cannot have, because a response uses them. */
import { COUNT_PROPERTY } from '../../shared/relation-counts'
import type { Resource } from './model'
import type { TableFacts } from './drizzle/table'

/** @throws When a column has a reserved name. */
export function assertColumnNames(resource: string, { columns }: Pick<TableFacts, 'columns'>): void {
  if (!columns.some(({ name }) => name === COUNT_PROPERTY)) return
  throw new Error(
    `[auto-api] \`${resource}\`: the column \`${COUNT_PROPERTY}\` has the name under which a response contains relation counts. `
    + 'Give the column another name in the Drizzle table: `total: integer(\'_count\')`.',
  )
}

/** @throws When a relation has a reserved name. */
export function assertRelationNames({ name, relations }: Resource): void {
  if (!relations.has(COUNT_PROPERTY)) return
  throw new Error(
    `[auto-api] \`${name}\`: the relation \`${COUNT_PROPERTY}\` has the name under which a response contains relation counts. `
    + `Name it with Drizzle's relations() and register it as \`${name}.relations\`.`,
  )
}
