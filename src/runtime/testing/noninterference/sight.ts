/**
 * What a caller can see, as the rules say: the rows of each operation, and the values of the columns that the caller can read. It evaluates
 * the rules itself, so a route that ignores them does not change the result.
 */
import type { ServerApi } from '../../server/api/create'
import { callFor, isAuthorized } from '../../server/core/access/authorize'
import { allFields, readableFields } from '../../server/core/access/fields'
import { rowRules } from '../../server/core/access/row-rules'
import { decoder, type RecordValues } from '../../server/core/read/rows/decode'
import { selectList } from '../../server/core/read/rows/select'
import { requireSession, type Call, type Session } from '../../server/core/request/session'
import { whereClause } from '../../server/core/sql/conditions'
import { statement } from '../../server/core/sql/parameterize'
import { where, type Where } from '../../server/core/sql/where'
import { addRecorder, record } from '../../server/explain/recorder'
import type { Field } from '../../server/schema/field'
import type { Resource } from '../../server/schema/model'
import type { Operation } from '../../shared/operations'
import type { TrashMode } from '../../shared/query'
import type { TestApi } from '../api/create'
import type { RowId } from '../access/probes'

export type Row = RecordValues

/** The rows of a resource, and what the caller sees of them. */
export interface SeenResource {
  readonly resource: Resource
  /** Every row, with its stored columns. */
  readonly rows: readonly Row[]
  /** The keys of the rows that the caller can use for at least one operation. */
  readonly visible: ReadonlySet<string>
  /** The fields that the caller can read. Empty for a caller who cannot read the resource. */
  readonly readable: ReadonlySet<string>
  /** The operations that the caller can use. */
  readonly allowed: ReadonlySet<Operation>
}

export interface Sight {
  readonly resources: ReadonlyMap<string, SeenResource>
  /** Everything that the caller can see, by what it is: `posts 3`, `rows of posts for update`. */
  readonly facts: ReadonlyMap<string, string>
  /** The Drizzle database. Absent if the API refuses the caller before it knows the caller. */
  readonly db: unknown
}

/** The rows that an operation can use. */
const TRASH: Readonly<Partial<Record<Operation, TrashMode>>> = {
  read: 'active', aggregate: 'active', update: 'active', delete: 'active', restore: 'trashed', purge: 'both', viewDeleted: 'both',
}

export const keyOf = ({ primaryKey }: Resource, row: Row): string => JSON.stringify(idOf(primaryKey, row))

export const wireOf = ({ toJson }: Pick<Field, 'toJson'>, value: unknown): unknown =>
  value === null || value === undefined || !toJson ? value : toJson(value)

/** The id of a row in paths and bodies. */
export function idOf(primaryKey: readonly Field[], row: Row): RowId {
  const parts = primaryKey.map(field => wireOf(field, row[field.name]) as string | number)
  return parts.length === 1 ? parts[0]! : parts
}

const recorded = new WeakSet<ServerApi>()

/** Opens a session of the caller. @returns undefined if the API refuses the caller, such as one with an invalid credential */
async function openSession(api: TestApi, server: ServerApi, caller: string): Promise<Session | undefined> {
  if (!recorded.has(server)) {
    recorded.add(server)
    addRecorder(server)
  }
  const { recording } = await record(() => api.as(caller).get('/permissions'))
  return recording.ctx && requireSession(recording.ctx)
}

export async function lookAs(api: TestApi, server: ServerApi, caller: string): Promise<Sight> {
  const session = await openSession(api, server, caller)
  if (!session) return { resources: new Map(), facts: new Map([['caller', 'refused']]), db: undefined }
  const { ctx } = session
  const facts = new Map([['caller', toText({ user: ctx.user, permissions: ctx.permissions, tenant: ctx.tenant })]])
  const resources = new Map<string, SeenResource>()
  for (const resource of server.resources.values()) resources.set(resource.name, await lookAt(session, resource, facts))
  return { resources, facts, db: ctx.db }
}

async function lookAt(session: Session, resource: Resource, facts: Map<string, string>): Promise<SeenResource> {
  const { name } = resource
  const read = callFor(session, resource, 'read')
  const rows = await readRows(read)
  const visible = new Set<string>()
  const allowed: Operation[] = await isAuthorized(session, resource, 'create') ? ['create'] : []
  for (const [operation, trash] of Object.entries(TRASH) as [Operation, TrashMode][]) {
    const found = await rowsFor(session, resource, operation, trash)
    if (!found) continue
    allowed.push(operation)
    // Rows of a view and of a table without a key have no id.
    const keys = found.map(row => resource.primaryKey.length > 0 ? keyOf(resource, row) : toText(rowText(resource, row, () => true)))
    facts.set(`rows of ${name} for ${operation}`, toText(keys.sort()))
    for (const key of keys) visible.add(key)
  }
  const readable = new Set(allowed.length > 0 ? (await readableFields(read, resource, 'read')).byName.keys() : [])
  facts.set(`fields of ${name}`, toText([allowed, [...readable]]))
  for (const row of resource.primaryKey.length > 0 ? rows : [])
    if (visible.has(keyOf(resource, row)))
      facts.set(`${name} ${keyOf(resource, row)}`, toText(rowText(resource, row, field => readable.has(field.name))))
  return { resource, rows, visible, readable, allowed: new Set(allowed) }
}

/** @returns undefined for a caller who cannot use the operation */
async function rowsFor(session: Session, resource: Resource, operation: Operation, trash: TrashMode): Promise<Row[] | undefined> {
  if (!await isAuthorized(session, resource, operation)) return undefined
  const call = callFor(session, resource, operation)
  const { scope, accepts } = await rowRules(call, { resource, trash }, operation, 'all')
  const rows = await readRows(call, scope)
  if (!accepts) return rows
  const accepted: Row[] = []
  for (const row of rows) if (await accepts(row)) accepted.push(row)
  return accepted
}

async function readRows(call: Call, conditions: readonly Where[] = []): Promise<Row[]> {
  const columns = allFields(call.resource)
  const rows = where`select ${selectList(columns)} from ${call.resource.table}${whereClause(conditions)}`
  return (await call.engine.query(statement(call, rows))).map(decoder(columns))
}

const rowText = ({ fields }: Resource, row: Row, passes: (field: Field) => boolean) =>
  [...fields.values()].filter(field => field.stored && passes(field)).map(field => [field.name, wireOf(field, row[field.name])])

const toText = (value: unknown): string => JSON.stringify(value, (_, part: unknown) => typeof part === 'bigint' ? String(part) : part)
