/** Records events of the app in the audit log, such as a publication. */
import { sql, type SQL } from 'drizzle-orm'
import { didYouMean } from '../../../shared/suggest'
import { CHANGE_KINDS } from '../../../server/kit/listen'
import { type AutoApiContext, requireSession, type Session } from '../../../server/kit/call'
import { type Key, keyClauses, type Resource, toId, toKey } from '../../../server/kit/rows'
import { uuidv7 } from '../../../server/kit/process'
import { callerTenant, entryContext } from './entries'
import type { ActivityRecorder } from '../../../server/plugin/events'
import type { AuditLog } from './log'
import { and, where } from '../../../server/kit/where'

const RESERVED = [...CHANGE_KINDS, 'export', 'created', 'updated', 'deleted', 'restored'] as const

interface Insertable {
  readonly insert: (table: AuditLog['table']) => { readonly values: (values: object) => unknown }
}

/** @throws {TypeError} When the resource, the id, the verb or the data is invalid. */
export const createRecorder = (log: AuditLog): ActivityRecorder => (ctx, { resource: name, id, verb, data, ...rest }, withErrors) => {
  const session = requireSession(ctx)
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined)
    throw invalid(`\`${unknown}\` is not a property of an activity.${didYouMean(unknown, ['resource', 'id', 'verb', 'data'])}`)
  const { resource, key } = toRecord(session, log, name, id)
  assertVerb(verb)
  const after = toData(data, log.withoutValues(name))
  const values = {
    ...entryContext(ctx as AutoApiContext),
    id: uuidv7(),
    kind: verb,
    resource: name,
    recordId: toId(resource, key),
    tenantId: tenantOf(session, resource, key, ctx as AutoApiContext),
    after,
  }
  const build = (db: unknown) => (db as Insertable).insert(log.table).values(values)
  const commit = () => withErrors(async () => {
    // A dry run writes nothing.
    if (!ctx.dryRun) await session.engine.commit([{ build }])
  })
  // A caller either awaits the activity or passes it to `atomicWrites`.
  return Object.assign(build, { then: ((...handlers) => commit().then(...handlers)) as PromiseLike<void>['then'] })
}

function toRecord({ api: { resources } }: Session, log: AuditLog, name: string, id: unknown): { resource: Resource, key: Key } {
  const resource = resources.get(name)
  if (!resource || name === log.resource)
    throw invalid(`\`${String(name)}\` is not a resource with records.${didYouMean(String(name), [...resources.keys()])}`)
  const key = typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint' ? toKey(resource, String(id)) : undefined
  if (!key) throw invalid(`no record of \`${name}\` can have the id \`${String(id).slice(0, 100)}\`.`)
  return { resource, key }
}

function assertVerb(verb: unknown): void {
  if (typeof verb !== 'string' || !/^[a-z][\w-]{0,63}$/i.test(verb))
    throw invalid('a `verb` is a word of letters, digits, `-` and `_`, such as `published`.')
  if ((RESERVED as readonly string[]).includes(verb)) throw invalid(`the verb \`${verb}\` belongs to the API. Use another one.`)
}

/** Copies the data, without columns whose values are never recorded. */
function toData(data: unknown, withoutValues: readonly string[]): object | null {
  if (data === undefined) return null
  if (typeof data !== 'object' || data === null || Array.isArray(data)) throw invalid('`data` is not an object.')
  try {
    return Object.fromEntries(Object.entries(JSON.parse(JSON.stringify(data)) as object).filter(([name]) => !withoutValues.includes(name)))
  }
  catch (cause) {
    throw new TypeError('[auto-api] recordActivity(): `data` cannot be converted to JSON.', { cause })
  }
}

/** The tenant of the record: `(select organization_id from posts where id = ?)`. */
function tenantOf({ engine }: Session, resource: Resource, key: Key, ctx: AutoApiContext): SQL | string | null {
  const { tenant, table } = resource
  if (!tenant) return callerTenant(ctx)
  return where`(select ${engine.adapter.toText(sql`${tenant.column}`)} from ${table} where ${and(keyClauses(resource, key))})`.getSQL()
}

const invalid = (problem: string) => new TypeError(`[auto-api] recordActivity(): ${problem}`)
