/** Reports the rows whose references to removed rows are cleared. */
import { is, sql, SQL, type Column } from 'drizzle-orm'
import { groupBy } from '../../../../shared/group-by'
import type { WriteStatement } from '../../../engines/engine'
import { encodeValue } from '../../../drizzle/index'
import type { ForeignKeyFacts } from '../../../schema/drizzle/foreign-keys'
import { columnOf, type GraphNode } from '../../../schema/graph'
import type { Selection } from '../../access/fields'
import type { Call } from '../../request/session'
import { hasListeners, needsSources, reportedColumns } from '../../commit/changes/report'
import type { AssignedValues, RowSource } from '../../commit/changes/source'
import { changedTable } from '../../commit/changes/table'
import type { WriteOperation } from '../../commit/operation'
import { namedIds, namedRows, type NamedRows } from './cascaded-source'
import { lockInOrder } from '../../commit/select'
import { selectList } from '../../read/rows/select'
import {
  columnsOf,
  inRows,
  primaryKeyOf,
  selectKeys,
  selectReferenced,
  tuple,
  withClosure,
  type Closure,
} from './closure/index'
import { not } from '../../sql/conditions'
import { statement } from '../../sql/parameterize'
import { EMPTY, joined, where, type Where } from '../../sql/where'

/** The foreign keys of one table that are cleared. */
interface Cleared {
  readonly closure: Closure
  readonly child: GraphNode
  readonly edges: readonly ForeignKeyFacts[]
  readonly named: NamedRows
}

/** Reads the rows before their references are cleared. Only listeners need them. */
export function clearedOperations(call: Call, closure: Closure, named: NamedRows): WriteOperation[] {
  if (!hasListeners(call)) return []
  return [...groupBy(closure.dependents.cleared, edge => edge.table).values()].map((edges): WriteOperation => {
    const cleared = { closure, child: call.api.graph.get(edges[0]!.table)!, edges, named }
    const table = changedTable(call, cleared.child)
    const columns = reportedColumns(call, table)
    return {
      statement: clearedRowsStatement(call, cleared, columns),
      changes: {
        table, kind: 'update', cascaded: true, columns, state: 'before',
        except: namedIds(call, cleared.child, named),
        ...needsSources(call) && { source: clearedSource(call, cleared), assigned: clearedValues(call, cleared) },
      },
    }
  })
}

/** `with recursive reached … select id from child where (parent_id in (…) or …) and not (id in (…)) for update` */
function clearedRowsStatement(call: Call, cleared: Cleared, columns: Selection): WriteStatement {
  const { closure, child } = cleared
  const lock = call.engine.concurrent ? lockInOrder(call.engine, primaryKeyOf(child), 'update') : EMPTY
  const select = statement(call, where`${withClosure(closure)} select ${selectList(columns)}${fromCleared(call, cleared)}${lock}`)
  return { ...select, returnsRows: true }
}

function clearedSource(call: Call, cleared: Cleared): RowSource {
  const { closure, child, named } = cleared
  const others = namedRows(call, child, named)
  return { with: withClosure(closure), from: where`${fromCleared(call, cleared)}${others ? where` and ${not(others)}` : EMPTY}` }
}

/** ` from child where (parent_id in (…) or …) and not (id in (…))`. Leaves out the rows of the closure, because they are removed. */
function fromCleared(call: Call, { closure, child, edges }: Cleared): Where {
  const references = joined(edges.map(edge => isCleared(call, closure, child, edge)), ' or ')
  const isRemoved = where`${tuple(primaryKeyOf(child))} in (${selectKeys(closure, child)})`
  const others = closure.dependents.nodes.includes(child) ? where` and ${not(isRemoved)}` : EMPTY
  return where` from ${child.table} where (${references})${others}`
}

function isCleared({ api }: Call, closure: Closure, child: GraphNode, edge: ForeignKeyFacts): SQL {
  return inRows(closure, columnsOf(edge, child), selectReferenced(closure, edge, api.graph.get(edge.foreignTable)!))
}

/** `case when parent_id in (…) then null else parent_id end`: a row can reference a removed row by only some of its foreign keys. */
function clearedValues(call: Call, { closure, child, edges }: Cleared): AssignedValues {
  const { row: { fields } } = changedTable(call, child)
  const values = new Map<Column, SQL>()
  for (const edge of edges) {
    for (const name of edge.columns) {
      const column = columnOf(child.facts, name)
      const cleared = edge.onDelete === 'set default' ? defaultSql(column) : sql`null`
      values.set(column, sql`case when ${isCleared(call, closure, child, edge)} then ${cleared} else ${values.get(column) ?? column} end`)
    }
  }
  return new Map(fields.flatMap(field => values.has(field.column) ? [[field, values.get(field.column)] as const] : []))
}

/** The default of a column without parameters, because the text of the statement is cached. */
function defaultSql(column: Column): SQL {
  const { default: value } = column
  if (value === undefined || value === null) return sql`null`
  if (is(value, SQL)) return sql`${value}`
  const literal = encodeValue(column, value)
  return typeof literal === 'number' || typeof literal === 'bigint'
    ? sql.raw(String(literal))
    : sql.raw(`'${String(literal).replaceAll('\'', '\'\'')}'`)
}
