/** Row scope: limits plans to the rows that the caller can use. Every plan gets its scope before it is executed. */
import type { SQL, Table } from 'drizzle-orm'
import type { Operation } from '../../../shared/operations'
import type { TrashMode } from '../../../shared/query'
import type { Resource } from '../../schema/model'
import { andThen, type Awaitable } from '../awaitable'
import type { Call } from '../request/session'
import { and, fromSql, NO_ROWS } from '../sql/conditions'
import type { Order } from '../sql/keyset'
import { where, type Where } from '../sql/where'
import { isAuthorized } from './authorize'
import type {
  Plan, PlannedOrder, RelatedOrder, RelatedValue, RelationCount, RelationFilter, RowRules, Scoped, ScopedCount, ScopedRelatedValue,
  ScopedRelationFilter,
} from './plan'
import { relatedClauses } from './related'
import { computedOrder } from './related-order'
import { rowRules, trashClauses, type AppliedRules } from './row-rules'

export type { Plan, Scoped, RowRules } from './plan'

/**
 * Limits a plan, the plans of its includes, relation filters and relation counts to the rows the caller can use.
 * @param operation The operation that the caller performs on the rows. The default is that of the call.
 */
export function applyScope<P extends Plan>(
  call: Call,
  plan: P,
  operation: Operation = call.ctx.operation,
  rules: AppliedRules = 'all',
): Awaitable<Scoped<P>> {
  const include = plan.include?.length ? scopeIncludes(call, plan.include) : NO_INCLUDES
  return andThen(include, include => scopeRows(call, plan, operation, rules, include))
}

type ScopedIncludes = Scoped<Plan>['include']

const NO_INCLUDES: ScopedIncludes = Object.freeze([])

async function scopeIncludes(call: Call, include: NonNullable<Plan['include']>): Promise<ScopedIncludes> {
  const scopedIncludes = []
  for (const { plan, through, ...rest } of include) {
    const scoped = applyScope(call, plan, 'read')
    const junction = through && applyScope(call, through, 'read')
    scopedIncludes.push({
      ...rest,
      plan: await scoped,
      ...junction && { through: await junction },
    })
  }
  return scopedIncludes
}

function scopeRows<P extends Plan>(
  call: Call, plan: P, operation: Operation, rules: AppliedRules, include: ScopedIncludes,
): Awaitable<Scoped<P>> {
  const { relationFilters, counts } = plan
  return andThen(rowRules(call, plan, operation, rules), ({ scope, accepts, canRead }) => {
    const scoped = { ...plan, scope, accepts, canRead, include } as unknown as Scoped<P>
    return relationFilters || counts || sortsRelated(plan) ? scopeRelated(call, plan, scoped) : scoped
  })
}

type RelatedPlan = Plan & { readonly order?: readonly PlannedOrder[] }

const isRelated = (order: PlannedOrder): order is RelatedOrder => 'related' in order
const sortsRelated = ({ order }: RelatedPlan) => order?.some(isRelated)

async function scopeRelated<P extends Plan>(call: Call, plan: P, scoped: Scoped<P>): Promise<Scoped<P>> {
  const { relationFilters: filters, counts }: Plan = plan
  const filtered = filters ? withRelated(scoped, await scopeFilters(call, filters), call) : scoped
  const counted = counts ? { ...filtered, counts: await Promise.all(counts.map(count => scopeCount(call, count))) } : filtered
  return sortsRelated(plan) ? { ...counted, ...await scopeOrder(call, (plan as RelatedPlan).order!) } : counted
}

async function scopeOrder(call: Call, planned: readonly PlannedOrder[]): Promise<Pick<Scoped<ReadOrder>, 'order' | 'sortedBy'>> {
  const sortedBy: Scoped<Plan>[] = []
  const order: Order[] = []
  for (const [index, one] of planned.entries())
    order.push(isRelated(one) ? computedOrder(call.engine, one, await scopeValue(call, one.related, sortedBy), index) : one)
  return { order, sortedBy }
}

type ReadOrder = Plan & Required<RelatedPlan>

/** The value of rows that an include would show. @param plans receives the plans of these rows */
async function scopeValue(call: Call, { of, ...rows }: RelatedValue, plans: Scoped<Plan>[]): Promise<ScopedRelatedValue> {
  const scoped = await scopeCount(call, rows)
  plans.push(scoped.plan, ...scoped.through ? [scoped.through] : [])
  return { ...scoped, of: of && 'relation' in of ? await scopeValue(call, of, plans) : of }
}

/** A filter finds the rows that an include would show: the active ones that the caller can read. */
function scopeFilters(call: Call, filters: readonly RelationFilter[]): Promise<readonly ScopedRelationFilter[]> {
  return Promise.all(filters.map(async (filter): Promise<ScopedRelationFilter> => {
    if ('branches' in filter) {
      const branches = filter.branches.map(async (branch) => {
        const relationFilters = await scopeFilters(call, branch.relationFilters)
        return { ...branch, relationFilters }
      })
      return { ...filter, branches: await Promise.all(branches) }
    }
    const { match, count } = filter
    return { match, ...count && { count }, ...await scopeCount(call, filter) }
  }))
}

/** Limits related rows to those that an include would show: the active ones that the caller can read. */
async function scopeCount(call: Call, { relation, plan, through }: RelationCount): Promise<ScopedCount> {
  return {
    relation,
    plan: await applyScope(call, plan, 'read'),
    ...(through && { through: await applyScope(call, through, 'read') }),
  }
}

/** Replaces the relation filters of the plan, for example after a text search has found the keys of their rows. */
export function withRelated<P extends Plan>(plan: Scoped<P>, filters: readonly ScopedRelationFilter[], { engine }: Call): Scoped<P> {
  const clauses = relatedClauses(engine, filters)
  return { ...plan, relationFilters: undefined, where: [...ownConditions(plan), ...clauses], related: { filters, clauses } }
}

/** Returns the conditions of the plan's `where` that are not about related rows. */
export function ownConditions(plan: Scoped<Plan>): readonly Where[] {
  const { where = [] } = plan as { where?: readonly Where[] }
  return plan.related ? where.filter(clause => !plan.related!.clauses.includes(clause)) : where
}

/** Gives `plan` the row scope of `outer`. The conditions of `plan` can narrow this scope, but not widen it. */
export function within<P extends Plan, Q extends Plan>(outer: Scoped<P>, plan: Omit<Q, keyof Plan>): Scoped<Q> {
  const { resource, trash, scope, accepts, canRead } = outer
  return { ...plan, resource, trash, scope, accepts, canRead, include: [] } as unknown as Scoped<Q>
}

/**
 * Adds the rows that the caller can read to those that the caller can use for the operation: together the rows that do not get a 404. SQL
 * has the same conditions for both.
 */
export function withReadable<P extends Plan>(plan: Scoped<P>): Scoped<P> {
  const { accepts, canRead } = plan
  return accepts ? { ...plan, accepts: async row => await accepts(row) || await canRead!(row) } : plan
}

/** Scopes a plan to the rows of all tenants, for scheduled tasks. No response contains these rows. */
export function everyRow<P extends Plan>(plan: P): Scoped<P> {
  return { ...plan, scope: trashClauses(plan.resource, plan.trash), include: [], counts: undefined } as unknown as Scoped<P>
}

/** Adds conditions to the plan. */
export function narrow<P extends Plan & { readonly where: readonly Where[] }>(plan: Scoped<P>, where: readonly Where[]): Scoped<P> {
  return { ...plan, where: [...plan.where, ...where] }
}

/** Replaces the conditions of the plan, for example with the keys of the rows it found. The scope does not change. */
export function withConditions<P extends Plan & { readonly where: readonly Where[] }>(
  plan: Scoped<P>,
  where: readonly Where[],
): Scoped<P> {
  return { ...plan, where }
}

/**
 * Returns the row scope for a custom query: a SQL condition on the resource's table or on an alias of it.
 * The condition leaves out `objectLevel`, because SQL cannot express it.
 */
export async function scopeSql(call: Call, resource: Resource, table: Table, trash: TrashMode = 'active'): Promise<SQL> {
  const { scope } = await rowRules(call, { resource, trash }, call.ctx.operation, 'all', table)
  // An app can negate it, or combine it with `or`.
  return where`(${and(scope)})`.getSQL()
}

/**
 * The condition for the active rows that the caller can read, on the resource's table or on an alias of it. It matches no row for a caller
 * who cannot read the resource.
 */
export async function readableRows(call: Call, resource: Resource, table: Table): Promise<Where> {
  if (call.api.rowChecks.has(resource))
    throw new TypeError(`[auto-api] A plugin checks the rows of \`${resource.name}\` in code. A computed field cannot use their row scope.`)
  if (!await isAuthorized(call, resource, 'read')) return NO_ROWS
  return fromSql(and((await readRules(call, resource, table)).scope))
}

/** The rules for the active rows that the caller can read, on the resource's table or on an alias of it. It checks no permission. */
export const readRules = (call: Call, resource: Resource, table: Table = resource.table): Awaitable<RowRules> =>
  rowRules(call, { resource, trash: 'active' }, 'read', 'all', table)

/** Like {@link scopeSql}, on the resource's table, as a clause for another statement. */
export async function scopeClause(call: Call, resource: Resource, trash: TrashMode): Promise<Where> {
  return and((await rowRules(call, { resource, trash }, call.ctx.operation, 'all')).scope)
}
