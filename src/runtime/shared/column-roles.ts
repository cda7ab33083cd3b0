/** Columns with a meaning for the server: their names, which writes set them, and to what. */

export type ColumnRole
  = 'deletedAt' | 'deletedBy' | 'deletionId' | 'deletedReason' | 'createdAt' | 'updatedAt' | 'createdBy' | 'updatedBy'

export interface ColumnRoleFacts {
  /** Property names that give a column this role. A table may call its property after the column (`deleted_at`) as well. */
  readonly names: readonly [camelCase: string, snakeCase: string]
  /** A delete sets it, a restore sets it to null, and no other write changes it, hooks included. */
  readonly trash: boolean
  /** The writes for which the server sets the column. */
  readonly setBy: readonly ('create' | 'update' | 'delete')[]
  /** The value that the server sets: the current time, the caller's id, the id of the deletion, or the reason that the request gives. */
  readonly value: 'time' | 'caller' | 'deletionId' | 'reason'
  /** A client can send it in the body of a create. An update body can set no role. */
  readonly inCreateBody: boolean
}

const TRASH = { trash: true, setBy: ['delete'], inCreateBody: false } as const
const ON_CREATE = { trash: false, setBy: ['create'] } as const
const ON_EVERY_WRITE = { trash: false, setBy: ['create', 'update'], inCreateBody: false } as const

export const COLUMN_ROLES: Readonly<Record<ColumnRole, ColumnRoleFacts>> = {
  deletedAt: { names: ['deletedAt', 'deleted_at'], ...TRASH, value: 'time' },
  deletedBy: { names: ['deletedBy', 'deleted_by'], ...TRASH, value: 'caller' },
  deletionId: { names: ['deletionId', 'deletion_id'], ...TRASH, value: 'deletionId' },
  deletedReason: { names: ['deletedReason', 'deleted_reason'], ...TRASH, value: 'reason' },
  createdAt: { names: ['createdAt', 'created_at'], ...ON_CREATE, value: 'time', inCreateBody: true },
  updatedAt: { names: ['updatedAt', 'updated_at'], ...ON_EVERY_WRITE, value: 'time' },
  createdBy: { names: ['createdBy', 'created_by'], ...ON_CREATE, value: 'caller', inCreateBody: false },
  updatedBy: { names: ['updatedBy', 'updated_by'], ...ON_EVERY_WRITE, value: 'caller' },
}

export const ROLES = Object.keys(COLUMN_ROLES) as readonly ColumnRole[]

export const TRASH_ROLES = rolesWith(({ trash }) => trash)

export function rolesWith(accepts: (facts: ColumnRoleFacts) => boolean): readonly ColumnRole[] {
  return ROLES.filter(role => accepts(COLUMN_ROLES[role]))
}

/** The trash columns among a table's columns. */
export function trashColumnsOf<Column>(roles: Readonly<Partial<Record<ColumnRole, Column>>>): Partial<Record<ColumnRole, Column>> {
  const columns: Partial<Record<ColumnRole, Column>> = {}
  for (const role of TRASH_ROLES) if (roles[role] !== undefined) columns[role] = roles[role]
  return columns
}
