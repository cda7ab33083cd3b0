/** Lists entries: of all resources that the reader can see, or of one record. */
import { didYouMean } from '../../../shared/suggest'
import { EXPECTED, INVALID, WIRE_FORMATS } from '../../../shared/wire'
import { authorize, type AutoApiContext, isAuthorized, requireSession } from '../../../server/kit/call'
import { invalidQuery, invalidValue, notFound, quote } from '../../../server/kit/errors'
import { listRecords } from '../../../server/kit/records'
import { type Query, singleValue } from '../../../server/kit/request'
import { toKey } from '../../../server/kit/rows'
import { ofRecord, readerAccess } from './access'
import { resourceOf, type AuditLog } from './log'
import { recordFinder } from './records'

/** The filter of each parameter, and the kind of its value. */
const FILTERS: Readonly<Record<string, readonly [filter: string, kind: 'text' | 'date']>> = {
  resource: ['filter[resource]', 'text'],
  recordId: ['filter[recordId]', 'text'],
  userId: ['filter[userId]', 'text'],
  kind: ['filter[kind]', 'text'],
  from: ['filter[at][$gte]', 'date'],
  to: ['filter[at][$lt]', 'date'],
}

const PAGING = ['limit', 'page', 'cursor', 'count'] as const

/** Whether the caller can read entries. */
export function canReadLog(log: AuditLog, ctx: AutoApiContext): Promise<boolean> {
  const session = requireSession(ctx)
  return isAuthorized(session, resourceOf(session.api, log), 'read')
}

/** `GET /audit-log` */
export function listEntries(log: AuditLog, ctx: AutoApiContext): Promise<unknown> {
  return list(log, ctx, toListQuery(ctx.query, Object.keys(FILTERS)))
}

/** `GET /:resource/:id/history`. @throws 404 for a record that the caller cannot see. */
export async function listHistory(log: AuditLog, ctx: AutoApiContext): Promise<unknown> {
  const session = requireSession(ctx)
  const resource = session.api.resources.get(ctx.resource)!
  if (!log.records(resource.name)) throw notFound()
  await authorize(session, session.api.resources.get(log.resource)!, ['read'])
  const query = toListQuery(ctx.query, ['userId', 'kind', 'from', 'to'])
  const { id = '' } = ctx.params
  const { all, resources } = await readerAccess(session, log)
  if (toKey(resource, id) === undefined) throw notFound()
  if (!all && await recordFinder(session, resources.get(resource.name)!)(id) === undefined) throw notFound()
  return ofRecord(session, log, { resource: resource.name, recordId: id }, () => list(log, ctx, query))
}

async function list({ resource }: AuditLog, ctx: AutoApiContext, query: Query): Promise<unknown> {
  // UUIDs of version 7 sort in the order of the changes.
  return (await listRecords(ctx, resource, { ...query, sort: '-id' })).body
}

/** @throws 400 for another parameter: a misspelled filter would return every entry. And for a value that a filter does not take. */
export function toListQuery(query: Query, filters: readonly string[]): Query {
  const known = [...filters, ...PAGING]
  const entries = Object.keys(query).map((name) => {
    if (!known.includes(name))
      throw invalidQuery(`${quote(name)} is not a parameter of this list.${didYouMean(name, known)}`)
    const value = singleValue(query, name)!
    if (!filters.includes(name)) return [name, value] as const
    const [filter, kind] = FILTERS[name]!
    if (WIRE_FORMATS[kind].fromText(value) === INVALID) throw invalidValue(name, `expected ${EXPECTED[kind]}.`)
    return [filter, value] as const
  })
  return Object.fromEntries(entries)
}
