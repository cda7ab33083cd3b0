/** Builds the statement that reads rows inside a commit, with or without a lock. */
import type { Column } from 'drizzle-orm'
import type { WriteStatement, Row, Engine } from '../../engines/engine'
import type { Resource } from '../../schema/model'
import type { Call } from '../request/session'
import type { Selection } from '../access/fields'
import { decoder, type RecordValues } from '../read/rows/decode'
import { selectList } from '../read/rows/select'
import { whereClause } from '../sql/conditions'
import { EMPTY, commaList, where, type Where } from '../sql/where'
import { statement } from '../sql/parameterize'

/** A statement that returns rows, and the function that decodes one. */
export type Returning = WriteStatement & { readonly decode: (row: Row) => RecordValues }

/**
 * `select … from t where …`, or with a lock `select … from t where … order by id for update`. A lock prevents changes of the rows until
 * the end of the commit. Every transaction locks rows in the same order, to avoid deadlocks.
 */
export function selectStatement(
  call: Call,
  resource: Pick<Resource, 'table' | 'primaryKey'>,
  conditions: readonly Where[],
  selection: Selection,
  lock?: 'share' | 'update',
): Returning {
  const locked = lock && call.engine.concurrent ? lockInOrder(call.engine, resource.primaryKey.map(({ column }) => column), lock) : EMPTY
  const text = where`select ${selectList(selection)} from ${resource.table}${whereClause(conditions)}${locked}`
  return { ...statement(call, text), decode: decoder(selection), returnsRows: true, expectedRows: 1 }
}

/** ` order by id for update` */
export const lockInOrder = ({ adapter }: Engine, keys: readonly Column[], lock: 'share' | 'update'): Where =>
  where` order by ${commaList(keys)}${adapter.lock[lock]}`
