/**
 * Row scope: combines the tenant, the trash mode, `listFilter`, the row filters of plugins and `objectLevel`. Every plan gets its scope
 * before it is executed.
 */
import { is, SQL, type Column, type Table } from 'drizzle-orm'
import type { Operation } from '../../../shared/operations'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import type { Call } from '../request/session'
import { logError } from '../process/log'
import type { AutoApiContext } from '../../registration'
import type { PluginRowFilter } from '../extensions/row-filters'
import { andThen, inTurn, type Awaitable } from '../awaitable'
import { contextFor, isAuthorized } from './authorize'
import { limitsOf, ownerSession } from '../request/limits'
import type { TrashMode } from '../../../shared/query'
import type {
  Plan, PlannedOrder, RelatedOrder, RelatedValue, RelationCount, RelationFilter, RowRules, Scoped, ScopedCount, ScopedRelatedValue,
  ScopedRelationFilter,
} from './plan'
import { relatedClauses } from './related'
import { computedOrder } from './related-order'
import type { Order } from '../sql/keyset'
import { and, equals, fromSql, isNotNull, isNull, manyRows, NO_ROWS } from '../sql/conditions'
import { where, Where } from '../sql/where'
import { tenantScope } from './tenant'

export type { Plan, Scoped, RowRules } from './plan'

/** `'all'` applies every rule. `'tenant'` applies only tenant and trash, for references that are declared that way. */
type AppliedRules = 'all' | 'tenant'

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

/**
 * Combines tenant, trash mode, row filters and `objectLevel` with AND. A promise only if the app or a plugin has a rule for the rows.
 * @param table the resource's table or an alias of it
 */
function rowRules(
  call: Call,
  { resource, trash }: Plan,
  operation: Operation,
  rules: AppliedRules,
  table: Table = resource.table,
): Awaitable<RowRules> {
  const tenantAndTrash = [...tenantClauses(call, resource, table), ...trashClauses(resource, trash, table)]
  return rules === 'tenant' || !hasRules(call, resource)
    ? { scope: tenantAndTrash }
    : addRules(tenantAndTrash, call, resource, operation, table)
}

const hasRules = ({ api: { rowFilters, rowChecks } }: Call, resource: Resource) =>
  resource.auth?.listFilter !== undefined || resource.auth?.objectLevel !== undefined || rowFilters.has(resource) || rowChecks.has(resource)

function addRules(
  tenantAndTrash: readonly Where[], call: Call, resource: Resource, operation: Operation, table: Table,
): Awaitable<RowRules> {
  return andThen(filterClauses(call, resource, operation, table), (filters) => {
    const scope = filters.length === 0 ? tenantAndTrash : [...tenantAndTrash, ...filters]
    return resource.auth?.objectLevel || call.api.rowChecks.has(resource) ? addChecks(scope, call, resource, operation) : { scope }
  })
}

async function addChecks(scope: readonly Where[], call: Call, resource: Resource, operation: Operation): Promise<RowRules> {
  const accepts = await rowRule(call, resource, operation)
  return accepts ? { scope, accepts, canRead: await rowRule(call, resource, 'read') } : { scope }
}

/** Combines `objectLevel` and the row checks of plugins. Returns `undefined` if no rule runs in code. */
async function rowRule(call: Call, resource: Resource, operation: Operation): Promise<RowRules['accepts']> {
  const rules: NonNullable<RowRules['accepts']>[] = []
  if (resource.auth?.objectLevel) rules.push(objectLevelRule(call, resource, operation)!)
  for (const toCheck of call.api.rowChecks.get(resource) ?? []) {
    const check = await toCheck(contextFor(call, resource, operation))
    if (check) rules.push(async row => check(row))
  }
  if (rules.length < 2) return rules[0]
  return async (row) => {
    for (const rule of rules) if (!await rule(row)) return false
    return true
  }
}

function tenantClauses(call: Call, resource: Resource, table: Table): readonly Where[] {
  const tenant = tenantScope(call.ctx, resource)
  if (tenant === 'none') return [NO_ROWS]
  return tenant.all ? [] : [manyRows(equals(fieldIn(table, resource, resource.tenant!), tenant.id), call.engine)]
}

function trashClauses(resource: Resource, trash: TrashMode, table: Table = resource.table): readonly Where[] {
  const { deletedAt } = resource.roles
  if (!deletedAt) return trash === 'trashed' ? [NO_ROWS] : []
  if (trash === 'both') return []
  const field = fieldIn(table, resource, deletedAt)
  return [trash === 'trashed' ? isNotNull(field) : isNull(field)]
}

/** Returns the field with the column of `table`, which is the resource's table or an alias of it. */
function fieldIn(table: Table, resource: Resource, field: Field): Field {
  return table === resource.table ? field : { ...field, column: (table as unknown as Record<string, Column>)[field.name]! }
}

/** Returns the clauses of `listFilter` and of the row filters of plugins. Each of them only narrows the rows. */
function filterClauses(
  call: Call, resource: Resource, operation: Operation, table: Table,
): Awaitable<readonly Where[]> {
  const { auth } = resource
  const ofPlugins = call.api.rowFilters.get(resource) ?? NO_FILTERS
  // A context of its own costs a request more than the rest of this function, so a resource without filters gets none.
  if (!auth?.listFilter && ofPlugins.length === 0) return []
  const filters: NamedFilter[] = []
  for (const ctx of contextsOf(call, contextFor(call, resource, operation))) {
    if (auth?.listFilter) filters.push({ condition: () => auth.listFilter!(table, ctx) })
    for (const { plugin, filter } of ofPlugins) filters.push({ plugin, condition: () => filter(table, ctx) })
  }
  const clauses: Where[] = []
  const asking = inTurn(filters, filter => andThen(filter.condition(), condition => addClause(clauses, condition, filter, resource)))
  return andThen(asking, () => clauses)
}

const NO_FILTERS: readonly PluginRowFilter[] = []

/** `listFilter`, or the row filter of a plugin. */
interface NamedFilter {
  readonly plugin?: string
  readonly condition: () => unknown
}

function addClause(clauses: Where[], condition: unknown, { plugin }: NamedFilter, { name }: Resource): void {
  // `null` or `false` is probably a mistake, such as a condition that is missing. It must not show every row.
  if (condition === undefined) return
  if (condition instanceof Where) return void clauses.push(condition)
  if (is(condition, SQL)) return void clauses.push(fromSql(condition))
  const rule = plugin === undefined ? `\`${name}.authorization.listFilter\`` : `\`rows\` of the plugin \`${plugin}\` for \`${name}\``
  throw new TypeError(`[auto-api] ${rule} returned something that is neither SQL nor undefined.`)
}

/** The contexts that a rule receives, all of which must allow a row: that of the caller and, for a credential with scopes, of its owner. */
function contextsOf(call: Call, ctx: AutoApiContext): readonly AutoApiContext[] {
  const limits = limitsOf(ctx)
  return limits?.scopes ? [ctx, ownerSession(call, ctx, limits).ctx] : [ctx]
}

function objectLevelRule(call: Call, resource: Resource, operation: Operation): RowRules['accepts'] {
  const ctx = contextFor(call, resource, operation)
  const contexts = contextsOf(call, ctx)
  return async (row) => {
    try {
      for (const asked of contexts) if (!await resource.auth!.objectLevel!(row, asked)) return false
      return true
    }
    catch (error) {
      logError(ctx, `\`${resource.name}.authorization.objectLevel\` threw; the row is not shown.`, error)
      return false
    }
  }
}
