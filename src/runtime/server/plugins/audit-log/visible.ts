/**
 * The entries that a reader can see, as SQL: entries of the reader's tenant, of records that the reader can see, with at least one change
 * that the reader can read.
 */
import { aliasedTable, sql, type Column, type SQL, type Table } from 'drizzle-orm'
import { CHANGE_KINDS } from '../../core/changes'
import { isTenantId, requireSession, type Session } from '../../core/context'
import { scopeSql } from '../../core/access/row-scope'
import { sameBytes } from '../../core/sql/clause'
import type { AutoApiContext } from '../../registration'
import { readerAccess, type ResourceAccess } from './access'
import { columnsOf, resourceOf, type AuditLog, type EntryColumns } from './log'
import { byResource, ENTRY_SQL, hasRecordId, literal } from './sql/index'

/** @param table the table of the log, or an alias of it */
export async function visibleEntries(log: AuditLog, table: Table, ctx: AutoApiContext): Promise<SQL> {
  const session = requireSession(ctx)
  const { all } = await readerAccess(session, log)
  const entry = await entryCondition(session, log, table)
  return all ? entry : sql`(${entry} and ${await recordCondition(session, log, table)})`
}

/** Entries of the reader's tenant with a change that the reader can read. */
export async function entryCondition(session: Session, log: AuditLog, table: Table): Promise<SQL> {
  return sql`(${tenantCondition(session, log, table)} and ${await fieldCondition(session, log, table)})`
}

/** Entries with a change that the reader can read. The app's own kinds have no columns. */
async function fieldCondition(session: Session, log: AuditLog, table: Table): Promise<SQL> {
  const entry = columnsOf(table)
  const { resources } = await readerAccess(session, log)
  const isChange = sql`${exactly(session, log, table, 'kind')} in (${sql.raw(CHANGE_KINDS.map(literal).join(', '))})`
  const { overlaps } = ENTRY_SQL[session.engine.dialect]
  return byResource(resourceName(session, log, table), new Map([...resources].map(([name, { listed }]) => {
    const hasReadable = listed.length === 0 ? sql`1 = 0` : overlaps(entry.columns, listed)
    return [name, sql`case when ${isChange} then ${hasReadable} else true end`]
  })))
}

/** Entries of records that the reader can see: `exists (select 1 from posts where id = cast(record_id …) and …)`. */
async function recordCondition(session: Session, log: AuditLog, table: Table): Promise<SQL> {
  const entry = columnsOf(table)
  const { resources } = await readerAccess(session, log)
  const conditions = new Map<string, SQL>()
  for (const [name, access] of resources) {
    const exists = access.canRead ? await recordExists(access, entry.recordId) : undefined
    if (exists) conditions.set(name, exists)
  }
  return sql`(${byResource(resourceName(session, log, table), conditions)} and not ${hasEnded(session, log, table)})`
}

/**
 * Whether the record of an entry was removed since, or created again. The record that has its id today is another one: databases and
 * clients can use an id again.
 */
function hasEnded(session: Session, log: AuditLog, table: Table): SQL {
  const ended = aliasedTable(log.table, 'ended')
  const [entry, end] = [columnsOf(table), columnsOf(ended)]
  const { fields } = resourceOf(session.api, log)
  const same = (name: 'resource' | 'recordId') => sameBytes(end[name], entry[name], fields.get(name)!.bytes)
  // Entries of one commit have the same time. Those of a new record and its links can be in any order.
  const isCreate = sql`${exactly(session, log, ended, 'kind')} = 'create' and ${end.at} > ${entry.at}`
  return sql`exists (select 1 from ${log.table} as ${sql.identifier('ended')} where ${same('resource')} and ${same('recordId')}
    and ${end.kind} in (${LIMITS}) and ${end.id} >= ${entry.id} and ((${isCreate}) or ${isRemoval(session, log, ended)}))`
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

async function recordExists({ call, trash }: ResourceAccess, recordId: Column): Promise<SQL | undefined> {
  const { resource } = call
  const hasId = hasRecordId(resource, recordId)
  return hasId && sql`exists (select 1 from ${resource.table} where ${hasId} and ${await scopeSql(call, resource, resource.table, trash)})`
}

/** Entries of the tenant. An entry without a tenant is for callers of all tenants. */
function tenantCondition(session: Session, log: AuditLog, table: Table): SQL {
  const { api: { config: { multiTenancy } }, ctx: { tenant } } = session
  if (!multiTenancy || !multiTenancy.enabled || tenant?.canAccessAllTenants === true) return sql`1 = 1`
  if (!isTenantId(tenant?.id)) return sql`1 = 0`
  const { bytes } = resourceOf(session.api, log).fields.get('tenantId')!
  return sameBytes(columnsOf(table).tenantId, sql`${sql.param(String(tenant.id))}`, bytes)
}

const resourceName = (session: Session, log: AuditLog, table: Table) => exactly(session, log, table, 'resource')

/** A text column that is compared by bytes, because names can differ in case only. */
export function exactly({ api }: Session, log: AuditLog, table: Table, name: keyof EntryColumns): SQL {
  const { bytes } = resourceOf(api, log).fields.get(name)!
  const column = sql`${columnsOf(table)[name]}`
  return bytes ? bytes.operand(column) : column
}
