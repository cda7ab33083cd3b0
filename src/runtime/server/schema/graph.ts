/** The foreign-key graph: every table, registered or not, with the foreign keys that reference it. */
import type { Column, Table } from 'drizzle-orm'
import type { ColumnRole } from '../../shared/column-roles'
import { describeForeignKeys, type ForeignKeyFacts } from './drizzle/foreign-keys'
import { describeTable, type TableFacts } from './drizzle/table'
import { isTable } from './drizzle/config'
import type { Resource } from './model'
import { findRoles } from './server-owned'

export interface GraphNode {
  readonly table: Table
  readonly facts: TableFacts
  /** The first resource of the table, if the table is registered. */
  readonly resource?: Resource
  /** Columns by role. If a table has no `deletedAt`, a cascade continues with the rows that reference its rows. */
  readonly roles: Readonly<Partial<Record<ColumnRole, Column>>>
  /** The foreign keys of this table. */
  readonly keys: readonly ForeignKeyFacts[]
  /** The foreign keys that reference this table, including its own. */
  readonly children: readonly ForeignKeyFacts[]
}

export type TableGraph = ReadonlyMap<Table, GraphNode>

export function createGraph(resources: ReadonlyMap<string, Resource>, modules: readonly Record<string, unknown>[]): TableGraph {
  const registered = new Map([...resources.values()].reverse().map(resource => [resource.table, resource]))
  const tables = new Set<Table>([...registered.keys(), ...modules.flatMap(module => Object.values(module).filter(isTable))])
  const keys = [...tables].flatMap(table => describeForeignKeys(table))
  return new Map([...tables].map((table): [Table, GraphNode] => {
    const resource = registered.get(table)
    const facts = resource?.facts ?? describeTable(table)
    return [table, Object.freeze({
      table,
      facts,
      ...resource && { resource },
      roles: Object.fromEntries(Object.entries(findRoles(facts)).map(([role, name]) => [role, columnOf(facts, name)])),
      keys: keys.filter(key => key.table === table),
      children: keys.filter(key => key.foreignTable === table),
    })]
  }))
}

export function columnOf(facts: TableFacts, name: string): Column {
  return facts.columns.find(column => column.name === name)!.column
}
