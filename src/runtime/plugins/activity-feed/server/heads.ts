/**
 * Groups updates: an update joins the next update of the same record by the same caller, if that one is at most ten minutes later. The
 * newest update of a group is its head, which stands for the group in the feed.
 */
import {
  aliasOf, type AuditLog, beginsRecord, columnsOf, ENTRY_SQL, type EntryColumns, exactly, fieldCondition, fixedSql, literal,
  readerAccess, resourceOf, sameRecord, sameTenant, tenantMode,
} from '../../audit-log/server/index'
import { sql, type SQL, type Table } from 'drizzle-orm'
import { scopeSql } from '../../../server/kit/rows'
import { callFor, type Session } from '../../../server/kit/call'
import { fromSql, type Where } from '../../../server/kit/where'

const MINUTES = 10

/** The kinds that no entry of the feed shows. */
const WITHOUT_VERB = ['purge', 'link', 'unlink', 'export']

/** Selects the entries of the feed: heads, and changes that are no updates. */
export async function feedClause(session: Session, log: AuditLog): Promise<Where> {
  const groups = await groupsOf(session, log)
  return fromSql(groups.build('feed', () => {
    const kind = exactly(session, log, log.table, 'kind')
    return sql`${kind} not in (${sql.raw(WITHOUT_VERB.map(literal).join(', '))}) and (${kind} <> 'update' or ${isHead(groups, log.table)})`
  }))
}

interface Groups {
  readonly session: Session
  readonly log: AuditLog
  /** Whether the reader sees another update of the record of a visible entry. */
  readonly isVisible: (entry: Table, other: Table) => SQL
  readonly build: (word: string, build: () => SQL) => SQL | Where
}

/**
 * Entries of one record differ in their tenant and their columns only, so that their SQL is the same for all readers of the same fields.
 * Rules of the app can also read other columns of the entry.
 */
async function groupsOf(session: Session, log: AuditLog): Promise<Groups> {
  const resource = resourceOf(session.api, log)
  const access = await readerAccess(session, log)
  if (resource.auth?.listFilter === undefined && (session.api.rowFilters.get(resource)?.length ?? 0) <= 1) {
    return {
      session,
      log,
      isVisible: (entry, other) =>
        sql`(${sameTenant(session, log, entry, other)} and ${fieldCondition(session, log, access, other, 'updates')})`,
      build: (word, build) => fixedSql(session.api, `${word} ${tenantMode(session)} ${access.key}`, build),
    }
  }
  const call = callFor(session, resource, 'read')
  const scopes = new Map<Table, SQL>()
  for (const alias of [LATER, JOINED, OLDER].map(name => aliasOf(log.table, name))) scopes.set(alias, await scopeSql(call, resource, alias))
  return { session, log, isVisible: (_, other) => scopes.get(other)!, build: (_, build) => build() }
}

const [LATER, JOINED, OLDER] = ['later', 'joined', 'older'] as const

/** `not exists (select 1 from audit_log as later where …)`, for a visible update */
function isHead({ session, log, isVisible }: Groups, table: Table): SQL {
  const later = aliasOf(log.table, LATER)
  const [entry, next] = [columnsOf(table), columnsOf(later)]
  const end = ENTRY_SQL[session.engine.dialect].later(entry.at, MINUTES)
  return sql`not exists (select 1 from ${aliased(log, LATER)} where ${sameGroup(session, log, table, later)}
    and ${next.id} > ${entry.id} and ${next.at} <= ${end} and ${isVisible(table, later)})`
}

const aliased = ({ table }: AuditLog, alias: string) => sql`${table} as ${sql.identifier(alias)}`

/** Updates of one record by one caller. */
function sameGroup(session: Session, log: AuditLog, one: Table, other: Table): SQL {
  const [a, b] = [one, other].map(table => exactly(session, log, table, 'userId')) as [SQL, SQL]
  return sql`${sameRecord(session, log, one, other)} and ${exactly(session, log, other, 'kind')} = 'update'
    and (${b} = ${a} or (${columnsOf(other).userId} is null and ${columnsOf(one).userId} is null))`
}

/** Sorts before every id. */
const FIRST = sql.raw(literal('00000000-0000-0000-0000-000000000000'))

/** How many updates an entry stands for: 1 for an entry that is no update. */
export async function updateCount(session: Session, log: AuditLog): Promise<Where> {
  const groups = await groupsOf(session, log)
  return fromSql(groups.build('counts', () =>
    sql`case ${exactly(session, log, log.table, 'kind')} when 'update' then (${selectCount(groups)}) else 1 end`))
}

/**
 * `select count(*) from audit_log as joined where …`: updates of the group are newer than the head of the previous group. They are also
 * newer than the record, because databases and clients can use the id of a record that was removed again.
 */
function selectCount(groups: Groups): SQL {
  const { session, log, isVisible } = groups
  const [joined, older] = [aliasOf(log.table, JOINED), aliasOf(log.table, OLDER)]
  const [head, update, before] = [log.table, joined, older].map(columnsOf) as [EntryColumns, EntryColumns, EntryColumns]
  const previous = sql`${sameGroup(session, log, log.table, older)} and ${isVisible(log.table, older)} and ${isHead(groups, older)}`
  // One bound for both, so that the database computes it once for each head.
  const bound = sql`select ${before.id} from ${aliased(log, OLDER)} where ${sameRecord(session, log, log.table, older)}
    and ${before.id} < ${head.id} and (${beginsRecord(session, log, older)} or (${previous})) order by ${before.id} desc limit 1`
  return sql`select count(*) from ${aliased(log, JOINED)} where ${sameGroup(session, log, log.table, joined)}
    and ${update.id} <= ${head.id} and ${update.id} > coalesce((${bound}), ${FIRST}) and ${isVisible(log.table, joined)}`
}
