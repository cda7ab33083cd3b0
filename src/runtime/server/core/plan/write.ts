/** Plans a write. Every write is a batch of items; the routes of one record pass one item. */
import type { Table } from 'drizzle-orm'
import type { Call } from '../context'
import { readableFields, type Selection } from '../access/fields'
import type { WriteRequest, WriteItem } from '../parse/write'
import type { Plan } from '../access/row-scope'
import { requireTenantId } from '../access/tenant'

export type WriteKind = 'create' | 'update' | 'delete' | 'restore' | 'purge'

export interface WritePlan extends Plan {
  readonly kind: WriteKind
  readonly items: readonly WriteItem[]
  readonly bulk: boolean
  /** All items or none. */
  readonly atomic: boolean
  /** The columns of the response. */
  readonly selection: Selection
  /** The tenant of new rows, as the column stores it. */
  readonly tenantId?: unknown
  /** A cascade group in the trash, instead of items. */
  readonly deletionId?: string
  /** Tables whose rows of the group are items of their own: a restore does not cascade to them. */
  readonly separateTables?: ReadonlySet<Table>
  /** Why rows go to the trash, in the caller's words. */
  readonly reason?: string
}

/** The rows each write finds: purge active and trashed ones, restore trashed ones, the others active ones. */
const TRASH: Readonly<Record<WriteKind, Plan['trash']>> = {
  create: 'active',
  update: 'active',
  delete: 'active',
  restore: 'trashed',
  purge: 'both',
}

const planWrite = (kind: WriteKind) => async (request: WriteRequest, call: Call): Promise<WritePlan> => ({
  ...request,
  resource: call.resource,
  kind,
  trash: TRASH[kind],
  // Restore and purge are always atomic, whatever `bulk.transactional` says.
  atomic: !request.bulk || kind === 'restore' || kind === 'purge' || call.api.config.bulk.transactional,
  selection: await readableFields(call),
  ...kind === 'create' && call.resource.tenant && { tenantId: requireTenantId(call) },
})

export const planCreate = planWrite('create')
export const planUpdate = planWrite('update')
export const planRestore = planWrite('restore')
export const planPurge = planWrite('purge')

/** A delete with `?force=true` is a purge. */
export const planDelete = (request: WriteRequest, call: Call) =>
  call.ctx.operation === 'purge' ? planPurge(request, call) : planWrite('delete')(request, call)
