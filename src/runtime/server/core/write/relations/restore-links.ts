/** Restores a link from the junction's trash if the link is added again. An insert would store the same link twice. */
import { trashColumnsOf } from '../../../../shared/column-roles'
import { groupBy } from '../../../../shared/group-by'
import type { Row } from '../../../engines/engine'
import type { Field } from '../../../schema/field'
import type { Call } from '../../request/session'
import { allFields, keyFields } from '../../access/fields'
import type { WritePlan } from '../../plan/write'
import { inTuples } from '../../sql/list/index'
import { tupleKey } from '../../sql/tuple-key'
import { applyScope, type Plan } from '../../access/row-scope'
import { hasListeners, reportedColumns, reportRows } from '../../commit/changes/report'
import { changedTable } from '../../commit/changes/table'
import type { WriteOperation } from '../../commit/operation'
import { filterLinks, linkedClauses, sameLink, type LinkCreates, type LinkTask, type NewLink, type TrashedLinks } from './links'
import { junctionFields } from '../../read/rows/junction'
import { rowsUnchanged } from '../row-clauses'
import { decoder, valuesAt, type RecordValues } from '../../read/rows/decode'
import { columnDefaults, createValues } from '../server-values'
import { selectStatement } from '../../commit/select'
import { updateStatement } from '../../commit/update'
import { writableValues } from '../writable-values'
import { and, equals, isNotNull } from '../../sql/conditions'
import { commaList, joined, where, type Where } from '../../sql/where'

/**
 * Finds the trashed links that the caller can restore: the links that the caller could see outside of the trash. If the junction is a
 * resource, the caller must also be able to create the link.
 */
export async function findTrashed({ link, ofParent }: LinkTask, items: readonly NewLink[], call: Call): Promise<TrashedLinks> {
  const { relation, tenantId } = link
  const { resource, registered, targetKey } = relation.junction
  const fields = junctionFields(relation, targetKey.columns)
  const inTrash = (operation: 'read' | 'create') => applyScope<Plan>(call, { resource, trash: 'trashed' }, operation)
  const scopes = registered ? [await inTrash('read'), await inTrash('create')] : [await inTrash('read')]
  const where = [
    ofParent,
    inTuples(call.engine, fields, items.map(({ target }) => target)),
    ...scopes.flatMap(({ scope }) => scope),
    ...resource.tenant ? [equals(resource.tenant, tenantId)] : [],
  ]
  const objectLevelScopes = scopes.filter(({ accepts }) => accepts)
  const columns = allFields(resource)
  let rows = await call.engine.query(selectStatement(call, resource, where, columns))
  for (const scope of objectLevelScopes) rows = await filterLinks(rows, resource, scope)
  const latest = latestByTarget(rows, resource, fields)
  return {
    where: [...where, ...objectLevelScopes.length > 0 ? [rowsUnchanged(columns, [...latest.values()])] : []],
    picked: new Map([...latest].map(([target, row]) => [target, valuesAt(columns, resource.primaryKey)(row)])),
  }
}

/** Picks the link that was deleted last. Without a unique constraint, the trash can contain several links between the same records. */
function latestByTarget(rows: readonly Row[], resource: WritePlan['resource'], fields: readonly Field[]): ReadonlyMap<string, Row> {
  const columns = allFields(resource)
  const decode = decoder(columns)
  const targetOf = valuesAt(columns, fields)
  const time = (row: Row) => decode(row)[resource.roles.deletedAt!.name] as Date
  const latest = new Map<string, Row>()
  for (const row of rows) {
    const other = latest.get(tupleKey(targetOf(row)))
    if (!other || time(other) < time(row)) latest.set(tupleKey(targetOf(row)), row)
  }
  return latest
}

/**
 * Restores links with the values of the new links. It replaces the old values, because the caller might not have permission for them.
 * One statement restores all links that receive the same values.
 */
export function restoreLinkOperations(
  task: LinkTask,
  { part: { plan }, newLinks: items, trashed, added }: LinkCreates,
  needsRows: boolean,
  call: Call,
  time: Date,
): WriteOperation[] {
  if (!trashed) return []
  const {
    link: { relation },
    counts,
  } = task
  const { resource, unique } = relation.junction
  const targetFields = junctionFields(relation, relation.junction.targetKey.columns)
  const clearedTrash = Object.fromEntries(Object.values(trashColumnsOf(resource.roles)).map(({ name }) => [name, null]))
  const keys = keyFields(resource)
  const columns = reportedColumns(call, changedTable(call, resource))
  const keyOf = valuesAt(columns, resource.primaryKey)
  const keptFields = [...resource.primaryKey, ...sameLink(task.link), ...(resource.tenant ? [resource.tenant] : [])]
  const keptNames = new Set(keptFields.map(({ name }) => name))
  const defaults = columnDefaults(resource)
  const newValues = (item: NewLink): RecordValues =>
    Object.fromEntries(
      Object.entries({ ...defaults, ...createValues(plan, writableValues(plan, item), call, time) }).filter(
        ([name]) => !keptNames.has(name),
      ),
    )
  const encoded = (name: string, value: unknown) => (value === null ? null : String(resource.fields.get(name)!.encode(value)))
  const found = items.flatMap((item) => {
    const key = trashed.picked.get(tupleKey(item.target))
    return key ? [{ key, values: newValues(item) }] : []
  })
  const valuesText = ({ values }: (typeof found)[number]) =>
    JSON.stringify(Object.entries(values).map(([name, value]) => [name, encoded(name, value)]))
  return [...groupBy(found, valuesText).values()].flatMap((group): WriteOperation[] => {
    const own = inTuples(
      call.engine,
      resource.primaryKey,
      group.map(({ key }) => key),
    )
    const where = [own, ...trashed.where, ...(unique ? [] : [notLinked(task, targetFields)])]
    // Not every engine returns the rows that an update changes, so a select reads them before the update.
    const restored = { ...selectStatement(call, resource, where, columns, 'update'), expectedRows: undefined }
    const readRestored: WriteOperation = {
      statement: restored,
      read: ({ rows }) => rows.forEach(row => added.add(tupleKey(keyOf(row)))),
      changes: reportRows(call, resource, 'link', columns, 'before'),
    }
    return [
      ...(hasListeners(call) || needsRows ? [readRestored] : []),
      {
        statement: { ...updateStatement(call, resource, { ...group[0]!.values, ...clearedTrash }, where, keys), expectedRows: undefined },
        read: ({ affectedRows }) => {
          counts.added += affectedRows
        },
      },
    ]
  })
}

/**
 * Matches the links to target records that the parent record is not linked to yet:
 * `tag_id not in (select * from (select distinct tag_id from junction where post_id = ? and deleted_at is null) as linked)`.
 * The derived table `linked` is necessary because a MySQL statement cannot select directly from the table that it changes.
 */
function notLinked(task: LinkTask, targetFields: readonly Field[]): Where {
  const { resource } = task.link.relation.junction
  const columns = commaList(targetFields.map(({ column }) => column))
  const present = joined(targetFields.map(isNotNull), ' and ')
  const rows = where`select distinct ${columns} from ${resource.table} where ${and(linkedClauses(task))} and ${present}`
  return where`${targetFields.length === 1 ? columns : where`(${columns})`} not in (select * from (${rows}) as linked)`
}
