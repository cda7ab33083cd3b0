/**
 * The statements that take descendants along. What a row takes along is found by one recursive query inside each
 * statement, so their number is fixed by the schema, however many rows there are.
 */
import { is, sql, SQL, type Column } from 'drizzle-orm'
import { trashColumnsOf } from '../../../../shared/column-roles'
import type { WriteStatement } from '../../../engines/engine'
import { shape } from '../../sql/shape'
import type { ForeignKeyFacts } from '../../../schema/drizzle/foreign-keys'
import { columnOf, type GraphNode } from '../../../schema/graph'
import type { Call } from '../../context'
import { statement, type Clause } from '../../sql/clause'
import {
  changeWithGroup,
  changeRows,
  closureShape,
  groupOf,
  inRows,
  keepsDeletionId,
  primaryKeyOf,
  selectReferenced,
  selectKeys,
  tuple,
  withClosure,
  type Closure,
} from './closure/index'

/** `update child set deleted_at = ?, deletion_id = reached.g from reached where deleted_at is null and id = reached.k0 and reached.t = 1` */
export function trashStatement(
  call: Call,
  closure: Closure,
  node: GraphNode,
  values: readonly { readonly column: Column, readonly value: unknown }[],
): WriteStatement {
  const { api, engine } = call
  const { root } = closure.dependents
  const key = shape`stamp ${node}${values.map(({ column }) => column)}${closureShape(closure)}`
  const assign = (column: Column, value: SQL) => sql`${sql.identifier(engine.columnName(column))} = ${value}`
  return statement(api.statements, engine, key, [...closure.start.values, ...values.map(({ value }) => value)], () => ({
    extra: undefined,
    sql: changeWithGroup(closure, node, {
      set: [
        ...values.map(({ column, value }) => assign(column, sql`${sql.param(value)}`)),
        ...(node.roles.deletionId && root.roles.deletionId ? [assign(node.roles.deletionId, groupOf(closure, node))] : []),
      ],
      where: sql`${node.roles.deletedAt!} is null`,
    }),
  }))
}

/** `update child set deleted_at = null, … where id in (…)` */
export function restoreStatement(call: Call, closure: Closure, node: GraphNode, but: Clause | undefined): WriteStatement {
  const { api, engine } = call
  const { deletionId, ...rest } = trashColumnsOf(node.roles)
  const columns = [...Object.values(rest), ...deletionId && !keepsDeletionId(closure, node) ? [deletionId] : []]
  return statement(
    api.statements,
    engine,
    shape`clear ${node}${closureShape(closure)}${but?.shape}`,
    [...closure.start.values, ...(but?.values ?? [])],
    () => ({
      extra: undefined,
      sql: changeRows(closure, node, primaryKeyOf(node), selectKeys(closure, node), {
        set: columns.map(column => sql`${sql.identifier(engine.columnName(column))} = null`),
        where: sql`${node.roles.deletedAt!} is not null${butNot(but)}`,
      }),
    }),
  )
}

/** `delete from child where id in (…)` */
export function removeStatement(call: Call, closure: Closure, node: GraphNode): WriteStatement {
  const { api, engine } = call
  return statement(api.statements, engine, shape`remove ${node}${closureShape(closure)}`, closure.start.values, () => ({
    extra: undefined,
    sql: changeRows(closure, node, primaryKeyOf(node), selectKeys(closure, node), {}),
  }))
}

/** `update child set parent_id = null where parent_id in (…)`: keys declared `set null` or `set default`, before what they point at is gone. */
export function clearReferencesStatement(call: Call, closure: Closure, edge: ForeignKeyFacts, child: GraphNode, parent: GraphNode): WriteStatement {
  const { api, engine } = call
  const columns = edge.columns.map(name => columnOf(child.facts, name))
  const emptied = columns.map(column => edge.onDelete === 'set default' ? defaultOf(column) : NULL)
  return statement(
    api.statements,
    engine,
    shape`release ${edge}${closureShape(closure)}`,
    [...closure.start.values, ...emptied.flatMap(({ values }) => values)],
    () => ({
      extra: undefined,
      sql: changeRows(closure, child, columns, selectReferenced(closure, edge, parent), {
        set: columns.map((column, index) => sql`${sql.identifier(engine.columnName(column))} = ${emptied[index]!.build()}`),
      }),
    }),
  )
}

const NULL = { values: [], build: () => sql`null` }

/** SQLite has no `set a = default`. */
function defaultOf({ default: value, mapToDriverValue }: Column): { values: readonly unknown[], build: () => SQL } {
  if (value === undefined || value === null) return NULL
  const literal = is(value, SQL) ? undefined : mapToDriverValue(value)
  return literal === undefined ? { values: [], build: () => sql`${value}` } : { values: [literal], build: () => sql`${sql.param(literal)}` }
}

/** `select 1 from child where parent_id in (…) and … limit 1`: must find nothing, or the commit is undone. */
export function restrictStatement(
  call: Call,
  closure: Closure,
  edge: ForeignKeyFacts,
  child: GraphNode,
  parent: GraphNode,
): WriteStatement {
  const { api, engine } = call
  const columns = edge.columns.map(name => columnOf(child.facts, name))
  const active = closure.following === 'active' && child.roles.deletedAt ? sql`${child.roles.deletedAt} is null` : sql`1 = 1`
  const made = statement(api.statements, engine, shape`restrict ${edge}${closureShape(closure)}`, closure.start.values, () => ({
    extra: undefined,
    sql: sql`${withClosure(closure)} select 1 from ${child.table} where ${active} and ${inRows(closure, columns, selectReferenced(closure, edge, parent))}${closure.dependents.nodes.includes(child) ? sql` and not (${tuple(primaryKeyOf(child))} in (${selectKeys(closure, child)}))` : sql``} limit 1`,
  }))
  return { ...made, returnsRows: true, expectedRows: 0 }
}

/** `select 1 from child where deleted_at is null and parent_id in (select … from reached) limit 1`: must find nothing, or the commit is done again. */
export function missedRowsStatement(
  call: Call,
  closure: Closure,
  edge: ForeignKeyFacts,
  child: GraphNode,
  parent: GraphNode,
): WriteStatement {
  const { api, engine } = call
  const columns = edge.columns.map(name => columnOf(child.facts, name))
  const made = statement(api.statements, engine, shape`left over ${edge}${closureShape(closure)}`, closure.start.values, () => ({
    extra: undefined,
    sql: sql`${withClosure(closure)} select 1 from ${child.table} where ${child.roles.deletedAt!} is null and ${inRows(closure, columns, selectReferenced(closure, edge, parent))} limit 1`,
  }))
  return { ...made, returnsRows: true, expectedRows: 0, retry: true }
}

const butNot = (but: Clause | undefined) => but ? sql` and not (${but.build()})` : sql``
