/** The oracle of aggregates: exact integer arithmetic, one group at a time. */
import { MODEL, type Kind, type Row } from './model'
import { aliasOf, type Aggregate, type GroupQuery } from './query'
import { matches, visibleRows, type World } from './rows'
import { compare, SCALE, scaled, toWire } from './values'

/** The digits of a rounded average. */
const DIGITS = 12n

interface Result { readonly kind: Kind, readonly value: unknown }

export function aggregateRows(rows: readonly Row[], resource: string, aggregates: readonly Aggregate[]): Row {
  return Object.fromEntries(aggregates.map(aggregate => [aliasOf(aggregate), say(aggregate, resource, rows)]))
}

export function groups(world: World, resource: string, query: GroupQuery): { data: Row[], total: number } {
  const { fields } = MODEL[resource]!
  const rows = visibleRows(world, resource).filter(row => matches(world, resource, row, query.filter))
  const kept = collect(rows, resource, query.groupBy).filter(({ rows }) => query.having.every(({ alias, operator, value }) => {
    const { kind, value: own } = compute(query.aggregates.find(aggregate => aliasOf(aggregate) === alias)!, resource, rows)
    if (own === null) return false
    const sign = compare(kind, own, kind === 'bigint' && alias.startsWith('sum_') ? scaled(value) : value)
    return { $eq: sign === 0, $ne: sign !== 0, $gt: sign > 0, $gte: sign >= 0, $lt: sign < 0, $lte: sign <= 0 }[operator]
  }))
  const order = [
    ...query.sort,
    ...query.groupBy.filter(field => !query.sort.some(sort => sort.field === field)).map(field => ({ field, descending: false })),
  ]
  kept.sort((a, b) => {
    for (const { field, descending } of order) {
      const aggregate = query.aggregates.find(aggregate => aliasOf(aggregate) === field)
      const grouped = query.groupBy.includes(field)
      const [x, y] = [a, b].map(group =>
        grouped ? { kind: fields[field]!, value: group.key[field] } : compute(aggregate!, resource, group.rows),
      )
      const sign = compare(x!.kind, x!.value, y!.value, world.habits)
      if (sign !== 0) return descending ? -sign : sign
    }
    return 0
  })
  const data = kept.slice((query.page - 1) * query.limit, query.page * query.limit).map(({ key, rows }) => ({
    ...query.groupBy.length > 0 && { group: Object.fromEntries(query.groupBy.map(field => [field, toWire(fields[field]!, key[field])])) },
    ...aggregateRows(rows, resource, query.aggregates),
  }))
  return { data, total: kept.length }
}

function collect(rows: readonly Row[], resource: string, groupBy: readonly string[]): { key: Row, rows: Row[] }[] {
  const { fields } = MODEL[resource]!
  const found: { key: Row, rows: Row[] }[] = groupBy.length === 0 ? [{ key: {}, rows: [] }] : []
  for (const row of rows) {
    let group = found.find(({ key }) => groupBy.every(field => compare(fields[field]!, key[field], row[field]) === 0))
    if (!group) found.push(group = { key: row, rows: [] })
    group.rows.push(row)
  }
  return found
}

function valuesOf(field: string, rows: readonly Row[]): unknown[] {
  return rows.map(row => row[field]).filter(value => value !== null)
}

/** A result for comparison. */
function compute({ function: name, field }: Aggregate, resource: string, rows: readonly Row[]): Result {
  if (field === undefined) return { kind: 'integer', value: rows.length }
  const kind = MODEL[resource]!.fields[field]!
  const values = valuesOf(field, rows)
  if (name === 'count') return { kind: 'integer', value: values.length }
  if (values.length === 0) return { kind, value: null }
  const sorted = [...values].sort((a, b) => compare(kind, a, b))
  if (name === 'min') return { kind, value: sorted[0] }
  if (name === 'max') return { kind, value: sorted.at(-1) }
  const sum = sumOf(values)
  return name === 'sum' ? { kind: 'bigint', value: sum } : { kind: 'real', value: toNumber(sum) / values.length }
}

/** A result of a response: exact strings for bigint and decimal columns. */
function say(aggregate: Aggregate, resource: string, rows: readonly Row[]): unknown {
  const { function: name, field } = aggregate
  const { kind, value } = compute(aggregate, resource, rows)
  if (value === null || field === undefined || name === 'count') return value
  if (name === 'min' || name === 'max') return toWire(kind, value)
  const values = valuesOf(field, rows)
  const sum = sumOf(values)
  const own = MODEL[resource]!.fields[field]!
  if (own !== 'bigint' && own !== 'decimal') return name === 'sum' ? toNumber(sum) : toNumber(sum) / values.length
  return name === 'sum' ? unscaled(sum, SCALE) : average(sum, BigInt(values.length))
}

const sumOf = (values: readonly unknown[]) => values.reduce<bigint>((sum, value) => sum + scaled(value), 0n)
const toNumber = (sum: bigint) => Number(unscaled(sum, SCALE))

/** Rounds half away from zero. */
function average(sum: bigint, count: bigint): string {
  const sign = sum < 0n ? -1n : 1n
  const scale = 10n ** DIGITS
  const exact = sum * sign * scale * 10n / (SCALE * count)
  return unscaled(sign * ((exact + 5n) / 10n), scale)
}

function unscaled(value: bigint, scale: bigint): string {
  const [sign, size] = value < 0n ? ['-', -value] : ['', value]
  const rest = String(size % scale).padStart(String(scale).length - 1, '0').replace(/0+$/, '')
  return `${sign}${size / scale}${rest === '' ? '' : `.${rest}`}`
}
