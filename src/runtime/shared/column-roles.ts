/** Roles of columns that the server maintains. Each role has column names, the writes that set the column, and the value. */

export type ColumnRole
  = 'deletedAt' | 'deletedBy' | 'deletionId' | 'deletedReason' | 'createdAt' | 'updatedAt' | 'createdBy' | 'updatedBy'

export interface ColumnRoleFacts {
  /** Property names that give a column this role. The property of a Drizzle table can be in camelCase or in snake_case. */
  readonly names: readonly [camelCase: string, snakeCase: string]
  /** `true`: a delete sets the column, and a restore sets it to null. No other write and no hook can change it. */
  readonly trash: boolean
  /** The writes in which the server sets the column. */
  readonly setBy: readonly ('create' | 'update' | 'delete')[]
  /** The value that the server sets: the current time, the id of the caller, the id of the deletion, or the reason in the request. */
  readonly value: 'time' | 'caller' | 'deletionId' | 'reason'
  /** Whether a client can set the column in the body of a create. The body of an update can set no column with a role. */
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

/** Returns only the columns of a table that have a trash role. */
export function trashColumnsOf<Column>(roles: Readonly<Partial<Record<ColumnRole, Column>>>): Partial<Record<ColumnRole, Column>> {
  const columns: Partial<Record<ColumnRole, Column>> = {}
  for (const role of TRASH_ROLES) if (roles[role] !== undefined) columns[role] = roles[role]
  return columns
}
