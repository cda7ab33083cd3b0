/**
 * Row scope: combines the tenant, the trash mode, `listFilter`, the row filters of plugins and `objectLevel`. Every plan gets its scope
 * before it is executed.
 */
import { and, is, sql, SQL, type Column, type Table } from 'drizzle-orm'
import type { Operation } from '../../../shared/operations'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import type { Call } from '../context'
import { logError } from '../log'
import type { AutoApiContext } from '../../registration'
import { contextFor } from './authorize'
import { limitsOf, ownerSession } from './limits'
import type { TrashMode } from '../../../shared/query'
import type { Plan, RelationFilter, RowRules, Scoped, ScopedRelationFilter } from './plan'
import { relatedClauses } from './related'
import { and as allOf, equals, fromSql, isNotNull, isNull, manyRows, NO_ROWS, RowClause, type Clause } from '../sql/clause'
import { tenantScope } from './tenant'

export type { Plan, Scoped, RowRules } from './plan'

/** `'all'` applies every rule. `'tenant'` applies only tenant and trash, for references that are declared that way. */
type AppliedRules = 'all' | 'tenant'

/**
 * Limits a plan, the plans of its includes and those of its relation filters to the rows the caller can use.
 * @param operation The operation that the caller performs on the rows. The default is that of the call.
 */
export async function applyScope<P extends Plan>(
  call: Call,
  plan: P,
  operation: Operation = call.ctx.operation,
  rules: AppliedRules = 'all',
): Promise<Scoped<P>> {
  const include = []
  for (const { plan: inner, through, ...rest } of plan.include ?? []) {
    include.push({
      ...rest,
      plan: await applyScope(call, inner, 'read'),
      ...(through && { through: await applyScope(call, through, 'read') }),
    })
  }
  const ruling = rowRules(call, plan, operation, rules)
  const scoped = { ...plan, ...ruling instanceof Promise ? await ruling : ruling, include } as unknown as Scoped<P>
  const { relationFilters } = plan
  return relationFilters ? withRelated(scoped, await scopeFilters(call, relationFilters), call) : scoped
}

/** A filter finds the rows that an include would show: the active ones that the caller can read. */
function scopeFilters(call: Call, filters: readonly RelationFilter[]): Promise<readonly ScopedRelationFilter[]> {
  return Promise.all(filters.map(async (filter): Promise<ScopedRelationFilter> => {
    if ('anyOf' in filter) {
      const branches = filter.anyOf.map(async branch => ({ ...branch, relationFilters: await scopeFilters(call, branch.relationFilters) }))
      return { anyOf: await Promise.all(branches) }
    }
    const { relation, match, plan, through } = filter
    return {
      relation, match,
      plan: await applyScope(call, plan, 'read'),
      ...(through && { through: await applyScope(call, through, 'read') }),
    }
  }))
}

/** Replaces the relation filters of the plan, for example after a text search has found the keys of their rows. */
export function withRelated<P extends Plan>(plan: Scoped<P>, filters: readonly ScopedRelationFilter[], { engine }: Call): Scoped<P> {
  const clauses = relatedClauses(engine, filters)
  return { ...plan, relationFilters: undefined, where: [...ownConditions(plan), ...clauses], related: { filters, clauses } }
}

/** Returns the conditions of the plan's `where` that are not about related rows. */
export function ownConditions(plan: Scoped<Plan>): readonly Clause[] {
  const { where = [] } = plan as { where?: readonly Clause[] }
  return plan.related ? where.filter(clause => !plan.related!.clauses.includes(clause)) : where
}

/** Gives `plan` the row scope of `outer`. The conditions of `plan` can narrow this scope, but not widen it. */
export function within<P extends Plan, Q extends Plan>(outer: Scoped<P>, plan: Omit<Q, keyof Plan>): Scoped<Q> {
  const { resource, trash, scope, accepts, canRead } = outer
  return { ...plan, resource, trash, scope, accepts, canRead, include: [] } as unknown as Scoped<Q>
}

/** Scopes a plan to the rows of all tenants, for scheduled tasks. No response contains these rows. */
export function everyRow<P extends Plan>(plan: P): Scoped<P> {
  return { ...plan, scope: trashClauses(plan.resource, plan.trash), include: [] } as unknown as Scoped<P>
}

/** Adds conditions to the plan. */
export function narrow<P extends Plan & { readonly where: readonly Clause[] }>(plan: Scoped<P>, where: readonly Clause[]): Scoped<P> {
  return { ...plan, where: [...plan.where, ...where] }
}

/** Replaces the conditions of the plan, for example with the keys of the rows it found. The scope does not change. */
export function withConditions<P extends Plan & { readonly where: readonly Clause[] }>(
  plan: Scoped<P>,
  where: readonly Clause[],
): Scoped<P> {
  return { ...plan, where }
}

/**
 * Returns the row scope for a custom query: a SQL condition on the resource's table or on an alias of it.
 * The condition leaves out `objectLevel`, because SQL cannot express it.
 */
export async function scopeSql(call: Call, resource: Resource, table: Table, trash: TrashMode = 'active'): Promise<SQL> {
  const { scope } = await rowRules(call, { resource, trash }, call.ctx.operation, 'all', table)
  return and(...scope.map(({ build }) => build())) ?? sql`1 = 1`
}

/** Like {@link scopeSql}, on the resource's table, as a clause for another statement. */
export async function scopeClause(call: Call, resource: Resource, trash: TrashMode): Promise<Clause> {
  return allOf((await rowRules(call, { resource, trash }, call.ctx.operation, 'all')).scope)
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
): RowRules | Promise<RowRules> {
  const tenantAndTrash = [...tenantClauses(call, resource, table), ...trashClauses(resource, trash, table)]
  return rules === 'tenant' || !hasRules(call, resource)
    ? { scope: tenantAndTrash }
    : addRules(tenantAndTrash, call, resource, operation, table)
}

const hasRules = ({ api: { rowFilters, rowChecks } }: Call, resource: Resource) =>
  resource.auth?.listFilter !== undefined || resource.auth?.objectLevel !== undefined || rowFilters.has(resource) || rowChecks.has(resource)

async function addRules(
  tenantAndTrash: readonly Clause[], call: Call, resource: Resource, operation: Operation, table: Table,
): Promise<RowRules> {
  const scope = [...tenantAndTrash, ...await filterClauses(call, resource, operation, table)]
  if (!resource.auth?.objectLevel && !call.api.rowChecks.has(resource)) return { scope }
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

function tenantClauses(call: Call, resource: Resource, table: Table): readonly Clause[] {
  const tenant = tenantScope(call.ctx, resource)
  if (tenant === 'none') return [NO_ROWS]
  return tenant.all ? [] : [manyRows(equals(fieldIn(table, resource, resource.tenant!), tenant.id), call.engine)]
}

function trashClauses(resource: Resource, trash: TrashMode, table: Table = resource.table): readonly Clause[] {
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
async function filterClauses(call: Call, resource: Resource, operation: Operation, table: Table): Promise<readonly Clause[]> {
  const ofPlugins = call.api.rowFilters.get(resource) ?? []
  // A context of its own costs a request more than the rest of this function, so a resource without filters gets none.
  if (!resource.auth?.listFilter && ofPlugins.length === 0) return []
  const ctx = contextFor(call, resource, operation)
  const clauses: Clause[] = []
  const add = (filter: unknown, rule: string) => {
    // `null` or `false` is probably a mistake, such as a condition that is missing. It must not show every row.
    if (filter === undefined) return
    if (!(filter instanceof RowClause) && !is(filter, SQL))
      throw new TypeError(`[auto-api] ${rule} returned something that is neither SQL nor undefined.`)
    clauses.push(filter instanceof RowClause ? filter : fromSql(call.engine, filter))
  }
  for (const asked of contextsOf(call, ctx)) {
    const filter = resource.auth?.listFilter?.(table, asked)
    add(filter instanceof SQL ? filter : await filter, `\`${resource.name}.authorization.listFilter\``)
    for (const { plugin, filter } of ofPlugins)
      add(await filter(table, asked), `\`rows\` of the plugin \`${plugin}\` for \`${resource.name}\``)
  }
  return clauses
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
