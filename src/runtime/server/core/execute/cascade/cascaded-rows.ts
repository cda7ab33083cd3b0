/** What a commit changes, row by row: rows that go along are locked before it changes them, and told to the plugins that listen. */
import { sql, type SQL } from 'drizzle-orm'
import type { Row, WriteStatement } from '../../../engines/engine'
import { shape } from '../../sql/shape'
import type { GraphNode } from '../../../schema/graph'
import type { Call } from '../../context'
import { toId, type Key } from '../../../schema/record-id'
import type { Change } from '../../changes'
import { statement, type Clause } from '../../sql/clause'
import { closureShape, primaryKeyOf, selectKeys, tuple, withClosure, type Closure } from './closure/index'
import type { WriteOperation } from '../commit/operation'
import { lockInOrder } from '../commit/select'
import { hasListeners } from '../commit/changes'

/** Which of a table's rows a statement is going to take along. */
export interface CascadedRows {
  readonly kind: Change['kind']
  /** Of the reached rows, those that the statement is about. */
  readonly trash: 'active' | 'trashed' | 'all'
  /** Rows the request names itself. */
  readonly named: readonly Key[]
  /** Rows of a table that are not meant. */
  readonly except?: (node: GraphNode) => Clause | undefined
}

/**
 * Rows that go along, the upper ones first, before anything is done to them: told to those who listen, and locked where
 * others may come between. A statement that waited for a row still goes by what it read before: it would take a row along
 * that has left meanwhile. Below rows that are locked nothing can be hung any more.
 */
export function cascadeOperations(call: Call, closure: Closure, nodes: readonly GraphNode[], along: CascadedRows): WriteOperation[] {
  const heard = hasListeners(call)
  if (!heard && !call.engine.concurrent) return []
  const upperFirst = closure.dependents.nodes.filter(node => nodes.includes(node))
  return upperFirst.map(node =>
    heard ? reportOperation(call, closure, node, along) : { statement: cascadedRowsStatement(call, closure, node, along, false) },
  )
}

function reportOperation(call: Call, closure: Closure, node: GraphNode, along: CascadedRows): WriteOperation {
  const own = new Set(node.resource === closure.dependents.root.resource ? along.named.map(key => toId(node.resource!, key)) : [])
  const changes = (rows: readonly Row[]) => rows.map(row => idOf(node, row)).filter(id => !own.has(id)).map((id): Change => ({
    ...node.resource && { resource: node.resource.name }, table: node.facts.name, kind: along.kind, id, cascaded: true,
  }))
  return { statement: cascadedRowsStatement(call, closure, node, along, true), changes: ({ rows }) => changes(rows) }
}

/** `with recursive reached … select id from child where deleted_at is null and id in (…) for update`; their number where nobody asks which. */
function cascadedRowsStatement(
  call: Call,
  closure: Closure,
  node: GraphNode,
  { trash, except: butOf }: CascadedRows,
  keys: boolean,
): WriteStatement {
  const { api, engine } = call
  const but = butOf?.(node)
  const key = shape`along ${node}${keys}${trash}${closureShape(closure)}${but?.shape}`
  const made = statement(api.statements, engine, key, [...closure.start.values, ...(but?.values ?? [])], () => {
    const selection = keys
      ? sql.join(
          primaryKeyOf(node).map(column => sql`${column}`),
          sql`, `,
        )
      : sql`1`
    const lock = engine.concurrent ? lockInOrder(engine, primaryKeyOf(node), 'update') : sql``
    const rows = sql`select ${selection} from ${node.table} where ${ofTrash(node, trash)} and ${tuple(primaryKeyOf(node))} in (${selectKeys(closure, node)})${but ? sql` and not (${but.build()})` : sql``}${lock}`
    return { extra: undefined, sql: sql`${withClosure(closure)} ${keys ? rows : engine.adapter.countLocked(rows)}` }
  })
  return { ...made, returnsRows: true }
}

function ofTrash({ roles: { deletedAt } }: GraphNode, trash: CascadedRows['trash']): SQL {
  if (!deletedAt || trash === 'all') return sql`1 = 1`
  return trash === 'active' ? sql`${deletedAt} is null` : sql`${deletedAt} is not null`
}

function idOf({ resource, facts }: GraphNode, row: Row): string {
  if (resource)
    return toId(resource, resource.primaryKey.map((field, index) => (field.decode ? field.decode(row[index]) : row[index])) as Key)
  const texts = row.map(String)
  return facts.primaryKey.length === 1 ? texts[0]! : texts.map(encodeURIComponent).join(',')
}
