/** The oracle: the expected rows of a list, computed from plain rows, one at a time. */
import { MODEL, readable, type Kind, type RelationModel, type Row, type Viewer } from './model'
import type { AnyCondition, Filter, Include, ListQuery, OperatorName, Sort } from './query'
import { compare, like, lower, toWire, type Habits } from './values'

export type Data = Readonly<Record<string, readonly Row[]>>

export interface World {
  readonly data: Data
  readonly viewer: Viewer
  readonly habits: Habits
  /** The most included rows of one parent. */
  readonly maxLimit: number
}

/** Every row of the list, sorted. */
export function listRows(world: World, resource: string, query: Pick<ListQuery, 'filter' | 'sort' | 'cursorFields' | 'trash'>): Row[] {
  const rows = visibleRows(world, resource, query.trash).filter(row => matches(world, resource, row, query.filter))
  return inOrder(world, rows, resource, query.sort, query.cursorFields)
}

export function visibleRows({ data, viewer }: World, resource: string, trash: ListQuery['trash'] = 'active'): Row[] {
  const model = MODEL[resource]!
  const inTrash = (row: Row) => row.deletedAt !== null
  const fits = { active: (row: Row) => !inTrash(row), trashed: inTrash, both: () => true }[trash]
  return data[resource]!.filter(row => (model.trash ? fits(row) : trash !== 'trashed') && model.visible(row, viewer))
}

/** `sort`, `cursorFields`, then the primary key in the direction of the last field before it. */
export function orderOf(resource: string, sort: readonly Sort[], cursorFields: readonly Sort[] = []): Sort[] {
  const named = [...sort, ...cursorFields].filter(({ field }, index, all) => all.findIndex(other => other.field === field) === index)
  const key = MODEL[resource]!.key.map(field => ({ field, descending: named.at(-1)?.descending ?? false }))
  const all = [...named, ...key]
  return all.filter(({ field }, index) => all.findIndex(other => other.field === field) === index)
}

export function inOrder(
  world: World,
  rows: readonly Row[],
  resource: string,
  sort: readonly Sort[],
  cursorFields: readonly Sort[] = [],
): Row[] {
  const { habits } = world
  const order = orderOf(resource, sort, cursorFields)
  const sorted = rows.map(row => ({ row, values: order.map(({ field }) => sortedValue(world, resource, row, field)) }))
  sorted.sort((a, b) => {
    for (const [index, { field, descending }] of order.entries()) {
      // Beside related rows, NULL is above every value on every engine.
      const sign = compare(kindOf(resource, field), a.values[index], b.values[index], field.includes('.') ? { ...habits, nulls: 'high' } : habits)
      if (sign !== 0) return descending ? -sign : sign
    }
    return 0
  })
  return sorted.map(({ row }) => row)
}

/** The kind of what a name in `sort` stands for. */
export function kindOf(resource: string, name: string): Kind {
  const { fields, relations } = MODEL[resource]!
  if (!name.includes('.')) return name === '$count' ? 'integer' : fields[name]!
  return kindOf(relations[name.slice(0, name.indexOf('.'))]!.target, name.slice(name.indexOf('.') + 1))
}

/** The value of a field, of the related row that the caller can see, or the number of such rows. */
function sortedValue(world: World, resource: string, row: Row, name: string): unknown {
  const [relation, ...rest] = name.split('.')
  if (rest.length === 0) return row[name]
  const model = MODEL[resource]!.relations[relation!]!
  const found = relatedRows(world, model, row)
  if (rest[0] === '$count') return found.length
  return found[0] ? sortedValue(world, model.target, found[0], rest.join('.')) : null
}

export function matches(world: World, resource: string, row: Row, { and, or }: Filter): boolean {
  const all = (conditions: readonly AnyCondition[]) => conditions.every(condition => meets(world, resource, row, condition))
  return all(and) && (or.length === 0 || or.some(all))
}

function meets(world: World, resource: string, row: Row, condition: AnyCondition): boolean {
  const { fields, relations } = MODEL[resource]!
  if ('combine' in condition) {
    const branches = condition.branches.map(branch => branch.every(inner => meets(world, resource, row, inner)))
    return condition.combine === '$or' ? branches.some(Boolean) : branches.every(Boolean) === (condition.combine === '$and')
  }
  if ('field' in condition)
    return condition.operators.every(([name, value]) => holds(fields[condition.field]!, name, row[condition.field], value, world.habits))
  const relation = relations[condition.relation]!
  const found = relatedRows(world, relation, row)
  if ('count' in condition) return condition.count.every(([name, number]) => holds('integer', name, found.length, number, world.habits))
  if (typeof condition.some === 'string') return (condition.some === 'none') === (found.length === 0)
  return found.some(other => matches(world, relation.target, other, { and: condition.some as readonly AnyCondition[], or: [] }))
}

/** As in SQL, only a test for NULL is true for NULL. */
function holds(kind: Kind, operator: OperatorName, own: unknown, value: unknown, habits: Habits): boolean {
  if (operator === '$null') return (own === null) === value
  if (value === null) return operator === '$eq' ? own === null : own !== null
  if (own === null) return false
  const equal = (other: unknown) => compare(kind, own, other) === 0
  switch (operator) {
    case '$eq': return equal(value)
    case '$ne': return !equal(value)
    case '$gt': return compare(kind, own, value) > 0
    case '$gte': return compare(kind, own, value) >= 0
    case '$lt': return compare(kind, own, value) < 0
    case '$lte': return compare(kind, own, value) <= 0
    case '$like': return like(own as string, value as string, habits)
    case '$in': return (value as unknown[]).some(equal)
    case '$nin': return !(value as unknown[]).some(equal)
    case '$between': return compare(kind, own, (value as unknown[])[0]) >= 0 && compare(kind, own, (value as unknown[])[1]) <= 0
    case '$notLike': return !like(own as string, value as string, habits)
    case '$startsWith': return lower(own, habits).startsWith(lower(value, habits))
    case '$endsWith': return lower(own, habits).endsWith(lower(value, habits))
    case '$contains': return lower(own, habits).includes(lower(value, habits))
    case '$eqi': return lower(own, habits) === lower(value, habits)
  }
}

/** A row of a response: the requested fields that the caller can read, the included rows, and the numbers of related rows. */
export function toRecord(
  world: World,
  resource: string,
  row: Row,
  { fields, include, counts }: Pick<ListQuery, 'fields' | 'include' | 'counts'>,
): Row {
  const { relations } = MODEL[resource]!
  const shown = Object.entries(readable(MODEL[resource]!, world.viewer)).filter(
    ([name]) => !fields || fields.length === 0 || fields.includes(name),
  )
  return {
    ...Object.fromEntries(shown.map(([name, kind]) => [name, toWire(kind, row[name])])),
    ...Object.fromEntries(include.map(node => [node.relation, related(world, relations[node.relation]!, row, node)])),
    ...counts.length > 0 && { _count: Object.fromEntries(counts.map(name => [name, relatedRows(world, relations[name]!, row).length])) },
  }
}

function related(world: World, relation: RelationModel, row: Row, node: Include): Row | Row[] | null {
  const { target } = relation
  const record = (found: Row) => toRecord(world, target, found, node)
  const found = relatedRows(world, relation, row)
  if (relation.kind === 'one') return found[0] ? record(found[0]) : null
  const kept = node.filter ? found.filter(row => matches(world, target, row, node.filter!)) : found
  return inOrder(world, kept, target, node.sort).slice(0, Math.min(node.limit ?? world.maxLimit, world.maxLimit)).map(record)
}

export function relatedRows(world: World, { target, on, junction, there }: RelationModel, row: Row): Row[] {
  const targets = visibleRows(world, target)
  const meets = (a: Row, b: Row, pairs: readonly (readonly [string, string])[]) => pairs.every(([x, y]) => a[x] !== null && a[x] === b[y])
  if (junction === undefined) return targets.filter(other => meets(row, other, on))
  const links = (MODEL[junction] ? visibleRows(world, junction) : world.data[junction]!).filter(link => meets(row, link, on))
  return targets.filter(other => links.some(link => meets(link, other, there!)))
}
