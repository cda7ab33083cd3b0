/** Selects the rows that a commit changes, for statements that insert rows for them in SQL. */
import type { Field } from '../../../schema/field'
import type { ChangedTable } from './table'
import { whereClause } from '../../sql/conditions'
import { value, where, type Where } from '../../sql/where'

export interface RowSource {
  /** `with recursive reached as (…)` */
  readonly with?: Where
  /** The FROM and WHERE clauses. */
  readonly from: Where
}

/** The values that the change sets. An engine that cannot read the rows after the change computes their new values from these. */
export type AssignedValues = ReadonlyMap<Field, unknown>

/** ` from t where …` */
export const rowsWhere = ({ table }: Pick<ChangedTable, 'table'>, conditions: readonly Where[]): RowSource =>
  ({ from: where` from ${table}${whereClause(conditions)}` })

/** ` from t where rowid in (select rowid from t order by rowid desc limit n)`: the rows that the last statement inserted. */
export const insertedRows = ({ table }: ChangedTable, count: number): RowSource =>
  ({ from: where` from ${table} where rowid in (select rowid from ${table} order by rowid desc limit ${value(count)})` })
