/** Computes exact aggregate results, which are equal on every engine. Groups rows in memory if SQL cannot group them. */
import Big from 'big.js'
import { OPERATORS } from '../../../../shared/operators'
import { isEnum, isExact } from '../../../engines/dialects/column'
import type { Engine } from '../../../engines/engine'
import type { Kind } from '../../../../shared/wire'
import type { Field } from '../../../schema/field'
import { returnsColumnValue, type Aggregate, type AggregatePlan, type GroupPlan, type Having } from '../../plan/aggregate'
import type { RecordValues } from '../rows/decode'

/** An average has at most twelve decimal places. */
Big.DP = 12

/** Converts the driver's values of one result to a number, or to a string for bigint and decimal columns. Without values, returns null. */
export function toResultValue({ function: name, field }: Aggregate, raw: unknown, count: unknown): unknown {
  if (name === 'count') return Number(raw)
  if (raw === null || raw === undefined) return null
  if (name === 'min' || name === 'max') {
    const value = field!.decode ? field!.decode(raw) : raw
    return field!.toJson ? field!.toJson(value) : value
  }
  // A double can be NaN or infinite, a Big cannot.
  if (field!.kind === 'number') return finiteOrNull(name === 'avg' ? roundDouble(Number(raw)) / Number(count) : roundDouble(Number(raw)))
  // A decimal of Postgres can be NaN too.
  if (isNotFinite(raw)) return null
  const sum = toBig(raw)
  return name === 'avg' ? toAverage(sum, Number(count), field!.kind) : toResult(sum, field!.kind)
}

const isNotFinite = (value: unknown) => /nan|infinity/i.test(String(value))

/** JSON has no NaN and no infinity, so both become null. */
const finiteOrNull = (value: number) => Number.isFinite(value) ? value : null

/** Returns the average: for exact columns text with at most twelve decimal places, for other columns a double. */
function toAverage(sum: Big, count: number, kind: Kind): string | number {
  return isExact(kind) ? sum.div(count).toFixed() : sum.toNumber() / count
}

function toResult(value: Big, kind: Kind): string | number {
  return isExact(kind) ? value.toFixed() : value.toNumber()
}

/**
 * Parses a sum of the database, which is text. SQLite returns `high:low` or `high:low:fractions`: the upper and lower 32 bits, and the
 * sum of the fractional values.
 */
function toBig(raw: unknown): Big {
  const [high, low, fractions] = String(raw).split(':')
  if (low === undefined) return new Big(high!)
  return new Big(high!).times(4_294_967_296).plus(low).plus(fractions === undefined ? 0 : String(roundDouble(Number(fractions))))
}

/** Rounds to 15 significant digits. Engines add doubles in different orders, so the later digits differ between engines. */
const roundDouble = (value: number) => Number(value.toPrecision(15))

interface Group {
  readonly values: readonly unknown[]
  readonly records: RecordValues[]
}

/** Groups, filters, sorts and paginates records. The SQL of `groups.ts` returns the same result. */
export function groupRows(
  { groups, having, order, page, limit }: GroupPlan,
  records: readonly RecordValues[],
  { adapter }: Engine,
): { data: RecordValues[], total: number } {
  const entries = groupRecords(groups, records).map(group => ({
    group,
    results: new Map(groups.aggregates.map(aggregate => [aggregate.alias, compute(aggregate, group.records)])),
  }))
  const kept = entries.filter(({ results }) => having.every(condition => matchesHaving(condition, results.get(condition.aggregate.alias))))
  kept.sort((a, b) => {
    for (const { by, descending } of order) {
      const sortValue = (entry: typeof a) =>
        'alias' in by
          ? toComparableResult(by, entry.results.get(by.alias))
          : toComparableValue(by, entry.group.values[groups.groupBy.indexOf(by)])
      const sign = compare(sortValue(a), sortValue(b), adapter.nullsLow)
      if (sign !== 0) return descending ? -sign : sign
    }
    return 0
  })
  const data = kept.slice((page - 1) * limit, page * limit).map(({ group, results: byAlias }) => {
    const results = Object.fromEntries(
      groups.aggregates.map(aggregate => [aggregate.alias, resultToWire(aggregate, byAlias.get(aggregate.alias))]),
    )
    if (groups.groupBy.length === 0) return results
    return {
      group: Object.fromEntries(
        groups.groupBy.map((field, index) => [field.name, field.toJson ? field.toJson(group.values[index]) : group.values[index]]),
      ),
      ...results,
    }
  })
  return { data, total: kept.length }
}

function matchesHaving({ aggregate, operator, value }: Having, result: unknown): boolean {
  if (result === null) return false
  const expected = returnsColumnValue(aggregate) ? toComparableResult(aggregate, value) : new Big(String(value))
  const { signs }: { readonly signs: readonly number[] } = OPERATORS[operator].comparison
  return signs.includes(Math.sign(compare(toComparableResult(aggregate, result), expected)))
}

function groupRecords({ groupBy }: AggregatePlan, records: readonly RecordValues[]): Group[] {
  if (groupBy.length === 0) return [{ values: [], records: [...records] }]
  const found = new Map<string, Group>()
  for (const record of records) {
    const values = groupBy.map(field => record[field.name] ?? null)
    const key = JSON.stringify(groupBy.map((field, index) => field.toJson ? field.toJson(values[index]) : values[index]))
    let group = found.get(key)
    if (!group) found.set(key, group = { values, records: [] })
    group.records.push(record)
  }
  return [...found.values()]
}

function compute({ function: name, field }: Aggregate, records: readonly RecordValues[]): unknown {
  if (!field) return new Big(records.length)
  const values = records.map(record => record[field.name]).filter(value => value !== null && value !== undefined)
  if (name === 'count') return new Big(values.length)
  if (values.length === 0) return null
  const order = (a: unknown, b: unknown) => compare(toComparableValue(field, a), toComparableValue(field, b))
  if (name === 'min') return values.reduce((least, value) => order(value, least) < 0 ? value : least)
  if (name === 'max') return values.reduce((most, value) => order(value, most) > 0 ? value : most)
  // A Big cannot be NaN or infinite.
  if (values.some(isNotFinite)) return values.reduce<number>((sum, value) => sum + Number(value), 0)
  const exactSum = values.reduce<Big>((sum, value) => sum.plus(String(value)), new Big(0))
  if (name === 'avg' && isExact(field.kind)) return exactSum.div(values.length)
  if (field.kind !== 'number') return name === 'avg' ? toResultNumber(exactSum.toNumber() / values.length) : exactSum
  const sum = roundDouble(exactSum.toNumber())
  return toResultNumber(name === 'avg' ? sum / values.length : sum)
}

/** A sum that exceeds the range of a double is infinite. A Big cannot be infinite, so the sum stays a number. */
const toResultNumber = (value: number): Big | number => Number.isFinite(value) ? new Big(String(value)) : value

function resultToWire({ function: name, field }: Aggregate, result: unknown): unknown {
  if (result === null || result === undefined) return null
  if (name === 'count') return (result as Big).toNumber()
  if (name === 'min' || name === 'max') return field!.toJson ? field!.toJson(result) : result
  return result instanceof Big ? toResult(result, field!.kind) : null
}

/** Converts a result for comparison in HAVING and ORDER BY. */
function toComparableResult(aggregate: Aggregate, result: unknown): unknown {
  return returnsColumnValue(aggregate) ? toComparableValue(aggregate.field!, result) : result
}

/** Decimals compare as numbers, because the text `9` sorts after `10`. Enums compare by the position of the value. */
function toComparableValue({ kind, column, toJson }: Field, value: unknown): unknown {
  if (value === null || value === undefined) return value
  // Times in `string` mode can have offsets and fractions of any length. Without the `Z`, their text sorts like the times.
  if (kind === 'date' && typeof value === 'string') return String(toJson!(value)).replace(/Z$/, '')
  return kind === 'decimal' ? toComparableDecimal(String(value)) : isEnum(column) ? column.enumValues!.indexOf(String(value)) : value
}

const toComparableDecimal = (decimal: string): Big | number => isNotFinite(decimal) ? Number(decimal) : new Big(decimal)

/** If `nullsLow` is true, NULL sorts before every value, otherwise after. Text sorts by its bytes, as in a binary collation. */
function compare(a: unknown, b: unknown, nullsLow = true): number {
  if (a === null || b === null || a === undefined || b === undefined)
    return (Number(a !== null && a !== undefined) - Number(b !== null && b !== undefined)) * (nullsLow ? 1 : -1)
  if (a instanceof Big && b instanceof Big) return a.cmp(b)
  if (a instanceof Big || b instanceof Big) return Number(a) < Number(b) ? -1 : Number(a) > Number(b) ? 1 : 0
  if (typeof a === 'string') return globalThis.Buffer.compare(globalThis.Buffer.from(a), globalThis.Buffer.from(b as string))
  return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0
}
