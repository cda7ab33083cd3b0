/** Row visibility: tenant, trash, row filter and object rules as one predicate. Every plan gets it before it is executed. */
import { and, is, sql, SQL, type Column, type Table } from 'drizzle-orm'
import type { Operation } from '../../../shared/operations'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import type { Call } from '../context'
import { contextFor } from './authorize'
import type { TrashMode } from '../../../shared/query'
import { equals, fromSql, isNotNull, isNull, NO_ROWS, type Clause } from '../sql/clause'
import { tenantScope } from './tenant'

export interface Plan {
  readonly resource: Resource
  /** Whether the plan reads active rows, rows in the trash, or both. */
  readonly trash: TrashMode
  /** Plans for the rows of related resources. */
  readonly include?: readonly { readonly plan: Plan, readonly through?: Plan }[]
}

declare const scoped: unique symbol

/** A plan limited to the rows the caller can use. Only this file makes one, and only a scoped plan can be executed. */
export type Scoped<P extends Plan> = Omit<P, 'include'> & RowRules & {
  readonly include: ScopedIncludes<NonNullable<P['include']>>
  readonly [scoped]: true
}

/** Keeps tuples and the further members of each include. */
type ScopedIncludes<T extends NonNullable<Plan['include']>> = { readonly [I in keyof T]: ScopedInclude<T[I]> }

type ScopedInclude<I> = I extends { readonly plan: infer Q extends Plan }
  ? Omit<I, 'plan' | 'through'> & { readonly plan: Scoped<Q> } & ScopedThrough<I>
  : never

type ScopedThrough<I> = I extends { readonly through: Plan } ? { readonly through: Scoped<Plan> } : { readonly through?: Scoped<Plan> }

export interface RowRules {
  /** The rules that are SQL. */
  readonly scope: readonly Clause[]
  /** The rules that are code: checks one row after SQL has found it. Absent without `objectLevel`. */
  readonly accepts?: (row: Record<string, unknown>) => Promise<boolean>
  /** Whether the caller can read a row that `accepts` refuses. If so, the response is 403 instead of 404. */
  readonly canRead?: (row: Record<string, unknown>) => Promise<boolean>
}

/** `'tenant'`: every active row of the tenant, without `listFilter` and `objectLevel`; for references declared that way. */
type Reach = 'all' | 'tenant'

/**
 * Limits a plan, and the plans of its includes, to the rows the caller can use.
 * @param operation what the rows are for: by default the operation of the request, and `read` for another resource.
 */
export async function applyScope<P extends Plan>(
  call: Call,
  plan: P,
  operation: Operation = defaultOperation(call, plan.resource),
  reach: Reach = 'all',
): Promise<Scoped<P>> {
  const include = []
  for (const { plan: inner, through, ...rest } of plan.include ?? []) {
    include.push({
      ...rest,
      plan: await applyScope(call, inner, 'read'),
      ...(through && { through: await applyScope(call, through, 'read') }),
    })
  }
  return { ...plan, ...(await rowRules(call, plan, operation, reach)), include } as unknown as Scoped<P>
}

/** Another plan over the same rows. Its conditions can narrow the scope, but not widen it. */
export function within<P extends Plan, Q extends Plan>(outer: Scoped<P>, plan: Omit<Q, keyof Plan>): Scoped<Q> {
  const { resource, trash, scope, accepts, canRead } = outer
  return { ...plan, resource, trash, scope, accepts, canRead, include: [] } as unknown as Scoped<Q>
}

/** Every row of every tenant, for scheduled tasks. No caller sees these rows. */
export function everyRow<P extends Plan>(plan: P): Scoped<P> {
  return { ...plan, scope: trashClauses(plan.resource, plan.trash), include: [] } as unknown as Scoped<P>
}

/** The rows of the plan that also meet these conditions. */
export function narrow<P extends Plan & { readonly where: readonly Clause[] }>(plan: Scoped<P>, where: readonly Clause[]): Scoped<P> {
  return { ...plan, where: [...plan.where, ...where] }
}

/** Replaces the conditions of the plan, for example by the keys they found. The scope stays as it is. */
export function withConditions<P extends Plan & { readonly where: readonly Clause[] }>(
  plan: Scoped<P>,
  where: readonly Clause[],
): Scoped<P> {
  return { ...plan, where }
}

/**
 * The rows a custom query can read, as SQL over the resource's table or an alias of it.
 * Without `objectLevel`, which SQL cannot express.
 */
export async function scopeSql(call: Call, resource: Resource, table: Table): Promise<SQL> {
  const { scope } = await rowRules(call, { resource, trash: 'active' }, defaultOperation(call, resource), 'all', table)
  return and(...scope.map(({ build }) => build())) ?? sql`1 = 1`
}

const defaultOperation = (call: Call, resource: Resource): Operation => resource === call.resource ? call.ctx.operation : 'read'

/** tenant ∧ trash ∧ listFilter ∧ objectLevel, over the resource's table or an alias of it. */
async function rowRules(
  call: Call,
  { resource, trash }: Plan,
  operation: Operation,
  reach: Reach,
  table: Table = resource.table,
): Promise<RowRules> {
  const rows = [...tenantClauses(call, resource, table), ...trashClauses(resource, trash, table)]
  if (reach === 'tenant') return { scope: rows }
  const scope = [...rows, ...await listFilterClauses(call, resource, operation, table)]
  if (!resource.auth?.objectLevel) return { scope }
  return { scope, accepts: objectLevelRule(call, resource, operation), canRead: objectLevelRule(call, resource, 'read') }
}

function tenantClauses(call: Call, resource: Resource, table: Table): readonly Clause[] {
  const tenant = tenantScope(call.ctx, resource)
  if (tenant === 'none') return [NO_ROWS]
  return tenant.all ? [] : [equals(fieldIn(table, resource, resource.tenant!), tenant.id)]
}

function trashClauses(resource: Resource, trash: TrashMode, table: Table = resource.table): readonly Clause[] {
  const { deletedAt } = resource.roles
  if (!deletedAt) return trash === 'trashed' ? [NO_ROWS] : []
  if (trash === 'both') return []
  const field = fieldIn(table, resource, deletedAt)
  return [trash === 'trashed' ? isNotNull(field) : isNull(field)]
}

/** The field over the column of an alias. */
function fieldIn(table: Table, resource: Resource, field: Field): Field {
  return table === resource.table ? field : { ...field, column: (table as unknown as Record<string, Column>)[field.name]! }
}

async function listFilterClauses(call: Call, resource: Resource, operation: Operation, table: Table): Promise<readonly Clause[]> {
  const filter = await listFilterOf(call, resource, operation, table)
  return filter === undefined ? [] : [fromSql(call.engine, filter)]
}

async function listFilterOf(call: Call, resource: Resource, operation: Operation, table: Table): Promise<SQL | undefined> {
  const filter = await resource.auth?.listFilter?.(table, contextFor(call, resource, operation))
  // `null` or `false` can be a condition that was lost by mistake. It must not show every row.
  if (filter !== undefined && !is(filter, SQL))
    throw new TypeError(`[auto-api] \`${resource.name}.authorization.listFilter\` returned something that is neither SQL nor undefined.`)
  return filter
}

function objectLevelRule(call: Call, resource: Resource, operation: Operation): RowRules['accepts'] {
  const ctx = contextFor(call, resource, operation)
  return async (row) => {
    try {
      return Boolean(await resource.auth!.objectLevel!(row, ctx))
    }
    catch (error) {
      console.error(`[auto-api] \`${resource.name}.authorization.objectLevel\` threw; the row is not shown.`, error)
      return false
    }
  }
}
