/** Locks the rows of a cascade before a commit changes them, and reports them to listeners. */
import { sql } from 'drizzle-orm'
import type { WriteStatement } from '../../../engines/engine'
import { shape } from '../../sql/shape'
import type { GraphNode } from '../../../schema/graph'
import type { Call } from '../../request/session'
import type { Selection } from '../../access/fields'
import { statement } from '../../sql/clause'
import { selectList } from '../../read/rows/select'
import { namedIds, sourceOfCascade, type CascadedRows } from './cascaded-source'
import { closureShape, inTrashState, primaryKeyOf, selectKeys, tuple, withClosure, type Closure } from './closure/index'
import type { WriteOperation } from '../../commit/operation'
import { lockInOrder } from '../../commit/select'
import { hasListeners, needsSources, reportedColumns } from '../../commit/changes/report'
import { changedTable } from '../../commit/changes/table'

/**
 * Reads the rows of a cascade before they change, parents before children. Listeners need the ids of the rows. If commits can run
 * concurrently, the statements also lock the rows. Without the lock, a statement that waits for a row would use values that it read
 * before the wait, and could change a row that has moved to another parent. Other commits cannot add children to a locked row.
 */
export function cascadeOperations(call: Call, closure: Closure, nodes: readonly GraphNode[], cascaded: CascadedRows): WriteOperation[] {
  const reported = hasListeners(call)
  if (!reported && !call.engine.concurrent) return []
  const parentsFirst = closure.dependents.nodes.filter(node => nodes.includes(node))
  return parentsFirst.map(node =>
    reported ? reportOperation(call, closure, node, cascaded) : { statement: cascadedRowsStatement(call, closure, node, cascaded) },
  )
}

function reportOperation(call: Call, closure: Closure, node: GraphNode, cascaded: CascadedRows): WriteOperation {
  const table = changedTable(call, node)
  const columns = reportedColumns(call, table)
  return {
    statement: cascadedRowsStatement(call, closure, node, cascaded, columns),
    changes: {
      table, kind: cascaded.kind, cascaded: true, columns, state: 'before',
      except: namedIds(call, node, cascaded.named),
      ...needsSources(call) && sourceOfCascade(call, closure, node, cascaded),
    },
  }
}

/**
 * `with recursive reached … select id from child where deleted_at is null and id in (…) for update`.
 * @param columns the columns to return. Without them, the statement locks the rows and returns only their number
 */
function cascadedRowsStatement(
  call: Call,
  closure: Closure,
  node: GraphNode,
  { trash, except: exceptOf }: CascadedRows,
  columns?: Selection,
): WriteStatement {
  const { api, engine } = call
  const except = exceptOf?.(node)
  const key = shape`cascaded ${node}${columns?.key ?? shape`count`}${trash}${closureShape(closure)}${except?.shape}`
  const select = statement(api.statements, engine, key, [...closure.start.values, ...(except?.values ?? [])], () => {
    const selection = columns ? selectList(columns) : sql`1`
    const lock = engine.concurrent ? lockInOrder(engine, primaryKeyOf(node), 'update') : sql``
    const isReached = sql`${tuple(primaryKeyOf(node))} in (${selectKeys(closure, node)})`
    const notExcepted = except ? sql` and not (${except.build()})` : sql``
    const rows = sql`select ${selection} from ${node.table} where ${inTrashState(node, trash)} and ${isReached}${notExcepted}${lock}`
    return { extra: undefined, sql: sql`${withClosure(closure)} ${columns ? rows : engine.adapter.countLocked(rows)}` }
  })
  return { ...select, returnsRows: true }
}
