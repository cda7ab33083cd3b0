/**
 * The entries that a reader can see, as SQL: entries of the reader's tenant, of records that the reader can see, with at least one change
 * that the reader can read. The parts without parameters are built once for all readers of the same fields.
 */
import { getTableName, sql, type SQL, type Table } from 'drizzle-orm'
import { CHANGE_KINDS } from '../../../server/kit/listen'
import { type AutoApiContext, isTenantId, requireSession, type Session } from '../../../server/kit/call'
import type { Resource } from '../../../server/kit/rows'
import { findRecordLimit, readerAccess, type ReaderAccess, type ResourceAccess } from './access'
import { linksWithId, unregisteredLinks } from './links'
import { columnsOf, resourceOf, type AuditLog, type EntryColumns } from './log'
import { aliasOf, fixedSql } from './sql/fixed'
import { byResource, canCompareId, ENTRY_SQL, hasRecordId, literal } from './sql/index'
import { asSql, EVERY_ROW, joined, NO_ROWS, sameBytes, value, where, type Where } from '../../../server/kit/where'

/** @param table the table of the log, or an alias of it */
export async function visibleEntries(log: AuditLog, table: Table, ctx: AutoApiContext): Promise<Where> {
  const session = requireSession(ctx)
  const access = await readerAccess(session, log)
  const others = [...recordLimit(session, log, table), ...access.all ? [] : [await recordClause(session, log, access, table)]]
  const all = [tenantClause(session, log, table), fieldCondition(session, log, access, table), ...others]
  return where`(${joined(all, ' and ')})`
}

/** `resource = 'posts'` and `record_id = '1'`, if the request is limited to one record */
function recordLimit(session: Session, log: AuditLog, table: Table): readonly Where[] {
  const record = findRecordLimit(session, log)
  if (!record) return []
  return (['resource', 'recordId'] as const).map(name => ownEquals(session, log, table, name, record[name]))
}

/** Compares a text column of the log, or of an alias of it, by bytes. */
function ownEquals({ api }: Session, log: AuditLog, table: Table, name: keyof EntryColumns, text: string, toSql = asIs): Where {
  const { bytes } = resourceOf(api, log).fields.get(name)!
  return where`${sameBytes(columnsOf(table)[name], toSql(asSql(value(text))), bytes)}`
}

const asIs = (value: SQL) => value

/** Identifies the table in the text of SQL: the table of the log, or an alias by its name. */
export const textKey = (log: AuditLog, table: Table) => table === log.table ? 'log' : `alias ${getTableName(table)}`

/**
 * Entries with a change that the reader can read. The app's own kinds have no columns.
 * @param kinds `updates` if other conditions exclude the app's own kinds
 */
export function fieldCondition(
  session: Session, log: AuditLog, { resources, key }: ReaderAccess, table: Table, kinds: 'all' | 'updates' = 'all',
): Where {
  return fixedSql(session.api, `fields ${kinds} ${textKey(log, table)} ${key}`, () => {
    const entry = columnsOf(table)
    const resource = resourceName(session, log, table)
    const { overlaps } = ENTRY_SQL[session.engine.dialect]
    const hasReadable = byResource(resource, new Map([...resources].map(([name, { listed }]) =>
      [name, listed.length === 0 ? sql`1 = 0` : overlaps(entry.columns, listed)])))
    if (kinds === 'updates' || resources.size === 0) return hasReadable
    const isOwnKind = sql`${exactly(session, log, table, 'kind')} not in (${sql.raw(CHANGE_KINDS.map(literal).join(', '))})`
    return sql`(${hasReadable} or (${isOwnKind} and ${resource} in (${sql.raw([...resources.keys()].map(literal).join(', '))})))`
  })
}

/** Entries of records that the reader can see: `exists (select 1 from posts where id = cast(record_id …) and …)`. */
async function recordClause(session: Session, log: AuditLog, reader: ReaderAccess, table: Table): Promise<Where> {
  const found = new Map<string, Where>()
  for (const access of reader.resources.values()) {
    const own = await foundClause(session, log, access, table, 'recordId')
    if (own) found.set(access.call.resource.name, await withLinks(session, log, reader, access, table, own))
  }
  if (found.size === 0) return NO_ROWS
  return where`(${byResource(resourceName(session, log, table), found)} and not ${hasEnded(session, log, table)})`
}

/** `exists (select 1 from posts where id = cast(record_id …) and …)`. `undefined` if the reader can see no record of the resource. */
async function foundClause(
  session: Session, log: AuditLog, access: ResourceAccess, table: Table, id: 'recordId' | 'otherId',
): Promise<Where | undefined> {
  const { call: { resource }, canRead } = access
  if (!canRead || !canCompareId(resource)) return undefined
  const begin = fixedSql(session.api, `record ${textKey(log, table)} ${resource.name} ${id}`, () =>
    sql`exists (select 1 from ${resource.table} where ${hasRecordId(resource, columnsOf(table)[id])!} and `)
  return where`${begin}${await access.scope()}${ENTRY_SQL[session.engine.dialect].perEntry})`
}

/**
 * An entry of a link is about two records, and the reader has to see both:
 * `… and (kind not in ('link', 'unlink') or (columns contain 'tags' and exists (select 1 from tags where id = cast(other_id …) and …)))`
 */
async function withLinks(
  session: Session, log: AuditLog, { resources }: ReaderAccess, access: ResourceAccess, table: Table, own: Where,
): Promise<Where> {
  const { call: { resource }, shown } = access
  if (unregisteredLinks(resource).length === 0) return own
  const { overlaps } = ENTRY_SQL[session.engine.dialect]
  const both: Where[] = []
  for (const { name: relation, target } of linksWithId(resource)) {
    const other = shown.has(relation) ? resources.get(target.name) : undefined
    const found = other && await foundClause(session, log, other, table, 'otherId')
    if (found)
      both.push(where` or (${overlaps(columnsOf(table).columns, [relation])} and ${found}
        and not ${otherHasEnded(session, log, table, target)})`)
  }
  return where`(${own} and (${exactly(session, log, table, 'kind')} not in ('link', 'unlink')${joined(both, '')}))`
}

/**
 * Whether the record of an entry was removed since, or created again. The record that has its id today is another one: databases and
 * clients can use an id again.
 */
const hasEnded = (session: Session, log: AuditLog, table: Table): Where => fixedSql(session.api, `ended ${textKey(log, table)}`, () =>
  endedSince(session, log, table, ended => sameRecord(session, log, table, ended)))

/** Whether the other record of a link was removed since, or created again. */
const otherHasEnded = (session: Session, log: AuditLog, table: Table, { name }: Resource): Where =>
  fixedSql(session.api, `other ended ${textKey(log, table)} ${name}`, () => endedSince(session, log, table, (ended) => {
    const { fields } = resourceOf(session.api, log)
    const isResource = sameBytes(columnsOf(ended).resource, sql.raw(literal(name)), fields.get('resource')!.bytes)
    const isRecord = sameBytes(columnsOf(ended).recordId, columnsOf(table).otherId, fields.get('recordId')!.bytes)
    return sql`${isResource} and ${isRecord}`
  }))

function endedSince(session: Session, log: AuditLog, table: Table, isRecord: (ended: Table) => SQL): SQL {
  const ended = aliasOf(log.table, 'ended')
  const [entry, end] = [columnsOf(table), columnsOf(ended)]
  // Entries of one commit have the same time. Those of a new record and its links can be in any order.
  const isCreate = sql`${exactly(session, log, ended, 'kind')} = 'create' and ${end.at} > ${entry.at}`
  return sql`exists (select 1 from ${log.table} as ${sql.identifier('ended')} where ${isRecord(ended)}
    and ${end.kind} in (${LIMITS}) and ${end.id} >= ${entry.id} and ((${isCreate}) or ${isRemoval(session, log, ended)}))`
}

/** Entries of one record. */
export function sameRecord({ api }: Session, log: AuditLog, one: Table, other: Table): SQL {
  const { fields } = resourceOf(api, log)
  const same = (name: 'resource' | 'recordId') => sameBytes(columnsOf(other)[name], columnsOf(one)[name], fields.get(name)!.bytes)
  return sql`${same('resource')} and ${same('recordId')}`
}

/** The kinds that can begin or end a record. A condition that an index serves. */
const LIMITS = sql.raw('\'create\', \'purge\', \'delete\'')

/** Entries after which the record does not exist. */
function isRemoval(session: Session, log: AuditLog, table: Table): SQL {
  const kind = exactly(session, log, table, 'kind')
  const withoutTrash = [...session.api.resources.values()].filter(({ roles }) => !roles.deletedAt).map(({ name }) => literal(name))
  if (withoutTrash.length === 0) return sql`${kind} = 'purge'`
  const isDeleted = sql`${kind} = 'delete' and ${exactly(session, log, table, 'resource')} in (${sql.raw(withoutTrash.join(', '))})`
  return sql`(${kind} = 'purge' or (${isDeleted}))`
}

/** Entries before which the record of the same id was another one. */
export function beginsRecord(session: Session, log: AuditLog, table: Table): SQL {
  const isCreate = sql`${exactly(session, log, table, 'kind')} = 'create'`
  return sql`(${columnsOf(table).kind} in (${LIMITS}) and (${isCreate} or ${isRemoval(session, log, table)}))`
}

/** Entries of the tenant. An entry without a tenant is for callers of all tenants. */
function tenantClause(session: Session, log: AuditLog, table: Table): Where {
  const mode = tenantMode(session)
  if (mode === 'none') return NO_ROWS
  if (mode === 'all') return EVERY_ROW
  return ownEquals(session, log, table, 'tenantId', String(session.ctx.tenant!.id), ENTRY_SQL[session.engine.dialect].unplanned)
}

/** Entries of the tenant of a visible entry. Other conditions select the record, so that an index on the tenant would not help. */
export function sameTenant(session: Session, log: AuditLog, entry: Table, other: Table): SQL {
  const mode = tenantMode(session)
  if (mode !== 'one') return mode === 'all' ? sql`1 = 1` : sql`1 = 0`
  const { bytes } = resourceOf(session.api, log).fields.get('tenantId')!
  const [left, right] = [ENTRY_SQL[session.engine.dialect].unindexed(columnsOf(other).tenantId), sql`${columnsOf(entry).tenantId}`]
  return bytes ? sql`${bytes.operand(left)} = ${bytes.operand(right)}` : sql`${left} = ${right}`
}

/** Whether the reader sees entries of one tenant, of all, or of none. */
export function tenantMode({ api: { config: { multiTenancy } }, ctx: { tenant } }: Session): 'one' | 'all' | 'none' {
  if (!multiTenancy || !multiTenancy.enabled || tenant?.canAccessAllTenants === true) return 'all'
  return isTenantId(tenant?.id) ? 'one' : 'none'
}

const resourceName = (session: Session, log: AuditLog, table: Table) => exactly(session, log, table, 'resource')

/** A text column that is compared by bytes, because names can differ in case only. */
export function exactly({ api }: Session, log: AuditLog, table: Table, name: keyof EntryColumns): SQL {
  const { bytes } = resourceOf(api, log).fields.get(name)!
  const column = sql`${columnsOf(table)[name]}`
  return bytes ? bytes.operand(column) : column
}
