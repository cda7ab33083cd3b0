/** Random queries: filters, orders, fields, includes, counts, pages and aggregates. */
import type { Relation } from '../../server/schema/model'
import type { Query } from './sent'
import { nameOf, pickField, pickValue, type Pool, type PooledResource } from './values'

/** Adds some of the parts. A part without a value is left out. */
function someParts({ random }: Pool, parts: Readonly<Record<string, readonly [probability: number, make: () => unknown]>>): Query {
  const entries = Object.entries(parts).flatMap(([name, [probability, make]]) => {
    const value = random.chance(probability) ? make() : undefined
    return value === undefined ? [] : [[name, value] as const]
  })
  return Object.fromEntries(entries)
}

export function listQuery(pool: Pool, on: PooledResource): Query {
  const { random } = pool
  const page = random.weighted<() => Query>([
    [3, () => ({})],
    [3, () => ({ page: 1 + random.below(2), limit: 1 + random.below(4) })],
    [3, () => ({ cursor: '', limit: 1 + random.below(3) })],
    [1, () => ({ count: random.pick(['none', 'estimated', 'exact']) })],
  ])()
  return {
    ...page,
    ...recordQuery(pool, on),
    ...someParts(pool, {
      filter: [0.55, () => filter(pool, on)],
      sort: [0.45, () => sort(pool, on)],
      aggregate: [0.08, () => functions(pool, on)],
    }),
    ...trash(pool),
  }
}

const trash = (pool: Pool): Query =>
  someParts(pool, { includeDeleted: [0.08, () => true], onlyDeleted: [0.05, () => true] })

/** The parameters of a single record, which lists have too. */
export const recordQuery = (pool: Pool, on: PooledResource): Query => someParts(pool, {
  fields: [0.2, () => [...new Set(pool.random.some([1, 2, 3], 3).map(() => nameOf(pickField(pool, on))))].join(',') || undefined],
  include: [0.3, () => include(pool, on, 2)],
  counts: [0.2, () => pickMany(pool, on)],
})

export const idQuery = (pool: Pool, on: PooledResource): Query => ({ ...recordQuery(pool, on), ...trash(pool) })

const related = ({ resources }: Pool, { target }: Relation) => resources.get(target.name)

function pickMany({ random }: Pool, { relations }: PooledResource): string | undefined {
  const many = relations.filter(({ kind }) => kind !== 'one')
  return many.length > 0 ? random.pick(many).name : undefined
}

function include(pool: Pool, { relations }: PooledResource, depth: number): unknown {
  const { random } = pool
  if (relations.length === 0) return undefined
  const nodes = random.some(relations, 2).map((relation): [string, Query] => {
    const target = related(pool, relation)
    if (!target) return [relation.name, {}]
    const list = relation.kind === 'one'
      ? {}
      : someParts(pool, {
          limit: [0.3, () => 1 + random.below(3)], sort: [0.3, () => [sort(pool, target)]], filter: [0.3, () => filter(pool, target)],
        })
    return [relation.name, {
      ...list,
      ...someParts(pool, {
        fields: [0.15, () => [nameOf(pickField(pool, target))]],
        counts: [0.15, () => toList(pickMany(pool, target))],
        include: [depth > 1 ? 0.25 : 0, () => toNodes(include(pool, target, depth - 1))],
      }),
    }]
  })
  return nodes.length > 0 ? Object.fromEntries(nodes) : random.pick(relations).name
}

const toNodes = (value: unknown) => typeof value === 'string' ? { [value]: {} } : value

const toList = (value: string | undefined) => value === undefined ? undefined : [value]

function sort(pool: Pool, on: PooledResource): string {
  const { random } = pool
  const one = () => {
    const relation = random.chance(0.25) && on.relations.length > 0 ? random.pick(on.relations) : undefined
    const target = relation && related(pool, relation)
    const name = !target
      ? nameOf(pickField(pool, on))
      : relation.kind === 'one' ? `${relation.name}.${nameOf(pickField(pool, target))}` : `${relation.name}.$count`
    return random.chance(0.5) ? `-${name}` : name
  }
  return [...new Set(random.chance(0.7) ? [one()] : [one(), one()])].join(',')
}

export function filter(pool: Pool, on: PooledResource, depth = 2): Query {
  const { random } = pool
  return random.weighted<() => Query>([
    [6, () => ({ ...condition(pool, on) })],
    [2, () => ({ ...condition(pool, on), ...condition(pool, on) })],
    [depth > 0 && on.relations.length > 0 ? 3 : 0, () => relatedFilter(pool, on, depth)],
    [depth === 2 || (pool.extended && depth > 0) ? 1 : 0, () => ({ $or: [filter(pool, on, 0), filter(pool, on, 0)] })],
    [pool.extended && depth > 0 ? 0.5 : 0, () => ({ $not: filter(pool, on, depth - 1) })],
  ])()
}

function relatedFilter(pool: Pool, on: PooledResource, depth: number): Query {
  const { random } = pool
  const relation = random.pick(on.relations)
  const target = related(pool, relation)
  const some = random.weighted<() => unknown>([
    [target ? 4 : 0, () => filter(pool, target!, depth - 1)],
    [1, () => null],
    [1, () => ({ $null: false })],
    [relation.kind === 'one' || !pool.extended ? 0 : 1, () => ({ $count: { [random.pick(['$gt', '$lte', '$eq'])]: random.below(3) } })],
  ])()
  return { [relation.name]: some }
}

function condition(pool: Pool, on: PooledResource): Query {
  const { random } = pool
  const field = pickField(pool, on)
  const value = () => pickValue(pool, on, field)
  const text = () => String(value()).slice(0, 1 + random.below(8))
  const hasOrder = field?.ordered === true && field.kind !== 'boolean'
  const operator = random.weighted([
    [4, ''],
    [3, random.pick(pool.operators.equality)],
    [hasOrder ? 4 : 0.1, random.pick(pool.operators.order)],
    [field?.kind === 'text' ? 2 : 0.1, random.pick(pool.operators.text)],
  ])
  const operands: Readonly<Record<string, () => unknown>> = {
    $null: () => random.chance(0.5), $in: () => [value(), value()], $nin: () => [value(), value()], $between: () => [value(), value()],
  }
  const operand = operands[operator] ?? (pool.operators.text.includes(operator) ? text : value)
  return { [nameOf(field)]: operator === '' ? value() : { [operator]: operand() } }
}

function functions(pool: Pool, on: PooledResource): string {
  const { random } = pool
  const one = () => random.weighted<() => string>([
    [2, () => 'count'],
    [3, () => `${random.pick(['count', 'min', 'max', 'sum', 'avg'])}(${nameOf(pickField(pool, on))})`],
  ])()
  return [...new Set([one(), ...random.chance(0.3) ? [one()] : []])].join(',')
}

export function aggregateQuery(pool: Pool, on: PooledResource): Query {
  const { random } = pool
  const grouped = random.chance(0.5)
  const aggregate = random.chance(0.6) ? 'count' : functions(pool, on)
  return {
    aggregate,
    ...grouped && { groupBy: nameOf(pickField(pool, on)) },
    ...someParts(pool, {
      filter: [0.4, () => filter(pool, on)],
      having: [grouped && aggregate === 'count' ? 0.3 : 0, () => ({ count: { [random.pick(['$gt', '$eq', '$lte'])]: random.below(3) } })],
    }),
    ...trash(pool),
  }
}
