/**
 * What the feed shows about the entries of a page: how many updates an entry stands for, the label of its record and of its actor. The
 * database computes them as columns of the entries. Rules in code judge some records: those are loaded, once per request.
 */
import {
  type AuditLog, byResource, canCompareId, columnsOf, ENTRY_SQL, exactly, hasRecordId, isJudged, readerAccess, recordFinder,
  type ResourceAccess, resourceOf,
} from '../../audit-log/server/index'
import { sql, type Column } from 'drizzle-orm'
import type { Session } from '../../../server/kit/call'
import { commaList, inTuples, type Part, statement, where, type Where, word } from '../../../server/kit/where'
import type { Row } from '../../../server/kit/rows'
import { updateCount } from './heads'
import type { ActivityFeedOptions } from '../options'

export interface FoundEntry {
  readonly id: string
  /** As the response contains it. */
  readonly at: string
  readonly kind: string
  readonly resource: string
  readonly recordId: string
  readonly userId: string | null
}

/** A label that the reader can see. `undefined` for a record that the reader cannot see, `null` for a label that the reader cannot read. */
type Label = string | null | undefined

export interface Details {
  readonly count: number
  readonly label: Label
  readonly actor: Label
}

/** Where labels come from: a field of the records of a resource. */
interface Source {
  readonly access: ResourceAccess
  readonly field: string
}

/** The sources that the reader can read. */
export interface Sources {
  readonly labels: ReadonlyMap<string, Source>
  readonly actors: Source | undefined
}

export async function findSources(session: Session, log: AuditLog, { actor, labels = {} }: ActivityFeedOptions): Promise<Sources> {
  const { resources } = await readerAccess(session, log)
  const sourceOf = (name: string, field: string): Source | undefined => {
    const access = resources.get(name)
    return access?.canRead ? { access, field } : undefined
  }
  const found = Object.entries(labels).map(([name, field]) => [name, sourceOf(name, field)] as const)
  const known = found.filter((pair): pair is [string, Source] => pair[1] !== undefined)
  return { labels: new Map(known), actors: sourceOf(actor.resource, actor.label) }
}

/** A statement of the page with more labels than this is long, and most of them are not needed. */
const MAX_LABELS = 10

/** Whether the statement that finds the entries can also return the details. */
export const fitsPage = ({ engine: { dialect } }: Session, { labels }: Sources) =>
  ENTRY_SQL[dialect].computesLast && labels.size <= MAX_LABELS

/** Three columns: the count, the label of the record, and the label of the actor. */
export async function detailColumns(session: Session, log: AuditLog, sources: Sources): Promise<readonly Part[]> {
  const { recordId, userId } = columnsOf(log.table)
  const named = [...sources.labels].filter(([, source]) => isFound(source))
  const labels = await Promise.all(named.map(([, source]) => selectLabel(source, recordId)))
  const texts = new Map(named.map(([name], index) => [name, labels[index]!]))
  const label = byResource(exactly(session, log, log.table, 'resource'), texts, NULL)
  const { actors } = sources
  return [await updateCount(session, log), label, actors && isFound(actors) ? await selectLabel(actors, userId) : NULL]
}

const NULL = sql`null`
/** Whether SQL finds the records of a source. */
const isFound = ({ access }: Source) => !isJudged(access) && canCompareId(access.call.resource)

/** `select id, (select count(*) …), case resource when 'posts' then (select title …) end, (select name …) from audit_log where …` */
export async function readColumns(
  session: Session, log: AuditLog, { labels, actors }: Sources, entries: readonly FoundEntry[],
): Promise<readonly Row[]> {
  if (entries.length === 0) return []
  const { api, engine } = session
  const named = new Set(entries.map(({ resource }) => resource))
  const columns = await detailColumns(session, log, { labels: new Map([...labels].filter(([name]) => named.has(name))), actors })
  const id = resourceOf(api, log).fields.get('id')!
  const those = inTuples(engine, [id], entries.map(({ id }) => [id]))
  const rows = await engine.query(statement(session, where`select ${commaList([id.column, ...columns])} from ${log.table} where ${those}`))
  const byId = new Map(rows.map(([id, ...values]: Row) => [String(id), values]))
  return entries.map(({ id }) => byId.get(id) ?? [])
}

/** @param rows the values of the {@link detailColumns} of each entry */
export async function toDetails(
  session: Session, { labels, actors }: Sources, entries: readonly FoundEntry[], rows: readonly Row[],
): Promise<readonly Details[]> {
  const judged = new Map([...labels].filter(([, source]) => !isFound(source)))
  const actor = actors && !isFound(actors) ? actors : undefined
  const details = rows.map(([count = 1, label, actor]): Details => ({ count: Number(count), label: toLabel(label), actor: toLabel(actor) }))
  if (judged.size === 0 && !actor) return details
  return Promise.all(entries.map(async ({ resource, recordId, userId }, index): Promise<Details> => {
    const source = judged.get(resource)
    return {
      ...details[index]!,
      ...source && { label: await judgedLabel(session, source, recordId) },
      ...actor && userId !== null && { actor: await judgedLabel(session, actor, userId) },
    }
  }))
}

/** `(select '=' || title from posts where id = cast(record_id …) and …)` */
async function selectLabel({ access: { call, shown, scope }, field }: Source, id: Column): Promise<Where> {
  const { resource, engine } = call
  const label = shown.has(field) ? resource.fields.get(field)! : undefined
  const text = label ? ENTRY_SQL[engine.dialect].marked(engine.adapter.toText(sql`${label.column}`)) : word(`''`)
  return where`(select coalesce(${text}, '') from ${resource.table} where ${hasRecordId(resource, id)!} and ${await scope()})`
}

/** The text of {@link selectLabel}: NULL without a record, empty without a label. */
function toLabel(text: unknown): Label {
  if (text === null || text === undefined) return undefined
  return text === '' ? null : String(text).slice(1)
}

async function judgedLabel(session: Session, { access, field }: Source, id: string): Promise<Label> {
  const record = await recordFinder(session, access)(id)
  if (!record) return undefined
  const label = access.shown.has(field) ? record[field] : null
  return typeof label === 'string' ? label : null
}
