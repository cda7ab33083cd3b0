/** Whose rows: every reason a row may be invisible, in one predicate. Nothing reaches the database without it. */
import { and, eq, is, isNull as isNullColumn, sql, SQL, type Column, type Table } from 'drizzle-orm'
import type { Operation } from '../../../shared/operations'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import type { Call } from '../context'
import { inContext } from './authorize'
import type { TrashMode } from '../../../shared/query'
import { equals, fromSql, isNotNull, sameBytes, isNull, NO_ROWS, type Clause } from '../sql/clause'
import { tenantScope } from './tenant'

export interface Plan {
  readonly resource: Resource
  /** Which side of the trash the plan looks at. */
  readonly trash: TrashMode
  /** Plans over other resources whose rows hang on these. */
  readonly include?: readonly { readonly plan: Plan, readonly through?: Plan }[]
}

declare const scoped: unique symbol

/** A plan whose rows are limited to what the caller may see. Only this file makes one, and only one can be executed. */
export type Scoped<P extends Plan> = Omit<P, 'include'> & RowRules & {
  readonly include: readonly ScopedInclude<NonNullable<P['include']>[number]>[]
  readonly [scoped]: true
}

type ScopedInclude<I> = I extends { readonly plan: infer Q extends Plan }
  ? Omit<I, 'plan' | 'through'> & { readonly plan: Scoped<Q>, readonly through?: Scoped<Plan> }
  : never

export interface RowRules {
  /** What SQL can say of the visible rows. */
  readonly scope: readonly Clause[]
  /** What only code can say: judged row by row, after SQL. Absent where nothing is left to say. */
  readonly accepts?: (row: Record<string, unknown>) => Promise<boolean>
  /** Whether the caller may read a row that is refused for the operation: then it is forbidden, not hidden. */
  readonly canRead?: (row: Record<string, unknown>) => Promise<boolean>
}

/**
 * @param operation what the rows are wanted for; reading, for another resource than the request's.
 * @param reach `'tenant'`: every active row of the tenant, for references that are declared to be that lenient.
 */
export async function applyScope<P extends Plan>(
  call: Call,
  plan: P,
  operation: Operation = plan.resource === call.resource ? call.ctx.operation : 'read',
  reach: 'all' | 'tenant' = 'all',
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

/** Another plan over the same rows: a scope may be narrowed by its conditions, never widened. */
export function within<P extends Plan, Q extends Plan>(outer: Scoped<P>, plan: Omit<Q, keyof Plan>): Scoped<Q> {
  const { resource, trash, scope, accepts, canRead } = outer
  return { ...plan, resource, trash, scope, accepts, canRead, include: [] } as unknown as Scoped<Q>
}

/** Every row of every tenant: for the server's own work, which no request starts and no caller sees. */
export function everyRow<P extends Plan>(plan: P): Scoped<P> {
  return { ...plan, scope: ofTrash(plan.resource, plan.trash), include: [] } as unknown as Scoped<P>
}

/** The same rows, and of them only those that also meet these conditions. */
export function narrow<P extends Plan & { readonly where: readonly Clause[] }>(plan: Scoped<P>, where: readonly Clause[]): Scoped<P> {
  return { ...plan, where: [...plan.where, ...where] }
}

/** The same rows by other conditions, such as the keys that the plan's own conditions have found. The scope stays as it is. */
export function foundBy<P extends Plan & { readonly where: readonly Clause[] }>(plan: Scoped<P>, where: readonly Clause[]): Scoped<P> {
  return { ...plan, where }
}

/** tenant ∧ active ∧ listFilter ∧ objectLevel */
async function rowRules(call: Call, { resource, trash }: Plan, operation: Operation, reach: 'all' | 'tenant'): Promise<RowRules> {
  if (reach === 'tenant') return { scope: [...ofTenant(call, resource), ...ofTrash(resource, trash)] }
  const rule = resource.auth?.objectLevel
  return {
    scope: [...ofTenant(call, resource), ...ofTrash(resource, trash), ...await ofListFilter(call, resource, operation)],
    ...rule && { accepts: objectLevelRule(call, resource, operation), canRead: objectLevelRule(call, resource, 'read') },
  }
}

/**
 * The same rules as SQL, for custom queries; over the resource's table, or an alias of it.
 * What `objectLevel` says is not in it: SQL cannot say that.
 */
export async function scopeSql(call: Call, resource: Resource, table: Table): Promise<SQL> {
  const column = (field: Field) => (table as unknown as Record<string, Column>)[field.name]!
  const scope = tenantScope(call.ctx, resource)
  const { deletedAt } = resource.roles
  const filter = await listFilterOf(call, resource, resource === call.resource ? call.ctx.operation : 'read', table)
  return and(
    scope === 'none' ? sql`1 = 0` : scope.all ? undefined : isTenant(resource.tenant!, column(resource.tenant!), scope.id),
    deletedAt ? isNullColumn(column(deletedAt)) : undefined,
    filter,
  ) ?? sql`1 = 1`
}

/** As {@link ofTenant}, over the column of an alias. */
function isTenant(field: Field, column: Column, id: unknown): SQL | undefined {
  return field.bytes ? sameBytes(column, sql`${sql.param(field.encode(id))}`, field.bytes) : eq(column, id)
}

function ofTenant(call: Call, resource: Resource): readonly Clause[] {
  const scope = tenantScope(call.ctx, resource)
  if (scope === 'none') return [NO_ROWS]
  return scope.all ? [] : [equals(resource.tenant!, scope.id)]
}

function ofTrash({ roles }: Resource, trash: TrashMode): readonly Clause[] {
  if (trash === 'trashed') return [roles.deletedAt ? isNotNull(roles.deletedAt) : NO_ROWS]
  return roles.deletedAt && trash === 'active' ? [isNull(roles.deletedAt)] : []
}

async function ofListFilter(call: Call, resource: Resource, operation: Operation): Promise<readonly Clause[]> {
  const filter = await listFilterOf(call, resource, operation, resource.table)
  return filter === undefined ? [] : [fromSql(call.engine, filter)]
}

async function listFilterOf(call: Call, resource: Resource, operation: Operation, table: Table): Promise<SQL | undefined> {
  const filter = await resource.auth?.listFilter?.(table, inContext(call, resource, operation))
  // `null` or `false` may be a condition that was meant and got lost: not a reason to show every row.
  if (filter !== undefined && !is(filter, SQL))
    throw new TypeError(`[auto-api] \`${resource.name}.authorization.listFilter\` returned something that is neither SQL nor undefined.`)
  return filter
}

function objectLevelRule(call: Call, resource: Resource, operation: Operation): RowRules['accepts'] {
  const ctx = inContext(call, resource, operation)
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
