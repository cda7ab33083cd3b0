/**
 * Groups updates: an update joins the next update of the same record by the same caller, if that one is at most ten minutes later. The
 * newest update of a group is its head, which stands for the group in the feed.
 */
import { aliasedTable, sql, type SQL, type Table } from 'drizzle-orm'
import { scopeSql } from '../../core/access/row-scope'
import { forResource, type Session } from '../../core/context'
import { contextFor } from '../../core/access/authorize'
import { fromSql, statement, type Clause } from '../../core/sql/clause'
import type { Row } from '../../engines/engine'
import type { AuditLog } from '../audit-log/log'
import { columnsOf, resourceOf } from '../audit-log/log'
import { ENTRY_SQL, literal } from '../audit-log/sql/index'
import { beginsRecord, entryCondition } from '../audit-log/visible'

const MINUTES = 10

/** The kinds that no entry of the feed shows. */
const WITHOUT_VERB = ['purge', 'link', 'unlink', 'export']

/** Selects the entries of the feed: heads, and changes that are no updates. */
export async function feedClause(session: Session, log: AuditLog): Promise<Clause> {
  const { kind } = columnsOf(log.table)
  const hidden = sql.raw(WITHOUT_VERB.map(literal).join(', '))
  const head = await isHead(session, log, log.table, 'later')
  return fromSql(session.engine, sql`${kind} not in (${hidden}) and (${kind} <> 'update' or ${head})`)
}

/** `not exists (select 1 from audit_log as later where …)` */
async function isHead(session: Session, log: AuditLog, table: Table, alias: string): Promise<SQL> {
  const later = aliasedTable(log.table, alias)
  const [entry, next] = [columnsOf(table), columnsOf(later)]
  const end = ENTRY_SQL[session.engine.dialect].later(entry.at, MINUTES)
  return sql`not exists (select 1 from ${aliased(log.table, alias)} where ${sameGroup(table, later)} and ${next.id} > ${entry.id}
    and ${next.at} <= ${end} and ${await isVisible(session, log, later)})`
}

const aliased = (table: Table, alias: string) => sql`${table} as ${sql.identifier(alias)}`

/** Updates of one record by one caller. */
function sameGroup(one: Table, other: Table): SQL {
  const [a, b] = [columnsOf(one), columnsOf(other)]
  return sql`${sameRecord(one, other)} and ${b.kind} = 'update'
    and (${b.userId} = ${a.userId} or (${b.userId} is null and ${a.userId} is null))`
}

function sameRecord(one: Table, other: Table): SQL {
  const [a, b] = [columnsOf(one), columnsOf(other)]
  return sql`${b.resource} = ${a.resource} and ${b.recordId} = ${a.recordId}`
}

/** Entries of one record differ in their tenant and their columns only. Rules of the app can also read other columns of the entry. */
async function isVisible(session: Session, log: AuditLog, table: Table): Promise<SQL> {
  const resource = resourceOf(session.api, log)
  const hasRules = resource.auth?.listFilter !== undefined || (session.api.rowFilters.get(resource)?.length ?? 0) > 1
  if (!hasRules) return entryCondition(session, log, table)
  return scopeSql(forResource(session, resource, contextFor(session, resource, 'read')), resource, table)
}

type Tables = [Table, Table, Table, Table]

/** Sorts before every id. */
const FIRST = sql.raw(literal('00000000-0000-0000-0000-000000000000'))

/** Counts the updates of each group, by the id of its head. One statement for all groups. */
export async function countUpdates(session: Session, log: AuditLog, heads: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (heads.length === 0) return new Map()
  const { engine } = session
  const [head, update, before, begun] = ['head', 'joined', 'older', 'begun'].map(alias => aliasedTable(log.table, alias)) as Tables
  const [h, u, b, g] = [columnsOf(head), columnsOf(update), columnsOf(before), columnsOf(begun)]
  const previous = sql`select ${b.id} from ${aliased(log.table, 'older')} where ${sameGroup(head, before)} and ${b.id} < ${h.id}
    and ${await isVisible(session, log, before)} and ${await isHead(session, log, before, 'later')} order by ${b.id} desc limit 1`
  // Databases and clients can use the id of a record that was removed again.
  const begin = sql`select ${g.id} from ${aliased(log.table, 'begun')} where ${sameRecord(head, begun)} and ${g.id} < ${h.id}
    and ${beginsRecord(session, log, begun)} order by ${g.id} desc limit 1`
  const count = sql`select count(*) from ${aliased(log.table, 'joined')} where ${sameGroup(head, update)} and ${u.id} <= ${h.id}
    and ${u.id} > coalesce((${previous}), ${FIRST}) and ${u.id} > coalesce((${begin}), ${FIRST})
    and ${await isVisible(session, log, update)}`
  const ids = sql.join(heads.map(id => sql`${sql.param(id)}`), sql`, `)
  const counted = sql`select ${h.id}, (${count}) from ${aliased(log.table, 'head')} where ${h.id} in (${ids})`
  const { shape, values } = fromSql(engine, counted)
  const rows = await engine.query(statement(session.api.statements, engine, shape, values, () => ({ sql: counted, extra: undefined })))
  return new Map(rows.map(([id, total]: Row) => [String(id), Number(total)]))
}
