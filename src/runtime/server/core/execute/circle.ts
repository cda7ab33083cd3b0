/**
 * Tables that hang on one another, in a circle. What goes first would break the way to the rest, so the rows are marked
 * before they go and keep their group until all of them are back.
 */
import { sql, type SQL } from 'drizzle-orm'
import type { Row, Statement, WriteStatement } from '../../engines/engine'
import { shape } from '../../engines/shape'
import type { ForeignKeyFacts } from '../../schema/drizzle'
import { columnOf, type GraphNode } from '../../schema/graph'
import type { Call } from '../context'
import type { Reach } from '../plan/cascade'
import { statement } from '../query'
import { removeStatement } from './cascade'
import { changeRows, CLOSURE, closureShape, GROUP, keysOf, rowsOf, tuple, withClosure, type Closure } from './closure'

/** SQLite then checks its foreign keys when the transaction ends: no order of the statements would fit them all. */
const DEFER: WriteStatement = Object.freeze({ text: 'pragma defer_foreign_keys = on', values: [] })

/** Removes the reached rows of these tables. Tables that cannot mark a row find theirs while all the others are there. */
export function removeCircle(call: Call, closure: Closure, nodes: readonly GraphNode[]): WriteStatement[] {
  const marker = crypto.randomUUID()
  const marking = nodes.filter(({ roles }) => roles.deletionId)
  return [
    ...call.engine.dialect === 'sqlite' ? [DEFER] : [],
    ...marking.map(node => markStatement(call, closure, node, marker)),
    ...nodes.filter(({ roles }) => !roles.deletionId).map(node => removeUnmarked(call, closure, node)),
    ...call.engine.dialect === 'sqlite' ? [] : marking.flatMap(node => unhookStatement(call, closure, node, marker)),
    ...marking.map(node => removeMarkedStatement(call, node, marker)),
  ]
}

/** `update child set deletion_id = ? where id in (select … from reached)` */
function markStatement(call: Call, closure: Closure, node: GraphNode, marker: string): WriteStatement {
  const { api, engine } = call
  const column = node.roles.deletionId!
  return statement(api.statements, engine, shape`mark ${node}${closureShape(closure)}`, [...closure.start.values, column.mapToDriverValue(marker)], () => ({
    extra: undefined,
    sql: changeRows(closure, node, keysOf(node), rowsOf(closure, node), { set: [sql`${sql.identifier(engine.columnName(column))} = ${sql.param(marker)}`] }),
  }))
}

/** Whether no order of removing rows fits every foreign key: MySQL looks at them row by row, within one statement too. */
export const needsMarks = ({ circular, edges }: Reach, { engine }: Call) => circular || (engine.dialect === 'mysql' && edges.some(edge => edge.table === edge.foreignTable))

/** `update child set parent_id = null where deletion_id = ?`: foreign keys that are not deferred would stand in each other's way. */
function unhookStatement({ api, engine }: Call, { reach }: Closure, node: GraphNode, marker: string): WriteStatement[] {
  const column = node.roles.deletionId!
  const hooks = reach.edges.filter(edge => edge.table === node.table && reach.nodes.findIndex(other => other.table === edge.foreignTable) >= reach.nodes.indexOf(node))
  const columns = new Set(hooks.flatMap(edge => edge.columns.map(name => columnOf(node.facts, name))).filter(own => !own.notNull && !own.primary))
  if (columns.size === 0) return []
  return [statement(api.statements, engine, shape`unhook ${reach.root}${node}`, [column.mapToDriverValue(marker)], () => ({
    extra: undefined,
    sql: sql`update ${node.table} set ${sql.join([...columns].map(own => sql`${sql.identifier(engine.columnName(own))} = null`), sql`, `)} where ${column} = ${sql.param(marker)}`,
  }))]
}

/** Rows that hang on one another and cannot be marked: MySQL would refuse to remove one before those below it, and unhooked they are not found again. */
function removeUnmarked(call: Call, closure: Closure, node: GraphNode): WriteStatement {
  const own = closure.reach.edges.filter(edge => edge.table === node.table && edge.foreignTable === node.table)
  if (call.engine.dialect !== 'mysql' || own.length === 0) return removeStatement(call, closure, node)
  const { api, engine } = call
  const made = statement(api.statements, engine, shape`reached ${node}${closureShape(closure)}`, closure.start.values, () => ({
    extra: undefined,
    sql: sql`${withClosure(closure)} ${rowsOf(closure, node)}`,
  }))
  return { ...made, returns: true, followUp: rows => [...unhookRows(call, node, own, rows), ...deleteRows(call, node, rows)] }
}

const AT_ONCE = 1000

/** `update child set parent_id = null where id in (…)` */
function unhookRows({ engine }: Call, node: GraphNode, own: readonly ForeignKeyFacts[], rows: readonly Row[]): Statement[] {
  const columns = new Set(own.flatMap(edge => edge.columns.map(name => columnOf(node.facts, name))).filter(column => !column.notNull && !column.primary))
  if (columns.size === 0) return []
  const emptied = sql.join([...columns].map(column => sql`${sql.identifier(engine.columnName(column))} = null`), sql`, `)
  return batches(rows).map(batch => engine.render(sql`update ${node.table} set ${emptied} where ${isAmong(node, batch)}`))
}

/** `delete from child where id in (…)` */
function deleteRows({ engine }: Call, node: GraphNode, rows: readonly Row[]): Statement[] {
  return batches(rows).map(batch => engine.render(sql`delete from ${node.table} where ${isAmong(node, batch)}`))
}

const batches = (rows: readonly Row[]) => Array.from({ length: Math.ceil(rows.length / AT_ONCE) }, (_, index) => rows.slice(index * AT_ONCE, (index + 1) * AT_ONCE))

function isAmong(node: GraphNode, rows: readonly Row[]): SQL {
  return sql`${tuple(keysOf(node))} in (${sql.join(rows.map(row => sql`(${sql.join(row.map(value => sql`${sql.param(value)}`), sql`, `)})`), sql`, `)})`
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
  const { root } = closure.reach
  return statement(api.statements, engine, shape`ungroup ${node}${closureShape(closure)}`, closure.start.values, () => ({
    extra: undefined,
    sql: sql`update ${node.table} set ${sql.identifier(engine.columnName(node.roles.deletionId!))} = null where ${node.roles.deletedAt!} is null and ${node.roles.deletionId!} in (select ${GROUP} from (select ${root.roles.deletionId!} as ${GROUP} from ${root.table} where ${closure.start.build()}) as ${CLOSURE})`,
  }))
}
