/** Selects the rows that a commit changes, for statements that insert rows for them in SQL. */
import { sql, type SQL } from 'drizzle-orm'
import type { Field } from '../../../schema/field'
import { shapeOf, valuesOf, whereClause, type Clause } from '../../sql/clause'
import { shape, type Shape } from '../../sql/shape'
import type { ChangedTable } from './table'

export interface RowSource {
  readonly shape: Shape
  /** `with recursive reached as (…)`. Its values are the first ones of the statement. */
  readonly with?: { readonly values: readonly unknown[], readonly build: () => SQL }
  /** The FROM and WHERE clauses. */
  readonly values: readonly unknown[]
  readonly build: () => SQL
}

/** The values that the change sets. An engine that cannot read the rows after the change computes their new values from these. */
export type AssignedValues = ReadonlyMap<Field, unknown>

/** ` from t where …` */
export function rowsWhere({ table }: Pick<ChangedTable, 'table'>, where: readonly Clause[]): RowSource {
  return {
    shape: shape`rows ${table}${shapeOf(where)}`,
    values: valuesOf(where),
    build: () => sql` from ${table}${whereClause(where)}`,
  }
}

/** ` from t where rowid in (select rowid from t order by rowid desc limit n)`: the rows that the last statement inserted. */
export function insertedRows({ table }: ChangedTable, count: number): RowSource {
  const rowid = sql.raw('rowid')
  return {
    shape: shape`inserted ${table}`,
    values: [count],
    build: () => sql` from ${table} where ${rowid} in (select ${rowid} from ${table} order by ${rowid} desc limit ${sql.param(count)})`,
  }
}
