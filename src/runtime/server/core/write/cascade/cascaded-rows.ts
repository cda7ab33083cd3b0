/** Locks the rows of a cascade before a commit changes them, and reports them to listeners. */
import type { WriteStatement } from '../../../engines/engine'
import type { GraphNode } from '../../../schema/graph'
import type { Call } from '../../request/session'
import type { Selection } from '../../access/fields'
import { selectList } from '../../read/rows/select'
import { namedIds, sourceOfCascade, type CascadedRows } from './cascaded-source'
import { inTrashState, primaryKeyOf, selectKeys, tuple, withClosure, type Closure } from './closure/index'
import type { WriteOperation } from '../../commit/operation'
import { lockInOrder } from '../../commit/select'
import { hasListeners, needsSources, reportedColumns } from '../../commit/changes/report'
import { changedTable } from '../../commit/changes/table'
import { not } from '../../sql/conditions'
import { statement } from '../../sql/parameterize'
import { EMPTY, asSql, joined, where, word } from '../../sql/where'

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
  const { engine } = call
  const except = exceptOf?.(node)
  const isReached = where`${tuple(primaryKeyOf(node))} in (${selectKeys(closure, node)})`
  const conditions = joined([inTrashState(node, trash), isReached, ...except ? [not(except)] : []], ' and ')
  const lock = engine.concurrent ? lockInOrder(engine, primaryKeyOf(node), 'update') : EMPTY
  const rows = where`select ${columns ? selectList(columns) : word('1')} from ${node.table} where ${conditions}${lock}`
  const select = statement(call, where`${withClosure(closure)} ${columns ? rows : engine.adapter.countLocked(asSql(rows))}`)
  return { ...select, returnsRows: true }
}
