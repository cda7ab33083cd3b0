/** Names the resources that a response was read from. Plugins that store responses drop them when one of these resources changes. */
import type { Table } from 'drizzle-orm'
import { relatedPlans } from '../access/related'
import type { Plan, Scoped } from '../access/row-scope'
import type { Call } from '../request/session'
import { computedReads } from './computed-reads'
import { memoized } from '../memoized'
import type { Resource } from '../../schema/model'
import { createLruCache } from '../../engines/lru-cache'
import type { Where } from '../sql/where'
import { parameterize } from '../sql/parameterize'

/**
 * Returns the resources of the plan, of its includes, relation filters, orders and counts, of junction tables and of the SQL rules that
 * select their rows. If several resources have the same table, the list contains all of them. A table without a resource is `table:` and
 * its name in the database. Returns `undefined` if a row or a value can change without a commit to one of them: if a plugin does not
 * report its changes, and for a view or a computed field that needs the option `tracks` and does not have it.
 */
export function readsOf(plan: Scoped<Plan>, call: Call): readonly string[] | undefined {
  const names = new Set<string>()
  if (!addPlan(plan, call, names)) return undefined
  return [...names].some(name => call.api.unreported.has(name) || isUntracked(call.api.resources.get(name))) ? undefined : [...names]
}

/** No commit names the resource of a view. */
const isUntracked = (resource: Resource | undefined) => resource?.readOnly === true && resource.tracks === undefined

/** Returns false if no commit says when the rows change. */
function addPlan(plan: Scoped<Plan>, call: Call, names: Set<string>): boolean {
  const { include, related, counts = [], sortedBy = [] } = plan
  const others = [
    ...counts.flatMap(({ plan, through }) => through ? [plan, through] : [plan]), ...relatedPlans(related?.filters), ...sortedBy,
  ]
  const own = addOwn(plan, call, names)
  const included = include.map(({ plan, through }) =>
    addPlan(plan, call, names) && (!through || addPlan(through, call, names)))
  return [own, ...included, ...others.map(other => addOwn(other, call, names))].every(Boolean)
}

function addOwn(plan: Scoped<Plan>, call: Call, names: Set<string>): boolean {
  addRows(plan, call, names)
  const computed = computedReads(plan, call)
  for (const name of computed?.tracks ?? []) names.add(name)
  for (const rows of computed?.scopes ?? []) addRows(rows, call, names)
  return !computed?.untracked
}

function addRows({ resource, scope }: Pick<Scoped<Plan>, 'resource' | 'scope'>, call: Call, names: Set<string>): void {
  for (const name of namesOf(resource.table, resource.facts.name, call)) names.add(name)
  for (const clause of scope) if (clause.traits.custom) for (const name of namesInRule(clause, call)) names.add(name)
}

function namesOf(table: Table, tableName: string, { api }: Call): readonly string[] {
  const resources = [...api.resources.values()].filter(resource => resource.table === table)
  const names = resources.flatMap(({ name, tracks = [] }) => [name, ...tracks])
  return names.length > 0 ? names : [`table:${tableName}`]
}

/**
 * Finds the tables that a rule of the app reads, by their names in its SQL text. A word of the text that is the name of a table by
 * coincidence counts too: a listed table that was not read is harmless, a missing one is not.
 */
function namesInRule(rule: Where, call: Call): readonly string[] {
  const { api, engine } = call
  const { key } = parameterize(engine, rule)
  return namesByRule(api)(`${engine.name}|${key}`, () => {
    const { text } = engine.render(rule.getSQL())
    const read = [...api.graph.values()].filter(({ facts }) => containsWord(text, facts.name))
    return read.flatMap(({ table, facts }) => namesOf(table, facts.name, call))
  })
}

const MAX_RULES = 500

const namesByRule = memoized((_: Call['api']) => createLruCache<readonly string[]>(MAX_RULES))

/** SQL compares names without regard to case in some databases. */
function containsWord(text: string, word: string): boolean {
  const escaped = word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  return new RegExp(`(?<!\\w)${escaped}(?!\\w)`, 'i').test(text)
}
