/** Plans a write. Every write is a batch of items. The routes for a single record pass one item. */
import type { Table } from 'drizzle-orm'
import type { Key } from '../../schema/record-id'
import type { Call } from '../request/session'
import { defaultFields, readableFields, taggedFields, type Selection } from '../access/fields'
import { reviserOf, type Revise } from './record-revision'
import { andThen, type Awaitable } from '../awaitable'
import type { WriteRequest, WriteItem } from '../parse/write'
import { hasNested } from '../parse/write-item'
import type { Plan } from '../access/row-scope'
import { requireTenantId } from '../access/tenant'

export type WriteKind = 'create' | 'update' | 'delete' | 'restore' | 'purge'

export interface WritePlan extends Plan {
  readonly kind: WriteKind
  readonly items: readonly WriteItem[]
  readonly bulk: boolean
  /** Whether the write changes all items or none. */
  readonly atomic: boolean
  /** The columns of the response. */
  readonly selection: Selection
  /**
   * The fields that a statement returns.
   * @default those of the response and of the entity tag
   */
  readonly returned?: Selection
  /** The fields of the entity tag of a record. It is absent if neither the request nor the response has a tag. */
  readonly tagged?: Selection
  readonly revise?: Revise
  /** The tenant of new rows, as the column stores it. */
  readonly tenantId?: unknown
  /** Identifies a cascade group in the trash. Such a plan has no items. */
  readonly deletionId?: string
  /** The rows of a group, by table. A cascade does not report them, and a restore does not cascade to their tables. */
  readonly groupRows?: ReadonlyMap<Table, readonly Key[]>
  /** The caller's reason for the delete. */
  readonly reason?: string
  /** The rows that a preview has shown to the caller. */
  readonly confirm?: string
}

/** The rows that each kind of write selects: active rows, rows in the trash, or both. */
const TRASH: Readonly<Record<WriteKind, Plan['trash']>> = {
  create: 'active',
  update: 'active',
  delete: 'active',
  restore: 'trashed',
  purge: 'both',
}

/** The writes whose responses contain the record. */
const RETURNS_RECORD: ReadonlySet<WriteKind> = new Set(['create', 'update', 'restore'])

/** The record of a dry run is not saved, so it has no tag. */
const returnsTag = (kind: WriteKind, { api: { config }, ctx }: Call) => config.http.etag && !ctx.dryRun && RETURNS_RECORD.has(kind)

/** A promise only if a field has a rule, or the response has a tag. */
const planWrite = (kind: WriteKind) => (request: WriteRequest, call: Call): Awaitable<WritePlan> => {
  const { items, bulk, deletionId, reason, confirm } = request
  return andThen(!bulk && returnsTag(kind, call) ? taggedFields(call) : undefined, tagged =>
    andThen(readableFields(call), (readable): WritePlan => ({
      items,
      bulk,
      deletionId,
      reason,
      confirm,
      tagged,
      revise: tagged && reviserOf(call),
      resource: call.resource,
      kind,
      trash: TRASH[kind],
      // Restores, purges and writes of children are always atomic, even if `bulk.transactional` is false.
      atomic: !bulk || kind === 'restore' || kind === 'purge' || call.api.config.bulk.transactional || items.some(hasNested),
      selection: defaultFields(readable),
      tenantId: kind === 'create' && call.resource.tenant ? requireTenantId(call) : undefined,
    })))
}

export const planCreate = planWrite('create')
export const planUpdate = planWrite('update')
export const planRestore = planWrite('restore')
export const planPurge = planWrite('purge')

/** A delete with `?force=true` is a purge. */
export const planDelete = (request: WriteRequest, call: Call) =>
  call.ctx.operation === 'purge' ? planPurge(request, call) : planWrite('delete')(request, call)
