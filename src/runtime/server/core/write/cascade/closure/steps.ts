/** Builds the steps of a cascade, one for each foreign key. A step finds the rows that reference the reached rows of a table. */
import { sql, type Column, type SQL } from 'drizzle-orm'
import type { ForeignKeyFacts } from '../../../../schema/drizzle/foreign-keys'
import { columnOf, type GraphNode } from '../../../../schema/graph'
import { adapterOf, all, CLOSURE, columnsOf, GROUP, keepsDeletionId, TABLE, tableNumber, TIME, type Closure } from './closure'
import { reachedKey, sameKey } from './keys'

export interface ClosureStep {
  readonly child: GraphNode
  readonly from: readonly { readonly table: SQL, readonly on: SQL }[]
  readonly where: SQL
}

export function stepsOf(closure: Closure): ClosureStep[] {
  return closure.dependents.edges.map((edge) => {
    const child = childOf(closure, edge)
    const parent = parentOf(closure, edge)
    return {
      child,
      from: joinTo(closure, edge, child, parent),
      where: sql`${CLOSURE}.${TABLE} = ${tableNumber(closure, parent)}${trashCondition(closure, child)}`,
    }
  })
}

export const childOf = ({ dependents }: Closure, edge: ForeignKeyFacts) => dependents.nodes.find(node => node.table === edge.table)!
export const parentOf = ({ dependents }: Closure, edge: ForeignKeyFacts) => dependents.nodes.find(node => node.table === edge.foreignTable)!

/** `comments on comments.post_id = reached.k0`. If the foreign key does not reference the primary key, the step joins the parent too. */
function joinTo(closure: Closure, edge: ForeignKeyFacts, child: GraphNode, parent: GraphNode): ClosureStep['from'] {
  const { primaryKey } = parent.facts
  const positions = edge.foreignColumns.map(name => primaryKey.indexOf(name))
  const columns = columnsOf(edge, child)
  if (!positions.includes(-1) && columns.length === primaryKey.length) {
    const on = all(columns.map((column, index) => sameKey(column, reachedKey(closure, parent, positions[index]!))))
    return [{ table: sql`${child.table}`, on }]
  }
  const parentAlias = sql.identifier('up')
  const columnOfParent = (name: string) => sql`${parentAlias}.${sql.identifier(columnOf(parent.facts, name).name)}`
  const isReached = primaryKey.map((name, index) => sql`${columnOfParent(name)} = ${reachedKey(closure, parent, index)}`)
  const references = columns.map((column, index) => sameKey(column, columnOfParent(edge.foreignColumns[index]!)))
  return [
    { table: sql`${parent.table} as ${parentAlias}`, on: all(isReached) },
    { table: sql`${child.table}`, on: all(references) },
  ]
}

/** ` and (deleted_at is null or deletion_id = reached.g)`. Limits a step to the rows of `followedRows`, if the table has a trash. */
export function trashCondition(closure: Closure, node: GraphNode, aliased = (column: Column): Column => column): SQL {
  const { followedRows } = closure
  if (!node.roles.deletedAt || followedRows === 'all') return sql``
  const deletedAt = aliased(node.roles.deletedAt)
  const grouped = inGroup(closure, deletedAt, node.roles.deletionId && aliased(node.roles.deletionId))
  if (followedRows === 'active') return sql` and (${deletedAt} is null or ${grouped})`
  return keepsDeletionId(closure, node) ? sql` and ${grouped}` : sql` and ${deletedAt} is not null and ${grouped}`
}

/** `deletion_id = reached.g`, or `deleted_at = reached.d` */
function inGroup(closure: Closure, deletedAt: Column, deletionId: Column | undefined): SQL {
  const { roles } = closure.dependents.root
  const { convert } = adapterOf(closure)
  if (deletionId && roles.deletionId) return sql`${deletionId} = ${convert(sql`${CLOSURE}.${GROUP}`, roles.deletionId, deletionId)}`
  const time = sql`${CLOSURE}.${TIME}`
  return sql`${deletedAt} = ${roles.deletedAt ? convert(time, roles.deletedAt, deletedAt) : time}`
}
