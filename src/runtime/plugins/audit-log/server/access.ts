/** What a reader of entries can see of each resource, by the rules of today. Computed once per request. */
import {
  type AutoApiContext, type Call, callFor, can, contextFor, decide, isAuthorized, limitsOf, type Session, readableFields, type Selection,
} from '../../../server/kit/call'
import { type Resource, scopeClause } from '../../../server/kit/rows'
import type { TrashMode } from '../../../shared/query'
import { unregisteredLinks } from './links'
import type { AuditLog } from './log'
import { idOf, memoized } from '../../../server/kit/process'
import type { Where } from '../../../server/kit/where'

/** The same object for all readers who can see the same fields, so that SQL about them is built once. */
interface ShownFields {
  /** The fields and relations whose changes the reader can see. */
  readonly shown: ReadonlySet<string>
  /** Those of `shown` for which an entry is listed. An entry that contains only columns that the server sets is not. */
  readonly listed: readonly string[]
}

export interface ResourceAccess extends ShownFields {
  readonly call: Call
  readonly canRead: boolean
  /** Whether entries of rows in the trash are listed. */
  readonly trash: TrashMode
  /** The rows that the reader can see, apart from rules in code. Computed once per request. */
  readonly scope: () => Promise<Where>
}

export interface ReaderAccess {
  /** Whether the reader sees entries of rows that the reader cannot see. */
  readonly all: boolean
  readonly resources: ReadonlyMap<string, ResourceAccess>
  /** Identifies the resources and their fields. Readers with the same key see changes of the same fields. */
  readonly key: string
}

export async function readerAccess(session: Session, log: AuditLog): Promise<ReaderAccess> {
  const key = memoKey(log)
  let access = session.memo.get(key) as Promise<ReaderAccess> | undefined
  if (!access) session.memo.set(key, access = findAccess(session, log))
  return access
}

/** Limits the request to entries of records that the reader can see, even if the reader can see all. */
export function onlyVisibleRecords(session: Session, log: AuditLog): void {
  session.memo.set(memoKey(log), findAccess(session, log).then(access => ({ ...access, all: false })))
}

/** A record, by the name of its resource and its id. */
export interface RecordName {
  readonly resource: string
  readonly recordId: string
}

/** Limits what `run` reads to the entries of one record. A filter does not: the collation of the log can treat several ids as equal. */
export async function ofRecord<T>({ memo }: Session, log: AuditLog, record: RecordName, run: () => Promise<T>): Promise<T> {
  memo.set(recordKey(log), record)
  try {
    return await run()
  }
  finally {
    memo.delete(recordKey(log))
  }
}

/** Finds the record of {@link ofRecord}. */
export const findRecordLimit = ({ memo }: Session, log: AuditLog) => memo.get(recordKey(log)) as RecordName | undefined

const recordKey = (log: AuditLog) => `${memoKey(log)}:record`

const memoKey = ({ resource }: AuditLog) => `audit:${resource}`

async function findAccess(session: Session, log: AuditLog): Promise<ReaderAccess> {
  const own = session.api.resources.get(log.resource)!
  const resources = new Map<string, ResourceAccess>()
  let key = ''
  for (const resource of session.api.resources.values()) {
    if (resource === own) continue
    const access = await resourceAccess(session, resource)
    // A caller who sees all entries sees those of every resource, but a limited credential only those of resources that it can read.
    if (!access.canRead && isOutside(session.ctx, resource)) continue
    resources.set(resource.name, access)
    key += `${idOf(resource)}:${idOf(access.listed)},`
  }
  return { all: await decide(session, `${log.resource}:all`, contextFor(session, own, 'read')), resources, key }
}

/** Whether the credential of the caller can exclude the resource: by its scopes, or as one that the credential cannot use. */
function isOutside(ctx: AutoApiContext, { name }: Resource): boolean {
  const limits = limitsOf(ctx)
  return limits !== undefined && (limits.scopes !== undefined || limits.excluded.has(name))
}

async function resourceAccess(session: Session, resource: Resource): Promise<ResourceAccess> {
  const call = callFor(session, resource, 'read')
  const readable = await readableFields(call, resource)
  const links: string[] = []
  for (const { name, target, columns, foreignColumns } of unregisteredLinks(resource)) {
    const targetFields = await readableFields(callFor(session, target, 'read'), target)
    const isReadable = columns.every(field => readable.byName.has(field.name))
      && foreignColumns.every(({ name }) => targetFields.byName.has(name))
    if (isReadable && await can(session, target, 'read')) links.push(name)
  }
  const trash: TrashMode = resource.roles.deletedAt && await can(session, resource, 'viewDeleted') ? 'both' : 'active'
  const canRead = await isAuthorized(session, resource, 'read')
  const { shown, listed } = shownFields(resource, readable, links)
  let scope: Promise<Where> | undefined
  return { call, shown, listed, canRead, trash, scope: () => scope ??= scopeClause(call, resource, trash) }
}

/** By the fields that the reader can read, and the names of the links. */
const shownBy = memoized((_: Selection) => new Map<string, ShownFields>())

function shownFields({ roles, tenant, primaryKey }: Resource, readable: Selection, links: readonly string[]): ShownFields {
  const byLinks = shownBy(readable)
  const key = links.join()
  let fields = byLinks.get(key)
  if (!fields) {
    const shown = new Set([...readable.byName.keys(), ...links])
    const stamps: ReadonlySet<string | undefined> = new Set([roles.updatedAt?.name, roles.updatedBy?.name])
    const listed = [...shown].filter(name => !stamps.has(name))
    // SQL looks for one name after the other. Updates do not change these columns.
    const fixed = new Set([tenant, roles.createdAt, roles.createdBy, ...primaryKey].map(field => field?.name))
    byLinks.set(key, fields = { shown, listed: [...listed.filter(name => !fixed.has(name)), ...listed.filter(name => fixed.has(name))] })
  }
  return fields
}
