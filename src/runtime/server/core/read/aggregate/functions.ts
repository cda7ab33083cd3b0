/** Builds the SQL of aggregate results: in full precision for SELECT, and in a comparable form for ORDER BY and HAVING. */
import { sql, type SQL } from 'drizzle-orm'
import type { Engine } from '../../../engines/engine'
import { selectExactly } from '../../../schema/field'
import { returnsColumnValue, type Aggregate } from '../../plan/aggregate'
import { compared } from '../../sql/conditions'

/** Returns the result in full precision, for SELECT. */
export function exactResult({ field, function: name }: Aggregate, { adapter: { aggregates } }: Engine): SQL {
  if (!field) return sql`count(*)`
  const { column, kind } = field
  if (name === 'count') return sql`count(${column})`
  if (name === 'min' || name === 'max') return selectExactly(field, aggregates.fromExtreme(aggregates.extreme(name, column), column))
  // SQL selects only the sum of an average. JavaScript divides it by the count, so that every engine rounds in the same way.
  return aggregates.exactSum(column, kind)
}

/** Returns the result in the form that ORDER BY and HAVING compare. */
export function comparableResult({ field, function: name }: Aggregate, { adapter: { aggregates } }: Engine): SQL {
  if (!field) return sql`count(*)`
  const { column, kind } = field
  if (name === 'sum') return aggregates.sum(column, kind)
  if (name === 'avg') return aggregates.average(column, kind)
  return name === 'count' ? sql`count(${column})` : aggregates.extreme(name, column)
}

/** Converts a value so that HAVING can compare it with {@link comparableResult}. */
export function comparedValue(aggregate: Aggregate, value: SQL, { adapter: { aggregates } }: Engine): SQL {
  if (!returnsColumnValue(aggregate)) return aggregates.number(value)
  const field = aggregate.field!
  return compared(field, aggregates.comparedExtreme(value, field.column, field.kind))
}
