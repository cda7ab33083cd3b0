/**
 * Builds the statements that delete, restore and purge dependents. Each statement contains the recursive query `reached` (see
 * `withClosure`), which finds its rows. So the number of statements depends on the schema, not on the number of rows.
 *
 * Columns of `reached`: `t` is the number of the row's table, `k0`, `k1` … are its primary key, `g` is the `deletionId` that the row has
 * or gets. All rows that one delete moves to the trash share it.
 */
import { is, sql, SQL, type Column } from 'drizzle-orm'
import { trashColumnsOf } from '../../../../shared/column-roles'
import type { WriteStatement } from '../../../engines/engine'
import { encodeValue } from '../../../drizzle/index'
import { shape } from '../../sql/shape'
import type { ForeignKeyFacts } from '../../../schema/drizzle/foreign-keys'
import { columnOf, type GraphNode } from '../../../schema/graph'
import type { Call } from '../../request/session'
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

/** `update child set deleted_at = ?, deletion_id = reached.g from reached where deleted_at is null and t = 1 and id = k0` */
export function trashStatement(
  call: Call,
  closure: Closure,
  node: GraphNode,
  values: readonly { readonly column: Column, readonly value: unknown }[],
): WriteStatement {
  const { api, engine } = call
  const { root } = closure.dependents
  const key = shape`trash ${node}${values.map(({ column }) => column)}${closureShape(closure)}`
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

/**
 * `update child set deleted_at = null, … where id in (…) and deleted_at is not null and not (…)`
 * @param except the condition for rows that another statement of the commit restores
 */
export function restoreStatement(call: Call, closure: Closure, node: GraphNode, except: Clause | undefined): WriteStatement {
  const { api, engine } = call
  const { deletionId, ...rest } = trashColumnsOf(node.roles)
  const columns = [...Object.values(rest), ...deletionId && !keepsDeletionId(closure, node) ? [deletionId] : []]
  return statement(
    api.statements,
    engine,
    shape`clear ${node}${closureShape(closure)}${except?.shape}`,
    [...closure.start.values, ...(except?.values ?? [])],
    () => ({
      extra: undefined,
      sql: changeRows(closure, node, primaryKeyOf(node), selectKeys(closure, node), {
        set: columns.map(column => sql`${sql.identifier(engine.columnName(column))} = null`),
        where: sql`${node.roles.deletedAt!} is not null${andNot(except)}`,
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

/**
 * `update child set parent_id = null where parent_id in (…)`. Runs before the referenced rows are deleted, for foreign keys with
 * `on delete set null` or `on delete set default`.
 */
export function clearReferencesStatement(
  call: Call,
  closure: Closure,
  edge: ForeignKeyFacts,
  child: GraphNode,
  parent: GraphNode,
): WriteStatement {
  const { api, engine } = call
  const columns = edge.columns.map(name => columnOf(child.facts, name))
  const cleared = columns.map(column => (edge.onDelete === 'set default' ? defaultOf(column) : NULL))
  return statement(
    api.statements,
    engine,
    shape`clear references ${edge}${closureShape(closure)}`,
    [...closure.start.values, ...cleared.flatMap(({ values }) => values)],
    () => ({
      extra: undefined,
      sql: changeRows(closure, child, columns, selectReferenced(closure, edge, parent), {
        set: columns.map((column, index) => sql`${sql.identifier(engine.columnName(column))} = ${cleared[index]!.build()}`),
      }),
    }),
  )
}

const NULL = { values: [], build: () => sql`null` }

/** Returns the default of a column as a value or as SQL, because SQLite does not accept `set a = default`. */
function defaultOf(column: Column): { values: readonly unknown[], build: () => SQL } {
  const { default: value } = column
  if (value === undefined || value === null) return NULL
  const literal = is(value, SQL) ? undefined : encodeValue(column, value)
  return literal === undefined ? { values: [], build: () => sql`${value}` } : { values: [literal], build: () => sql`${sql.param(literal)}` }
}

/** `select 1 from child where parent_id in (…) and … limit 1`. If it finds a row, the commit is rolled back. */
export function restrictStatement(
  call: Call,
  closure: Closure,
  edge: ForeignKeyFacts,
  child: GraphNode,
  parent: GraphNode,
): WriteStatement {
  const { api, engine } = call
  const columns = edge.columns.map(name => columnOf(child.facts, name))
  const active = closure.followedRows === 'active' && child.roles.deletedAt ? sql`${child.roles.deletedAt} is null` : sql`1 = 1`
  const select = statement(api.statements, engine, shape`restrict ${edge}${closureShape(closure)}`, closure.start.values, () => {
    const references = inRows(closure, columns, selectReferenced(closure, edge, parent))
    const isDependent = closure.dependents.nodes.includes(child)
    const andNotDeleted = isDependent ? sql` and not (${tuple(primaryKeyOf(child))} in (${selectKeys(closure, child)}))` : sql``
    return {
      extra: undefined,
      sql: sql`${withClosure(closure)} select 1 from ${child.table} where ${active} and ${references}${andNotDeleted} limit 1`,
    }
  })
  return { ...select, returnsRows: true, expectedRows: 0 }
}

/**
 * `select 1 from child where deleted_at is null and parent_id in (…) limit 1`. If it finds a row, another transaction has inserted a
 * dependent during the delete. The commit then runs again.
 */
export function missedRowsStatement(
  call: Call,
  closure: Closure,
  edge: ForeignKeyFacts,
  child: GraphNode,
  parent: GraphNode,
): WriteStatement {
  const { api, engine } = call
  const columns = edge.columns.map(name => columnOf(child.facts, name))
  const select = statement(api.statements, engine, shape`missed ${edge}${closureShape(closure)}`, closure.start.values, () => {
    const references = inRows(closure, columns, selectReferenced(closure, edge, parent))
    return {
      extra: undefined,
      sql: sql`${withClosure(closure)} select 1 from ${child.table} where ${child.roles.deletedAt!} is null and ${references} limit 1`,
    }
  })
  return { ...select, returnsRows: true, expectedRows: 0, retry: true }
}

const andNot = (except: Clause | undefined) => except ? sql` and not (${except.build()})` : sql``
