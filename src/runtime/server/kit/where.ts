/** SQL: the template `where`, conditions, lists of keys, cursors. */
export { and, EVERY_ROW, fromSql, NO_ROWS, sameBytes } from '../core/sql/conditions'
export { inTuples } from '../core/sql/list/index'
export { statement } from '../core/sql/parameterize'
export { asSql, commaList, constant, joined, type Part, value, type Where, where, word } from '../core/sql/where'
export { sqlTypeOf } from '../drizzle/index'
