/**
 * Removes and restores the rows of tables that reference each other in a cycle. The recursive query finds a row through other rows. It
 * cannot find the row after those other rows are removed. So a removal marks all rows first, and a restore clears `deletionId` last.
 */
import type { Column } from 'drizzle-orm'
import type { Engine, Row, Statement, WriteStatement } from '../../../engines/engine'
import { encodeValue } from '../../../drizzle/index'
import type { ForeignKeyFacts } from '../../../schema/drizzle/foreign-keys'
import { columnOf, type GraphNode } from '../../../schema/graph'
import type { Call } from '../../request/session'
import type { Dependents } from './dependents'
import { removeStatement } from './statements'
import { changeRows, CLOSURE, GROUP, primaryKeyOf, selectKeys, tuple, withClosure, type Closure } from './closure/index'
import { statement } from '../../sql/parameterize'
import { asSql, commaList, value, where, type Where } from '../../sql/where'
import { columnName } from '../../commit/columns'

/**
 * Removes the reached rows of these tables. A marker in `deletionId` identifies the rows to remove. If a table has no `deletionId`, the
 * commit reads the primary keys first, and removes the rows by primary key.
 */
export function removeCycle(call: Call, closure: Closure, nodes: readonly GraphNode[]): WriteStatement[] {
  const marker = crypto.randomUUID()
  const marking = nodes.filter(({ roles }) => roles.deletionId)
  const unmarked = nodes.filter(({ roles }) => !roles.deletionId)
  // No order of the deletes satisfies all foreign keys. So the database checks foreign keys at the end of the transaction. If it
  // cannot defer the check, the commit sets nullable foreign keys to NULL before the deletes.
  const { deferForeignKeys } = call.engine.adapter
  const markStatements = [
    ...(deferForeignKeys ? [{ text: deferForeignKeys, values: [] }] : []),
    ...marking.map(node => markStatement(call, closure, node, marker)),
  ]
  // A batch cannot use the result of a SELECT. So it removes the rows of unmarked tables first, while the query can still find them.
  if (unmarked.length > 0 && !call.engine.supportsFollowUp)
    return [
      ...markStatements,
      ...unmarked.map(node => removeStatement(call, closure, node)),
      ...marking.map(node => removeMarkedStatement(call, node, marker)),
    ]

  const unmarkedRows = new Map<GraphNode, readonly Row[]>()
  const order = deletionOrder(nodes, closure.dependents.edges)
  const keysToClear
    = deferForeignKeys
      ? []
      : order
          .map((node, index) => ({ node, columns: keyColumnsToClear(node, closure.dependents.edges, order.slice(0, index + 1)) }))
          .filter(({ columns }) => columns.length > 0)
  const deleteStatements = (): Statement[] => [
    ...keysToClear.flatMap(({ node, columns }) =>
      node.roles.deletionId
        ? [clearKeysStatement(call, node, columns, marker)]
        : clearKeysOfRows(call, node, columns, unmarkedRows.get(node)!),
    ),
    ...order.flatMap(node =>
      node.roles.deletionId ? [removeMarkedStatement(call, node, marker)] : deleteRows(call, node, unmarkedRows.get(node)!),
    ),
  ]
  if (unmarked.length === 0) return [...markStatements, ...deleteStatements()]
  return [...markStatements, ...unmarked.map((node, index) => readUnmarked(call, closure, node, (rows) => {
    unmarkedRows.set(node, rows)
    return index === unmarked.length - 1 ? deleteStatements() : []
  }))]
}

/** Returns the columns of a foreign key that can be set to NULL. */
const clearableColumns = (node: GraphNode, edge: ForeignKeyFacts) =>
  edge.columns.map(name => columnOf(node.facts, name)).filter(column => !column.notNull && !column.primary)

/** Sorts children before parents. In a cycle, a parent can precede a child whose foreign key can be set to NULL. */
function deletionOrder(nodes: readonly GraphNode[], edges: readonly ForeignKeyFacts[]): readonly GraphNode[] {
  const remaining = [...nodes]
  const order: GraphNode[] = []
  const hasNoChildren = (node: GraphNode, matches: (edge: ForeignKeyFacts, child: GraphNode) => boolean) =>
    !remaining.some(
      child => child !== node && edges.some(edge => edge.table === child.table && edge.foreignTable === node.table && matches(edge, child)),
    )
  while (remaining.length > 0) {
    const next
      = remaining.find(node => hasNoChildren(node, () => true))
        ?? remaining.find(node => hasNoChildren(node, (edge, child) => clearableColumns(child, edge).length === 0))
        ?? remaining[0]!
    order.push(...remaining.splice(remaining.indexOf(next), 1))
  }
  return order
}

/**
 * Returns the nullable foreign key columns of a table that reference rows of the tables in `deleted`.
 * @param deleted the table itself, and the tables whose rows are deleted before its rows
 */
function keyColumnsToClear(node: GraphNode, edges: readonly ForeignKeyFacts[], deleted: readonly GraphNode[]): readonly Column[] {
  return [
    ...new Set(
      edges
        .filter(edge => edge.table === node.table && deleted.some(other => other.table === edge.foreignTable))
        .flatMap(edge => clearableColumns(node, edge)),
    ),
  ]
}

/** `update child set deletion_id = ? where id in (select … from reached)` */
function markStatement(call: Call, closure: Closure, node: GraphNode, marker: string): WriteStatement {
  const column = node.roles.deletionId!
  const set = [where`${columnName(call.engine, { column })} = ${value(encodeValue(column, marker))}`]
  return statement(call, where`${changeRows(closure, node, primaryKeyOf(node), selectKeys(closure, node), { set })}`)
}

/** Returns whether the rows need a marker before the deletes, because no order of the deletes satisfies all foreign keys. */
export const needsMarking = ({ cyclic, edges }: Dependents, { engine }: Call) =>
  cyclic || (engine.adapter.checksForeignKeysByRow && edges.some(edge => edge.table === edge.foreignTable))

/** `update child set parent_id = null where deletion_id = ?`. If the database cannot defer foreign keys, they would block the deletes. */
function clearKeysStatement(call: Call, node: GraphNode, columns: readonly Column[], marker: string): WriteStatement {
  return statement(call, where`update ${node.table} set ${setNull(call, columns)} where ${isMarked(node, marker)}`)
}

const isMarked = ({ roles: { deletionId } }: GraphNode, marker: string): Where =>
  where`${deletionId!} = ${value(encodeValue(deletionId!, marker))}`

/** `parent_id = null, owner_id = null` */
const setNull = ({ engine }: Call, columns: readonly Column[]): Where =>
  commaList(columns.map(column => where`${columnName(engine, { column })} = null`))

/** `select k0 from reached where t = 1`. Runs before all deletes, because the query cannot find the rows after them. */
function readUnmarked(
  call: Call,
  closure: Closure,
  node: GraphNode,
  followUp: (rows: readonly Row[]) => readonly Statement[],
): WriteStatement {
  const select = statement(call, where`${withClosure(closure)} ${selectKeys(closure, node)}`)
  return { ...select, returnsRows: true, followUp }
}

const ROWS_PER_STATEMENT = 1000

/** `update child set parent_id = null where id in (…)` */
function clearKeysOfRows(call: Call, node: GraphNode, columns: readonly Column[], rows: readonly Row[]): Statement[] {
  const update = where`update ${node.table} set ${setNull(call, columns)}`
  return batches(rows).map(batch => call.engine.render(where`${update} where ${inRowKeys(call.engine, node, batch)}`.getSQL()))
}

/** `delete from child where id in (…)` */
function deleteRows({ engine }: Call, node: GraphNode, rows: readonly Row[]): Statement[] {
  return batches(rows).map(batch => engine.render(where`delete from ${node.table} where ${inRowKeys(engine, node, batch)}`.getSQL()))
}

const batches = (rows: readonly Row[]) =>
  Array.from({ length: Math.ceil(rows.length / ROWS_PER_STATEMENT) }, (_, index) =>
    rows.slice(index * ROWS_PER_STATEMENT, (index + 1) * ROWS_PER_STATEMENT),
  )

function inRowKeys({ adapter }: Engine, node: GraphNode, rows: readonly Row[]): Where {
  const keys = commaList(rows.map(row => where`(${commaList(row.map(value))})`))
  return where`${tuple(primaryKeyOf(node))} in (${adapter.tuples(asSql(keys))})`
}

/** `delete from child where deletion_id = ?` */
const removeMarkedStatement = (call: Call, node: GraphNode, marker: string): WriteStatement =>
  statement(call, where`delete from ${node.table} where ${isMarked(node, marker)}`)

/**
 * `update child set deletion_id = null where deleted_at is null and deletion_id in (select deletion_id from root where id = ?)`.
 * A restore in a cycle runs these statements last.
 */
export function clearDeletionIdStatement(call: Call, { start, dependents: { root } }: Closure, node: GraphNode): WriteStatement {
  const { deletionId, deletedAt } = node.roles
  const group = where`select ${root.roles.deletionId!} as ${GROUP} from ${root.table} where ${start}`
  const inGroup = where`${deletionId!} in (select ${GROUP} from (${group}) as ${CLOSURE})`
  return statement(call, where`update ${node.table} set ${setNull(call, [deletionId!])} where ${deletedAt!} is null and ${inGroup}`)
}
