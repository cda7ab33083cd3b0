/** Loads the records of entries that a rule in code judges: one statement per resource for all entries of a batch. */
import { findRows } from '../../../server/kit/records'
import type { RecordValues } from '../../../server/kit/rows'
import { type Api, type AutoApiContext, requireSession, type Session } from '../../../server/kit/call'
import type { CheckRow } from '../../../server/kit/listen'
import { readerAccess, type ResourceAccess } from './access'
import type { AuditLog } from './log'

/** Finds a record that the reader can see, in the trash too if the reader can see the trash. */
export type FindRecord = (id: string) => Promise<RecordValues | undefined>

/** Returns the check of entries whose records `objectLevel` judges, or `undefined` if SQL has checked every record. */
export async function entryCheck(log: AuditLog, ctx: AutoApiContext): Promise<CheckRow | undefined> {
  const session = requireSession(ctx)
  const { all } = await readerAccess(session, log)
  return all ? undefined : recordCheck(session, log)
}

export async function recordCheck(session: Session, log: AuditLog): Promise<CheckRow | undefined> {
  const { resources } = await readerAccess(session, log)
  const judged = [...resources].filter(([, access]) => access.canRead && isJudged(access))
  if (judged.length === 0) return undefined
  const finders = new Map(judged.map(([name, access]) => [name, recordFinder(session, access)]))
  const isFound = async (resource: string, id: unknown) => {
    const find = finders.get(resource)
    return !find || (typeof id === 'string' && await find(id) !== undefined)
  }
  return async ({ resource, recordId, kind, columns, otherId }) => {
    const target = kind === 'link' || kind === 'unlink' ? linkTarget(session.api, String(resource), columns) : undefined
    // Asked for together, so that one statement of each resource loads the records of all entries.
    const found = await Promise.all([isFound(String(resource), recordId), target === undefined || isFound(target, otherId)])
    return found.every(Boolean)
  }
}

/** The resource of the other record of a link. `columns` of its entry contains the relation. */
function linkTarget({ resources }: Api, resource: string, columns: unknown): string | undefined {
  const [relation] = Array.isArray(columns) ? columns as unknown[] : []
  return resources.get(resource)?.relations.get(String(relation))?.target.name
}

/** Whether rules in code judge the rows of a resource. */
export const isJudged = ({ call: { api, resource } }: ResourceAccess) =>
  resource.auth?.objectLevel !== undefined || api.rowChecks.has(resource)

/** Returns the finder of a resource. One request loads each record once, and all records that it asks for together in one statement. */
export function recordFinder(session: Session, access: ResourceAccess): FindRecord {
  const key = `audit-record:${access.call.resource.name}`
  let find = session.memo.get(key) as FindRecord | undefined
  if (!find) session.memo.set(key, find = createFinder(access))
  return find
}

function createFinder({ call, trash }: ResourceAccess): FindRecord {
  const known = new Map<string, Promise<RecordValues | undefined>>()
  let waiting: { readonly ids: string[], readonly found: Promise<ReadonlyMap<string, RecordValues>> } | undefined
  return (id) => {
    let record = known.get(id)
    if (record) return record
    if (!waiting) {
      const ids: string[] = []
      // All checks of a batch run before the microtask.
      waiting = { ids, found: Promise.resolve().then(() => {
        waiting = undefined
        return findRows(call, ids, trash)
      }) }
    }
    waiting.ids.push(id)
    known.set(id, record = waiting.found.then(found => found.get(id)))
    return record
  }
}
