/** Links that lie in the junction's trash: adding them brings them back instead of making them twice. */
import { is, sql, SQL } from 'drizzle-orm'
import { trashColumnsOf } from '../../../../shared/column-roles'
import { groupBy } from '../../../../shared/group-by'
import type { Row } from '../../../engines/engine'
import { shape } from '../../sql/shape'
import type { Field } from '../../../schema/field'
import type { Call } from '../../context'
import { allFields, keyFields } from '../../access/fields'
import type { WritePlan } from '../../plan/write'
import { joinAnd, equals, fromClauses, type Clause } from '../../sql/clause'
import { inTuples } from '../../sql/list/index'
import { tupleKey } from '../../sql/tuple-key'
import { applyScope, type Plan, type Scoped } from '../../access/row-scope'
import { hasListeners } from '../commit/changes'
import type { WriteOperation } from '../commit/operation'
import { filterLinks, linkChanges, linkedClauses, sameLink, type LinkTask, type NewLink } from './links'
import { junctionFields } from '../rows/junction'
import { rowsUnchanged } from '../write/row-clauses'
import { decoder, valuesAt, type RecordValues } from '../rows/decode'
import { createValues } from '../write/server-values'
import { selectStatement } from '../commit/select'
import { updateStatement } from '../commit/update'
import { writableValues } from '../write/writable-values'

export interface TrashedLinks {
  readonly where: readonly Clause[]
  /** The primary key of the link that comes back, by what it holds of the other side. */
  readonly picked: ReadonlyMap<string, readonly unknown[]>
}

/** What the caller could see outside of the trash and, where the junction is a resource, may create. */
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
  const judged = scopes.filter(({ accepts }) => accepts)
  const columns = allFields(resource)
  let rows = await call.engine.query(selectStatement(call, resource, where, columns))
  for (const scope of judged) rows = await filterLinks(rows, resource, scope)
  const latest = latestByTarget(rows, resource, fields)
  return {
    where: [...where, ...judged.length > 0 ? [rowsUnchanged(columns, [...latest.values()])] : []],
    picked: new Map([...latest].map(([target, row]) => [target, valuesAt(columns, resource.primaryKey)(row)])),
  }
}

/** Without a constraint several links between the same records can lie in the trash: the one that was removed last comes back. */
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

interface RestoreInput {
  readonly plan: Scoped<WritePlan>
  readonly items: readonly NewLink[]
  readonly trashed?: TrashedLinks
  readonly added: Set<string>
}

/**
 * Links come back as new ones are made: nothing that they once said is left, for the caller may not be allowed to say it. Those with the
 * same values are in one statement.
 */
export function restoreLinkOperations(
  task: LinkTask,
  { plan, items, trashed, added }: RestoreInput,
  asked: boolean,
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
  const empty = Object.fromEntries(Object.values(trashColumnsOf(resource.roles)).map(({ name }) => [name, null]))
  const keys = keyFields(resource)
  const keyOf = valuesAt(keys, resource.primaryKey)
  const kept = [...resource.primaryKey, ...sameLink(task.link), ...(resource.tenant ? [resource.tenant] : [])]
  const never = new Set(kept.map(({ name }) => name))
  const fresh = freshValues(resource)
  const said = (item: NewLink): RecordValues =>
    Object.fromEntries(
      Object.entries({ ...fresh, ...createValues(plan, writableValues(plan, item), call, time) }).filter(([name]) => !never.has(name)),
    )
  const encoded = (name: string, value: unknown) => (value === null ? null : String(resource.fields.get(name)!.encode(value)))
  const found = items.flatMap((item) => {
    const key = trashed.picked.get(tupleKey(item.target))
    return key ? [{ key, values: said(item) }] : []
  })
  const spell = ({ values }: (typeof found)[number]) =>
    JSON.stringify(Object.entries(values).map(([name, value]) => [name, encoded(name, value)]))
  return [...groupBy(found, spell).values()].flatMap((group): WriteOperation[] => {
    const own = inTuples(
      call.engine,
      resource.primaryKey,
      group.map(({ key }) => key),
    )
    const where = [own, ...trashed.where, ...(unique ? [] : [notLinked(task, targetFields)])]
    // Read before they change: not every engine tells which rows an update changed.
    const coming = { ...selectStatement(call, resource, where, keys, 'update'), expectedRows: undefined }
    const reading: WriteOperation = {
      statement: coming,
      read: ({ rows }) => rows.forEach(row => added.add(tupleKey(keyOf(row)))),
      changes: ({ rows }) => linkChanges(rows.map(coming.extra), 'link', resource, call),
    }
    return [
      ...(hasListeners(call) || asked ? [reading] : []),
      {
        statement: { ...updateStatement(call, resource, { ...group[0]!.values, ...empty }, where, keys), expectedRows: undefined },
        read: ({ affectedRows }) => {
          counts.added += affectedRows
        },
      },
    ]
  })
}

/** What a row holds whose columns nobody sets. A default that only the database can make stays as it was. */
function freshValues({ fields }: WritePlan['resource']): RecordValues {
  return Object.fromEntries([...fields.values()].flatMap(({ name, column, nullable, generated }) => {
    if (generated || is(column.default, SQL)) return []
    return column.default !== undefined ? [[name, column.default]] : nullable ? [[name, null]] : []
  }))
}

/**
 * `tag_id not in (select * from (select distinct tag_id from junction where post_id = ? and deleted_at is null) as linked)`: MySQL reads the
 * table it changes only through a derived one.
 */
function notLinked(task: LinkTask, targetFields: readonly Field[]): Clause {
  const { resource } = task.link.relation.junction
  const columns = sql.join(targetFields.map(({ column }) => sql`${column}`), sql`, `)
  const linked = linkedClauses(task)
  const present = sql.join(targetFields.map(({ column }) => sql`${column} is not null`), sql` and `)
  return fromClauses(shape`not linked ${targetFields.map(({ column }) => column)}`, linked, () => {
    const rows = sql`select distinct ${columns} from ${resource.table} where ${joinAnd(linked)} and ${present}`
    return sql`${targetFields.length === 1 ? columns : sql`(${columns})`} not in (select * from (${rows}) as linked)`
  })
}
