/** The columns the server owns: found by name and nature, dropped from bodies, stamped by the server. */
import type { TableFacts } from './drizzle/table'

/** Property names with a meaning. A table may call its property after the column (`deleted_at`) as well. */
export const ROLES = {
  deletedAt: ['deletedAt', 'deleted_at'],
  deletedBy: ['deletedBy', 'deleted_by'],
  deletionId: ['deletionId', 'deletion_id'],
  deletedReason: ['deletedReason', 'deleted_reason'],
  createdAt: ['createdAt', 'created_at'],
  updatedAt: ['updatedAt', 'updated_at'],
  createdBy: ['createdBy', 'created_by'],
  updatedBy: ['updatedBy', 'updated_by'],
} as const

export type Role = keyof typeof ROLES

const TRASH_ROLES: ReadonlySet<string> = new Set(['deletedAt', 'deletedBy', 'deletionId', 'deletedReason'] satisfies Role[])

/** Where a table has a column for a role: its property name. The trash columns count only with a nullable `deletedAt`. */
export function findRoles(table: TableFacts): Partial<Record<Role, string>> {
  const names = new Map(table.columns.map(column => [column.name, column]))
  const found = Object.fromEntries(Object.entries(ROLES).flatMap(([role, spellings]) => {
    const name = spellings.find(spelling => names.has(spelling))
    return name ? [[role, name]] : []
  })) as Partial<Record<Role, string>>
  if (found.deletedAt !== undefined && names.get(found.deletedAt)!.nullable) return found
  return Object.fromEntries(Object.entries(found).filter(([role]) => !TRASH_ROLES.has(role)))
}

export interface WritableColumns {
  readonly create: ReadonlySet<string>
  readonly update: ReadonlySet<string>
}

/** The names a client may write, for each of the two bodies. */
export function findWritable(
  table: TableFacts,
  roles: Partial<Record<Role, string>>,
  tenant: string | undefined,
  protectedFields: readonly string[],
): WritableColumns {
  const owned = Object.entries(roles).flatMap(([role, name]) => (role === 'createdAt' ? [] : [name]))
  const never = new Set([...owned, ...protectedFields, ...(tenant ? [tenant] : [])])
  const neverUpdated = new Set([...table.primaryKey, ...(roles.createdAt ? [roles.createdAt] : [])])
  const columns = table.columns.filter(column => !never.has(column.name) && !column.column.generated)
  return {
    create: new Set(columns.filter(column => !column.generated).map(column => column.name)),
    update: new Set(columns.filter(column => !neverUpdated.has(column.name)).map(column => column.name)),
  }
}
