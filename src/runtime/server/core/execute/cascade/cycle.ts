/**
 * Tables that hang on one another, in a circle. What goes first would break the way to the rest, so the rows are marked
 * before they go and keep their group until all of them are back.
 */
import { sql, type Column, type SQL } from 'drizzle-orm'
import type { Engine, Row, Statement, WriteStatement } from '../../../engines/engine'
import { shape } from '../../sql/shape'
import type { ForeignKeyFacts } from '../../../schema/drizzle/foreign-keys'
import { columnOf, type GraphNode } from '../../../schema/graph'
import type { Call } from '../../context'
import type { Dependents } from './dependents'
import { statement } from '../../sql/clause'
import { removeStatement } from './statements'
import { changeRows, CLOSURE, closureShape, GROUP, primaryKeyOf, selectKeys, tuple, withClosure, type Closure } from './closure/index'

/** Removes the reached rows of these tables. Rows that cannot be marked are read before anything is removed, and found again by their keys. */
export function removeCycle(call: Call, closure: Closure, nodes: readonly GraphNode[]): WriteStatement[] {
  const marker = crypto.randomUUID()
  const marking = nodes.filter(({ roles }) => roles.deletionId)
  const unmarked = nodes.filter(({ roles }) => !roles.deletionId)
  // No order of the statements fits all foreign keys: they are checked at the end of the transaction, or cleared first.
  const { deferForeignKeys } = call.engine.adapter
  const first = [
    ...(deferForeignKeys ? [{ text: deferForeignKeys, values: [] }] : []),
    ...marking.map(node => markStatement(call, closure, node, marker)),
  ]
  // In a batch nothing can be read: tables that cannot mark a row find theirs while all the others are there.
  if (unmarked.length > 0 && !call.engine.supportsFollowUp)
    return [
      ...first,
      ...unmarked.map(node => removeStatement(call, closure, node)),
      ...marking.map(node => removeMarkedStatement(call, node, marker)),
    ]

  const read = new Map<GraphNode, readonly Row[]>()
  const order = deletionOrder(nodes, closure.dependents.edges)
  const hooks
    = deferForeignKeys
      ? []
      : order
          .map((node, index) => ({ node, columns: keyColumnsToClear(node, closure.dependents.edges, order.slice(0, index + 1)) }))
          .filter(({ columns }) => columns.length > 0)
  const last = (): Statement[] => [
    ...hooks.flatMap(({ node, columns }) =>
      node.roles.deletionId
        ? [clearKeysStatement(call, closure, node, columns, marker)]
        : clearKeysOfRows(call, node, columns, read.get(node)!),
    ),
    ...order.flatMap(node =>
      node.roles.deletionId ? [removeMarkedStatement(call, node, marker)] : deleteRows(call, node, read.get(node)!),
    ),
  ]
  if (unmarked.length === 0) return [...first, ...last()]
  return [...first, ...unmarked.map((node, index) => readUnmarked(call, closure, node, (rows) => {
    read.set(node, rows)
    return index === unmarked.length - 1 ? last() : []
  }))]
}

/** Whether a key can be emptied, so that its row does not stand in the way of the one it points at. */
const clearableColumns = (node: GraphNode, edge: ForeignKeyFacts) =>
  edge.columns.map(name => columnOf(node.facts, name)).filter(column => !column.notNull && !column.primary)

/** Rows before those they point at; in a cycle the key that is broken is one that can be emptied. */
function deletionOrder(nodes: readonly GraphNode[], edges: readonly ForeignKeyFacts[]): readonly GraphNode[] {
  const left = [...nodes]
  const order: GraphNode[] = []
  const isFree = (node: GraphNode, holds: (edge: ForeignKeyFacts, child: GraphNode) => boolean) =>
    !left.some(
      child => child !== node && edges.some(edge => edge.table === child.table && edge.foreignTable === node.table && holds(edge, child)),
    )
  while (left.length > 0) {
    const next
      = left.find(node => isFree(node, () => true))
        ?? left.find(node => isFree(node, (edge, child) => clearableColumns(child, edge).length === 0))
        ?? left[0]!
    order.push(...left.splice(left.indexOf(next), 1))
  }
  return order
}

/** The columns of keys that point at rows which go before these, or at rows of the same table. */
function keyColumnsToClear(node: GraphNode, edges: readonly ForeignKeyFacts[], gone: readonly GraphNode[]): readonly Column[] {
  return [
    ...new Set(
      edges
        .filter(edge => edge.table === node.table && gone.some(other => other.table === edge.foreignTable))
        .flatMap(edge => clearableColumns(node, edge)),
    ),
  ]
}

/** `update child set deletion_id = ? where id in (select … from reached)` */
function markStatement(call: Call, closure: Closure, node: GraphNode, marker: string): WriteStatement {
  const { api, engine } = call
  const column = node.roles.deletionId!
  return statement(
    api.statements,
    engine,
    shape`mark ${node}${closureShape(closure)}`,
    [...closure.start.values, column.mapToDriverValue(marker)],
    () => ({
      extra: undefined,
      sql: changeRows(closure, node, primaryKeyOf(node), selectKeys(closure, node), {
        set: [sql`${sql.identifier(engine.columnName(column))} = ${sql.param(marker)}`],
      }),
    }),
  )
}

/** Whether no order of removing rows fits every foreign key: MySQL looks at them row by row, within one statement too. */
export const needsMarking = ({ cyclic, edges }: Dependents, { engine }: Call) =>
  cyclic || (engine.adapter.checksForeignKeysByRow && edges.some(edge => edge.table === edge.foreignTable))

/** `update child set parent_id = null where deletion_id = ?`: foreign keys that are not deferred would stand in each other's way. */
function clearKeysStatement(
  { api, engine }: Call,
  { dependents }: Closure,
  node: GraphNode,
  columns: readonly Column[],
  marker: string,
): WriteStatement {
  const column = node.roles.deletionId!
  return statement(api.statements, engine, shape`unhook ${dependents.root}${node}${columns}`, [column.mapToDriverValue(marker)], () => ({
    extra: undefined,
    sql: sql`update ${node.table} set ${sql.join(
      columns.map(own => sql`${sql.identifier(engine.columnName(own))} = null`),
      sql`, `,
    )} where ${column} = ${sql.param(marker)}`,
  }))
}

/** `select id from child where id in (select … from reached)`: once others are gone, or unhooked, these are not found again. */
function readUnmarked(
  call: Call,
  closure: Closure,
  node: GraphNode,
  followUp: (rows: readonly Row[]) => readonly Statement[],
): WriteStatement {
  const { api, engine } = call
  const made = statement(api.statements, engine, shape`reached ${node}${closureShape(closure)}`, closure.start.values, () => ({
    extra: undefined,
    sql: sql`${withClosure(closure)} ${selectKeys(closure, node)}`,
  }))
  return { ...made, returnsRows: true, followUp }
}

const AT_ONCE = 1000

/** `update child set parent_id = null where id in (…)` */
function clearKeysOfRows({ engine }: Call, node: GraphNode, columns: readonly Column[], rows: readonly Row[]): Statement[] {
  const emptied = sql.join(columns.map(column => sql`${sql.identifier(engine.columnName(column))} = null`), sql`, `)
  return batches(rows).map(batch => engine.render(sql`update ${node.table} set ${emptied} where ${isAmong(engine, node, batch)}`))
}

/** `delete from child where id in (…)` */
function deleteRows({ engine }: Call, node: GraphNode, rows: readonly Row[]): Statement[] {
  return batches(rows).map(batch => engine.render(sql`delete from ${node.table} where ${isAmong(engine, node, batch)}`))
}

const batches = (rows: readonly Row[]) =>
  Array.from({ length: Math.ceil(rows.length / AT_ONCE) }, (_, index) => rows.slice(index * AT_ONCE, (index + 1) * AT_ONCE))

function isAmong({ adapter }: Engine, node: GraphNode, rows: readonly Row[]): SQL {
  return sql`${tuple(primaryKeyOf(node))} in (${adapter.tuples(sql.join(
    rows.map(
      row =>
        sql`(${sql.join(
          row.map(value => sql`${sql.param(value)}`),
          sql`, `,
        )})`,
    ),
    sql`, `,
  ))})`
}

/** `delete from child where deletion_id = ?` */
function removeMarkedStatement({ api, engine }: Call, node: GraphNode, marker: string): WriteStatement {
  const column = node.roles.deletionId!
  return statement(api.statements, engine, shape`remove marked ${node}`, [column.mapToDriverValue(marker)], () => ({
    extra: undefined,
    sql: sql`delete from ${node.table} where ${column} = ${sql.param(marker)}`,
  }))
}

/** `update child set deletion_id = null where deleted_at is null and deletion_id in (select deletion_id from root where id = ?)`: the end of a restore in a circle. */
export function ungroupStatement(call: Call, closure: Closure, node: GraphNode): WriteStatement {
  const { api, engine } = call
  const { root } = closure.dependents
  return statement(api.statements, engine, shape`ungroup ${node}${closureShape(closure)}`, closure.start.values, () => ({
    extra: undefined,
    sql: sql`update ${node.table} set ${sql.identifier(engine.columnName(node.roles.deletionId!))} = null where ${node.roles.deletedAt!} is null and ${node.roles.deletionId!} in (select ${GROUP} from (select ${root.roles.deletionId!} as ${GROUP} from ${root.table} where ${closure.start.build()}) as ${CLOSURE})`,
  }))
}
