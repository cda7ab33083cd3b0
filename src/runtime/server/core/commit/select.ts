/** Builds the statement that reads rows inside a commit, with or without a lock. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import type { WriteStatement, Row, Engine } from '../../engines/engine'
import { shape } from '../sql/shape'
import type { Resource } from '../../schema/model'
import type { Call } from '../request/session'
import type { Selection } from '../access/fields'
import { shapeOf, statement, valuesOf, whereClause, type Clause } from '../sql/clause'
import { decoder, type RecordValues } from '../read/rows/decode'
import { selectList } from '../read/rows/select'
import { commaList } from './columns'

/** A statement that returns rows, and the function that decodes one. */
export type Returning = WriteStatement & { readonly extra: (row: Row) => RecordValues }

/**
 * `select … from t where …`, or with a lock `select … from t where … order by id for update`. A lock prevents changes of the rows until
 * the end of the commit. Every transaction locks rows in the same order, to avoid deadlocks.
 */
export function selectStatement(
  { api, engine }: Call,
  resource: Pick<Resource, 'table' | 'primaryKey'>,
  where: readonly Clause[],
  selection: Selection,
  lock?: 'share' | 'update',
): Returning {
  const compiled = statement(api.statements, engine, shape`select ${selection.key}${shapeOf(where)}${lock}`, valuesOf(where), () => ({
    sql: sql`select ${selectList(selection)} from ${resource.table}${whereClause(where)}${
      lock && engine.concurrent
        ? lockInOrder(
            engine,
            resource.primaryKey.map(({ column }) => column),
            lock,
          )
        : sql``
    }`,
    extra: decoder(selection),
  }))
  return { ...compiled, returnsRows: true, expectedRows: 1 }
}

/** ` order by id for update` */
export function lockInOrder({ adapter }: Engine, keys: readonly Column[], lock: 'share' | 'update'): SQL {
  return sql` order by ${commaList(keys.map(column => sql`${column}`))}${adapter.lock[lock]}`
}
