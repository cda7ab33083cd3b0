/** What a commit changed, row by row, for the plugins that listen. Rows that go along are read inside the commit, and only when one listens. */
import { sql, type SQL } from 'drizzle-orm'
import type { Row } from '../../engines/engine'
import type { GraphNode } from '../../schema/graph'
import type { Resource } from '../../schema/model'
import type { Call } from '../context'
import { toId, type Key } from '../parse/key'
import type { Change } from '../plugins'
import { statement, type Clause } from '../query'
import { closureShape, keysOf, rowsOf, tuple, withClosure, type Closure } from './closure'
import type { Step } from './commit'

export const isHeard = ({ api }: Call) => api.plugins.onCommit.length > 0

/** The row a request named. */
export function changeOf({ api }: Call, resource: Resource, kind: Change['kind'], key: Key): Change {
  return { ...api.resources.get(resource.name) === resource && { resource: resource.name }, table: resource.facts.name, kind, id: toId(resource, key) }
}

/** Which of a table's rows a statement is going to take along. */
export interface Along {
  readonly kind: Change['kind']
  /** Of the reached rows, those that the statement is about. */
  readonly trash: 'active' | 'trashed' | 'all'
  /** Rows the request names itself. */
  readonly named: readonly Key[]
  readonly but?: Clause
}

/** `with recursive reached … select id from child where deleted_at is null and id in (…)`, before the statement that changes them; nothing when nobody listens. */
export function tellAlong(call: Call, closure: Closure, node: GraphNode, { kind, trash, named, but }: Along): Step[] {
  if (!isHeard(call)) return []
  const { api, engine } = call
  const own = new Set(node.resource === closure.reach.root.resource ? named.map(key => toId(node.resource!, key)) : [])
  const made = statement(api.statements, engine, `${closure.reach.root.facts.name}|along ${trash} ${node.facts.name}|${closureShape(closure)}|${but?.shape}`, [...closure.start.values, ...but?.values ?? []], () => ({
    extra: undefined,
    sql: sql`${withClosure(closure)} select ${sql.join(keysOf(node).map(column => sql`${column}`), sql`, `)} from ${node.table} where ${ofTrash(node, trash)} and ${tuple(keysOf(node))} in (${rowsOf(closure, node)})${but ? sql` and not (${but.build()})` : sql``}`,
  }))
  const changes = (rows: readonly Row[]) => rows.map(row => idOf(node, row)).filter(id => !own.has(id)).map((id): Change => ({
    ...node.resource && { resource: node.resource.name }, table: node.facts.name, kind, id, cascaded: true,
  }))
  return [{ statement: { ...made, returns: true }, changes: ({ rows }) => changes(rows) }]
}

function ofTrash({ roles: { deletedAt } }: GraphNode, trash: Along['trash']): SQL {
  if (!deletedAt || trash === 'all') return sql`1 = 1`
  return trash === 'active' ? sql`${deletedAt} is null` : sql`${deletedAt} is not null`
}

function idOf({ resource, facts }: GraphNode, row: Row): string {
  if (resource) return toId(resource, resource.primaryKey.map((field, index) => field.decode ? field.decode(row[index]) : row[index]) as Key)
  const texts = row.map(String)
  return facts.primaryKey.length === 1 ? texts[0]! : texts.map(encodeURIComponent).join(',')
}
