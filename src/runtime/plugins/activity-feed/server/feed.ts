/** Reads a page of the feed in a constant number of statements, and one more for each resource whose records `objectLevel` checks. */
import { type AuditLog, ENTRY_SQL, onlyVisibleRecords, resourceOf, toListQuery } from '../../audit-log/server/index'
import type { ActivityEntry } from '../shared/types'
import { type AutoApiContext, callFor, decide, requireSession } from '../../../server/kit/call'
import { refused } from '../../../server/kit/errors'
import { readPage } from '../../../server/kit/records'
import { detailColumns, findSources, fitsPage, readColumns, toDetails, type Details, type FoundEntry } from './details'
import { feedClause } from './heads'
import { PERMISSION, type ActivityFeedOptions } from '../options'

/** The largest total. */
const MAX_TOTAL = 10_000

const COLUMNS = ['id', 'at', 'kind', 'resource', 'recordId', 'userId']

const VERBS: Readonly<Record<string, string>> = { create: 'created', update: 'updated', delete: 'deleted', restore: 'restored' }

/** `GET /activity`. @throws 401 and 403 without the permission `activity:read`, 400 for another parameter. */
export async function readFeed(log: AuditLog, options: ActivityFeedOptions, ctx: AutoApiContext): Promise<unknown> {
  const session = requireSession(ctx)
  const resource = resourceOf(session.api, log)
  if (!await decide(session, PERMISSION, ctx)) throw refused(ctx)
  onlyVisibleRecords(session, log)
  const sources = await findSources(session, log, options)
  const { records, values, meta } = await readPage(callFor(session, resource, 'read'), {
    query: toListQuery(ctx.query, []),
    fields: COLUMNS,
    where: await feedClause(session, log),
    newestBy: 'id',
    maxTotal: MAX_TOTAL,
    toLimit: ENTRY_SQL[session.engine.dialect].unplanned,
    // One statement instead of two, where the database does not compute the details of the rows that it leaves out.
    computed: () => fitsPage(session, sources) ? detailColumns(session, log, sources) : undefined,
  })
  const entries = records as unknown as readonly FoundEntry[]
  const details = await toDetails(session, sources, entries, values ?? await readColumns(session, log, sources, entries))
  return { data: entries.map((entry, index) => toActivity(entry, details[index]!)), meta }
}

function toActivity({ id, at, kind, resource, recordId, userId }: FoundEntry, { count, label, actor }: Details): ActivityEntry {
  return {
    id,
    at,
    actor: userId !== null && actor !== undefined ? { id: userId, label: actor } : null,
    verb: VERBS[kind] ?? kind,
    resource,
    recordId,
    label: label ?? null,
    count,
  }
}
