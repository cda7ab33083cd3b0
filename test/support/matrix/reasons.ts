/** The rows and the callers of the visibility matrix: why a row may be invisible, and to whom. */

export interface Caller {
  readonly user?: { readonly id: number, readonly organizationId?: number | string, readonly role?: string }
  readonly permissions?: readonly string[]
  readonly tenantId?: number
  /** Cross-tenant staff, and the tenant they chose. */
  readonly staff?: { readonly tenant: number | null }
}

export interface Situation {
  readonly caller: Caller
  readonly resource: string
  /** Columns of the row that the request names; `null` when it does not exist. */
  readonly row: object | null
}

/** A file that the storage of the visibility app has. */
export const COVER = JSON.stringify({
  key: '01936f00-0000-7000-8000-000000000000',
  name: 'a.csv',
  type: 'text/csv',
  size: 3,
  sha256: 'abc',
})
const VISIBLE_ROW = { organization_id: 1, title: 'plain', status: 'open', cover: COVER, deleted_at: null, deletion_id: null }
const FOREIGN_ROW = { ...VISIBLE_ROW, organization_id: 2 }
const SECRET_ROW = { ...VISIBLE_ROW, status: 'secret' }
const WITHHELD_ROW = { ...VISIBLE_ROW, status: 'withheld' }
const SEALED_ROW = { ...VISIBLE_ROW, title: 'sealed' }
const IN_TRASH = { deleted_at: 1700000000000, deletion_id: 'd1' }

/** Every kind of caller; all but the super-admins hold the one permission that articles require. */
export const CALLERS = {
  'an anonymous caller': { tenantId: 1, permissions: ['articles'] },
  'a member': { user: { id: 1, organizationId: 1 }, permissions: ['articles'] },
  'a member of another tenant': { user: { id: 4, organizationId: 2 }, permissions: ['articles'] },
  'a caller without a tenant': { user: { id: 5, organizationId: '' }, permissions: ['articles'] },
  'the super-admin': { user: { id: 3, organizationId: 1 }, permissions: ['*'] },
  'the super-admin without a tenant': { user: { id: 3 }, permissions: ['*'] },
  'cross-tenant staff': { user: { id: 6 }, permissions: ['articles'], staff: { tenant: null } },
  'cross-tenant staff who chose a tenant': { user: { id: 6 }, permissions: ['articles'], staff: { tenant: 1 } },
} as const satisfies Record<string, Caller>

export type CallerName = keyof typeof CALLERS

const member: Caller = CALLERS['a member']
const neighbour: Caller = CALLERS['a member of another tenant']
const chief: Caller = { user: { id: 2, organizationId: 1, role: 'chief' }, permissions: ['articles'] }

export interface Reason {
  readonly resource?: string
  readonly row?: object | null
  /** The callers do not hold the permission. */
  readonly withoutPermission?: boolean
  /** The caller also names the row's tenant in every part of the request. */
  readonly namesTenant?: boolean
  /** Changes to the request that succeeds. @default a member and a visible article */
  readonly twin?: Partial<Situation>
}

export const REASONS = {
  'nothing hides the row': {},
  'the row is another tenant\'s': { row: FOREIGN_ROW, twin: { row: FOREIGN_ROW, caller: neighbour } },
  'the row is another tenant\'s, which the caller names': {
    row: FOREIGN_ROW,
    namesTenant: true,
    twin: { row: FOREIGN_ROW, caller: neighbour },
  },
  'listFilter refuses the row': { row: SECRET_ROW, twin: { row: SECRET_ROW, caller: chief } },
  'rows of a plugin refuse the row': { row: WITHHELD_ROW, twin: { row: WITHHELD_ROW, caller: chief } },
  'objectLevel refuses the row': { row: SEALED_ROW, twin: { row: SEALED_ROW, caller: chief } },
  'the row is in the trash': { row: { ...VISIBLE_ROW, ...IN_TRASH } },
  'the row is not in the trash': {},
  'there is no such row': { row: null },
  'the permission is missing': { withoutPermission: true },
  'the permission is false': { resource: 'closed' },
  'the resource has no authorization': { resource: 'forgotten' },
} as const satisfies Record<string, Reason>

export type ReasonName = keyof typeof REASONS

export function situationOf(name: ReasonName, callerName: CallerName): Situation {
  const { resource = 'articles', row = VISIBLE_ROW, withoutPermission = false }: Reason = REASONS[name]
  const caller: Caller = CALLERS[callerName]
  const stripped = withoutPermission && !caller.permissions?.includes('*') ? { ...caller, permissions: ['tags'] } : caller
  return { resource, row, caller: stripped }
}

/** The same request with a caller and a row for which it succeeds. */
export function twinOf(name: ReasonName): Situation {
  const { twin }: Reason = REASONS[name]
  return { resource: 'articles', row: VISIBLE_ROW, caller: member, ...twin }
}

/** The row before the request: in the trash for requests that restore, unless the reason itself is about the trash. */
export function rowOf({ row }: Situation, reason: ReasonName | undefined, ofTrash: boolean): object | null {
  return row && ofTrash && !(reason && ABOUT_TRASH.has(reason)) ? { ...row, ...IN_TRASH } : row
}

const ABOUT_TRASH: ReadonlySet<ReasonName> = new Set(['the row is in the trash', 'the row is not in the trash'])
