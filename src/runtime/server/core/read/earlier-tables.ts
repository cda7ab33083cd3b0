/** Puts the rows of other tables, as they were stored before, in the place of these tables, for rules that read them. */
import type { Resource } from '../../schema/model'
import { toKey } from '../../schema/record-id'
import type { Call } from '../request/session'
import { and, not } from '../sql/conditions'
import { inTuples } from '../sql/list/index'
import { render } from '../sql/parameterize'
import { asSql, commaList, joined, where, type Where } from '../sql/where'
import type { RecordValues } from './rows/decode'
import { schemaOf, storedColumns, storedFields, storedValues } from './stored-rows'

/** The rows of a table that have changed. */
export interface EarlierRows {
  /** The ids of all of them. */
  readonly ids: readonly string[]
  /** As they were before. A new row is absent. */
  readonly rows: readonly RecordValues[]
}

export type FindEarlier = (resource: Resource) => EarlierRows

/** SQLite combines at most 500 queries. With more rows, rules read the tables as they are now. */
const MAX_ROWS = 200
const MAX_IDS = 500

/** Returns the resources whose tables the rules of another one read. A table of a schema cannot be replaced by its name. */
export function resourcesIn(call: Call, scope: readonly Where[]): readonly Resource[] {
  const { api, resource, engine, memo } = call
  const { text } = render({ engine, memo }, and(scope))
  if (!/\bselect\b/i.test(text)) return []
  const read = new Map([...api.resources.values()].map(other => [other.table, other]))
  const isNamed = ({ facts: { name } }: Resource) => new RegExp(`(?<!\\w)${name.replace(/\W/g, '\\$&')}(?!\\w)`, 'i').test(text)
  return [...read.values()].filter(other => other.table !== resource.table && schemaOf(other.table) === undefined && isNamed(other))
}

/** Returns `posts as (…), tags as (…)`, or `undefined` if no row of these tables has changed. */
export function earlierTables(call: Call, reads: readonly Resource[], find: FindEarlier): Where | undefined {
  const changed = reads.map(resource => ({ resource, ...find(resource) })).filter(({ ids }) => ids.length > 0)
  const isFew = changed.every(({ ids, rows }) => ids.length <= MAX_IDS && rows.length <= MAX_ROWS)
  const parameters = changed.reduce((sum, { resource, ids, rows }) => sum + 2 * ids.length * resource.primaryKey.length
    + rows.length * storedFields(resource).length, 0)
  if (changed.length === 0 || !isFew || parameters > call.engine.maxParameters / 2) return undefined
  return joined(changed.map(one => earlierTable(call, one.resource, one)), ', ')
}

/** `posts as (select id, … from main.posts where not (id in (…)) union all select ?, … )` */
function earlierTable({ engine }: Call, resource: Resource, { ids, rows }: EarlierRows): Where {
  const keys = ids.flatMap((id) => {
    const key = toKey(resource, id)
    return key ? [key.map((value, index) => resource.primaryKey[index]!.encode(value))] : []
  })
  const table = engine.adapter.tableItself(asSql(resource.table))
  const others = where`select ${storedColumns(resource)} from ${table} where ${not(inTuples(engine, resource.primaryKey, keys))}`
  const earlier = rows.map(row => where`select ${commaList(storedValues(engine, resource, row))}`)
  return where`${resource.table} as (${joined([others, ...earlier], ' union all ')})`
}
