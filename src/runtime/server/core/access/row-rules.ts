/**
 * The rules for the rows of one resource, each of which only narrows them: tenant, trash mode, `listFilter`, the row filters of plugins,
 * and `objectLevel` with the row checks of plugins.
 */
import { is, SQL, type Column, type Table } from 'drizzle-orm'
import type { Operation } from '../../../shared/operations'
import type { TrashMode } from '../../../shared/query'
import type { AutoApiContext } from '../../registration'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import { andThen, inTurn, type Awaitable } from '../awaitable'
import type { PluginRowFilter } from '../extensions/row-filters'
import { logError } from '../process/log'
import { limitsOf, ownerSession } from '../request/limits'
import type { Call } from '../request/session'
import { equals, fromSql, isNotNull, isNull, manyRows, NO_ROWS } from '../sql/conditions'
import { Where } from '../sql/where'
import { contextFor } from './authorize'
import type { Plan, RowRules } from './plan'
import { tenantScope } from './tenant'

/** `'all'` applies every rule. `'tenant'` applies only tenant and trash, for references that are declared that way. */
export type AppliedRules = 'all' | 'tenant'

/**
 * Combines tenant, trash mode, row filters and `objectLevel` with AND. A promise only if the app or a plugin has a rule for the rows.
 * @param table the resource's table or an alias of it
 */
export function rowRules(
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

export function tenantClauses(call: Call, resource: Resource, table: Table): readonly Where[] {
  const tenant = tenantScope(call.ctx, resource)
  if (tenant === 'none') return [NO_ROWS]
  return tenant.all ? [] : [manyRows(equals(fieldIn(table, resource, resource.tenant!), tenant.id), call.engine)]
}

export function trashClauses(resource: Resource, trash: TrashMode, table: Table = resource.table): readonly Where[] {
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
  const clauses: Where[] = []
  const add = (clause: Where | undefined) => {
    if (clause) clauses.push(clause)
  }
  const asking = inTurn(namedFilters(call, resource, operation, table), ({ clause }) => andThen(clause(), add))
  return andThen(asking, () => clauses)
}

/** `listFilter`, or the row filter of a plugin. */
export interface NamedFilter {
  /** Absent for `listFilter`. */
  readonly plugin?: string
  /** `undefined` if the filter hides no row. */
  readonly clause: () => Awaitable<Where | undefined>
}

/** Returns `listFilter` and the row filters of plugins: each once for the caller and, for a credential with scopes, once for its owner. */
export function namedFilters(call: Call, resource: Resource, operation: Operation, table: Table): readonly NamedFilter[] {
  const { auth, name } = resource
  const ofPlugins = call.api.rowFilters.get(resource) ?? NO_FILTERS
  // A context of its own costs a request more than the rest of this function, so a resource without filters gets none.
  if (!auth?.listFilter && ofPlugins.length === 0) return []
  return contextsOf(call, contextFor(call, resource, operation)).flatMap((ctx): NamedFilter[] => [
    ...auth?.listFilter ? [{ clause: () => toClause(auth.listFilter!(table, ctx), `\`${name}.authorization.listFilter\``) }] : [],
    ...ofPlugins.map(({ plugin, filter }) =>
      ({ plugin, clause: () => toClause(filter(table, ctx), `\`rows\` of the plugin \`${plugin}\` for \`${name}\``) })),
  ])
}

const NO_FILTERS: readonly PluginRowFilter[] = []

const toClause = (condition: unknown, rule: string): Awaitable<Where | undefined> =>
  andThen(condition, (condition): Where | undefined => {
    // `null` or `false` is probably a mistake, such as a condition that is missing. It must not show every row.
    if (condition === undefined || condition instanceof Where) return condition
    if (is(condition, SQL)) return fromSql(condition)
    throw new TypeError(`[auto-api] ${rule} returned something that is neither SQL nor undefined.`)
  })

/** The contexts that a rule receives, all of which must allow a row: that of the caller and, for a credential with scopes, of its owner. */
function contextsOf(call: Call, ctx: AutoApiContext): readonly AutoApiContext[] {
  const limits = limitsOf(ctx)
  return limits?.scopes ? [ctx, ownerSession(call, ctx, limits).ctx] : [ctx]
}

export function objectLevelRule(call: Call, resource: Resource, operation: Operation): RowRules['accepts'] {
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
