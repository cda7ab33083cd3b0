/** Separates the columns that the server sets from the columns that a client can write. */
import { COLUMN_ROLES, ROLES, type ColumnRole } from '../../shared/column-roles'
import type { TableFacts } from './drizzle/table'
import { findOwned } from './presets/mark'

/**
 * Finds the property name of the column for each role, such as `{ createdAt: 'created_at' }`. Ignores trash columns if the table has no
 * nullable `deletedAt`.
 */
export function findRoles(table: TableFacts): Partial<Record<ColumnRole, string>> {
  const columns = new Map(table.columns.map(column => [column.name, column]))
  const nameOf = (role: ColumnRole) => COLUMN_ROLES[role].names.find(name => columns.has(name))
  const deletedAt = nameOf('deletedAt')
  const hasTrash = deletedAt !== undefined && columns.get(deletedAt)!.nullable
  return Object.fromEntries(ROLES.flatMap((role) => {
    const name = nameOf(role)
    return name && (hasTrash || !COLUMN_ROLES[role].trash) ? [[role, name]] : []
  }))
}

export interface WritableColumns {
  readonly create: ReadonlySet<string>
  readonly update: ReadonlySet<string>
}

/** Finds the columns that a client can write in the body of a create and of an update. */
export function findWritable(
  table: TableFacts,
  roles: Partial<Record<ColumnRole, string>>,
  tenant: string | undefined,
  protectedFields: readonly string[],
): WritableColumns {
  // Drizzle's `column.generated` marks only `generated always as (…)`. Our `generated` also includes serial and auto-increment keys.
  const columns = table.columns.filter(
    ({ name, column }) => !protectedFields.includes(name) && name !== tenant && !column.generated && !findOwned(column),
  )
  const roleOf = new Map(Object.entries(roles).map(([role, name]) => [name, role as ColumnRole]))
  const canCreate = (name: string) => !roleOf.has(name) || COLUMN_ROLES[roleOf.get(name)!].inCreateBody
  const canUpdate = (name: string) => !roleOf.has(name) && !table.primaryKey.includes(name)
  return {
    create: new Set(columns.filter(({ name, generated }) => canCreate(name) && !generated).map(({ name }) => name)),
    update: new Set(columns.filter(({ name }) => canUpdate(name)).map(({ name }) => name)),
  }
}
