/** The results of aggregates in SQL: selected with all their digits, and in the form that the database compares. */
import { sql, type SQL } from 'drizzle-orm'
import type { Engine } from '../../../engines/engine'
import { selectExactly } from '../../../schema/field'
import { returnsColumnValue, type Aggregate } from '../../plan/aggregate'
import { compared } from '../../sql/clause'

/** The result with all its digits. */
export function exactResult({ field, function: name }: Aggregate, { adapter: { aggregates } }: Engine): SQL {
  if (!field) return sql`count(*)`
  const { column, kind } = field
  if (name === 'count') return sql`count(${column})`
  if (name === 'min' || name === 'max') return selectExactly(field, aggregates.fromExtreme(aggregates.extreme(name, column), column))
  // An average is a sum divided by its count, outside of SQL, so that every engine rounds it alike.
  return aggregates.exactSum(column, kind)
}

/** The result in ORDER BY and HAVING. */
export function comparableResult({ field, function: name }: Aggregate, { adapter: { aggregates } }: Engine): SQL {
  if (!field) return sql`count(*)`
  const { column, kind } = field
  if (name === 'sum') return aggregates.sum(column, kind)
  if (name === 'avg') return aggregates.average(column, kind)
  return name === 'count' ? sql`count(${column})` : aggregates.extreme(name, column)
}

/** A value that is compared with the result. */
export function comparedValue(aggregate: Aggregate, value: SQL, { adapter: { aggregates } }: Engine): SQL {
  if (!returnsColumnValue(aggregate)) return aggregates.number(value)
  const field = aggregate.field!
  return compared(field, aggregates.comparedExtreme(value, field.column, field.kind))
}
