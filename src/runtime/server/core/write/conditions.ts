/** Checks the conditions that the request and the before-hooks set for the rows of a write. */
import type { Awaitable } from '../awaitable'
import type { Call } from '../request/session'
import { keyFields } from '../access/fields'
import type { Plan, Scoped } from '../access/row-scope'
import { keyClauses } from '../plan/read'
import { tupleKey } from '../sql/tuple-key'
import type { WriteOperation } from '../commit/operation'
import { selectStatement } from '../commit/select'
import { valuesAt } from '../read/rows/decode'
import { withoutError, type Item } from './items'
import { conditionClauses, writeClauses } from './row-clauses'
import { and, or } from '../sql/conditions'
import { parameterize } from '../sql/parameterize'
import type { Where } from '../sql/where'

/** The number of rows that one statement checks. */
const ROWS_PER_CHECK = 100

/** Sets the error of each item whose row does not meet a condition of the item. One statement checks several rows. */
export function checkConditions(plan: Scoped<Plan>, items: readonly Item[], call: Call): Awaitable<void> {
  if (items.some(hasConditions)) return checkEach(plan, withoutError(items).filter(hasConditions), call)
}

async function checkEach(plan: Scoped<Plan>, items: readonly Item[], call: Call): Promise<void> {
  const checks = items.map(item => ({ item, clauses: conditionClauses(item) }))
  const parametersOf = ({ item, clauses }: Check) => item.key!.length * 2 + parameterize(call.engine, and(clauses), call.memo).values.length
  const most = Math.max(1, ...checks.map(parametersOf))
  const size = Math.max(1, Math.min(ROWS_PER_CHECK, Math.floor(call.engine.maxParameters / most)))
  for (let start = 0; start < checks.length; start += size) {
    const chunk = checks.slice(start, start + size)
    const met = await findMet(plan, chunk, call)
    for (const { item } of chunk) if (!met.has(keyOf(plan, item))) item.error = await errorOf(plan, item, call)
  }
}

interface Check {
  readonly item: Item
  readonly clauses: readonly Where[]
}

export const hasConditions = ({ conditions }: Item): boolean => conditions !== undefined

const keyOf = ({ resource: { primaryKey } }: Plan, { key }: Item) =>
  tupleKey(key!.map((value, index) => primaryKey[index]!.encode(value)))

/** `select id from t where (id = ? and status = ?) or (id = ? and status = ?) or …`. Returns the keys of the rows that it finds. */
async function findMet({ resource }: Plan, checks: readonly Check[], call: Call): Promise<ReadonlySet<string>> {
  const branches = checks.map(({ item, clauses }) => [...keyClauses(resource, item.key!), ...clauses])
  const columns = keyFields(resource)
  const rows = await call.engine.query(selectStatement(call, resource, [or(branches)], columns))
  const keysOf = valuesAt(columns, resource.primaryKey)
  return new Set(rows.map(row => tupleKey(keysOf(row))))
}

/** Returns the error of the first condition that the row does not meet. */
async function errorOf(plan: Scoped<Plan>, item: Item, call: Call): Promise<Error> {
  const conditions = item.conditions!
  for (const { clauses, error } of conditions.slice(0, -1)) {
    const met = await findMet(plan, [{ item, clauses }], call)
    if (met.size === 0) return error()
  }
  return conditions.at(-1)!.error()
}

/**
 * Fails the commit if a row does not meet the conditions of its item. It runs before the cascade, because the conditions can read rows that
 * the cascade changes. It locks the row, so that the conditions still hold when a later statement writes it.
 */
export function conditionOperations(plan: Scoped<Plan>, items: readonly Item[], call: Call): WriteOperation[] {
  return items.filter(hasConditions).map((item): WriteOperation => ({
    statement: selectStatement(call, plan.resource, writeClauses(plan, item), keyFields(plan.resource), 'update'),
    expectation: 'row',
    item: item.index,
    phase: 'lock',
  }))
}
