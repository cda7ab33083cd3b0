/** Answers a request whose key has been used: with the stored response, or with the records as the caller can read them now. */
import { digest } from 'ohash'
import { findRecords } from '../../../server/kit/records'
import { type RecordValues, toId } from '../../../server/kit/rows'
import { type AutoApiContext, type Call, requireSession, readableFields } from '../../../server/kit/call'
import { conflict, notFound } from '../../../server/kit/errors'
import type { ApiResponse } from '../../../server/kit/respond'
import type { StoredKey } from './store'

/** The kinds of responses that contain the records of a write, or say that they are deleted. */
type RecordsForm = 'created' | 'record' | 'records' | 'deletion' | 'deletions'

/** The kinds of responses that cannot be made from the records of a write. */
type StoredForm = 'links' | 'handler' | UpsertForm

type UpsertForm = 'upserted' | 'upserts'

/** Several writes of any resources: see `steps.ts`. */
type StepsForm = 'steps'

/** The kinds of responses that a write can have. */
export type ResponseForm = RecordsForm | StoredForm | StepsForm

export function callOf(ctx: AutoApiContext): Call {
  const session = requireSession(ctx)
  return { ...session, resource: session.api.resources.get(ctx.resource)! }
}

/** Identifies what the caller can read: the permissions, the roles and the readable fields. */
export async function grantOf(call: Call): Promise<string> {
  const { ctx: { permissions, user } } = call
  const { fields } = await readableFields(call)
  return digest(JSON.stringify([[...permissions].sort(), user?.role ?? null, user?.roles ?? null, fields.map(({ name }) => name)]))
}

export const REPLAYED = { 'Idempotent-Replayed': 'true' }

/**
 * @returns the response of the first request. `undefined` for a change of links whose response is lost: it has the same effect again.
 * @throws 404 if the caller can no longer see a record of the response, 409 if the response of a handler is lost.
 */
export async function replay(
  form: RecordsForm | StoredForm, stored: StoredKey, ids: readonly string[], call: Call,
): Promise<ApiResponse | undefined> {
  return isStoredForm(form) ? replayStored(form, stored, ids, call) : replayRecords(form, stored, ids, call)
}

const isUpsert = (form: ResponseForm): form is UpsertForm => form === 'upserted' || form === 'upserts'

/** Requests that can end without a commit of their own. */
export const isStoredForm = (form: ResponseForm): form is StoredForm => form === 'links' || form === 'handler' || isUpsert(form)

async function replayStored(
  form: StoredForm, { status, body: text, grant }: StoredKey, written: readonly string[], call: Call,
): Promise<ApiResponse | undefined> {
  const body = text === null ? undefined : JSON.parse(text) as unknown
  const ids = form === 'links' ? [call.ctx.params.id!] : isUpsert(form) && body !== undefined ? idsIn(form, body, call) : written
  const records = await readVisible(ids, call)
  if (records.length < ids.length) throw notFound()
  if (status !== null && body !== undefined && grant === await grantOf(call)) {
    const created = form === 'upserted' && status === 201 ? { created: ids[0]! } : {}
    return { status, body: withRelated(body, form === 'upserts', records, call), headers: REPLAYED, ...created }
  }
  if (form === 'links') return undefined
  throw notRepeatable()
}

const notRepeatable = () => conflict('This request took effect before. Its response cannot be repeated.')

/** An upsert answers records that it did not change, too. They are not among the written ones. */
function idsIn(form: UpsertForm, body: unknown, { resource }: Call): readonly string[] {
  return recordsIn(body, form === 'upserts').map((record) => {
    const id = idOf(record, resource)
    // The caller could not read the key, so the response says nothing about which record it is.
    if (id === undefined) throw notRepeatable()
    return id
  })
}

const recordsIn = (body: unknown, isList: boolean) =>
  isList ? (body as { readonly data: readonly RecordValues[] }).data : [body as RecordValues]

function idOf(record: RecordValues, resource: Call['resource']): string | undefined {
  if (!resource.primaryKey.every(({ name }) => Object.hasOwn(record, name))) return undefined
  return toId(resource, resource.primaryKey.map(({ name, fromJson }) => fromJson(record[name])))
}

/**
 * Replaces the included records of a stored response by those that the caller can see now. A record of a list without a readable key has
 * none.
 * @param found the records of the response, as they are now
 */
function withRelated(body: unknown, isList: boolean, found: readonly RecordValues[], { resource, ctx }: Call): unknown {
  if (ctx.query.include === undefined) return body
  const pick = (record: RecordValues, isRelated: boolean) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => resource.relations.has(name) === isRelated))
  const byId = new Map(found.map(record => [idOf(record, resource), pick(record, true)]))
  const relatedOf = (record: RecordValues) => isList ? byId.get(idOf(record, resource)) : pick(found[0]!, true)
  const records = recordsIn(body, isList).map(record => ({ ...pick(record, false), ...relatedOf(record) }))
  return isList ? { ...body as object, data: records } : records[0]
}

async function replayRecords(
  form: RecordsForm, { status, body, grant }: StoredKey, ids: readonly string[], call: Call,
): Promise<ApiResponse> {
  const headers = REPLAYED
  const isDeletion = form === 'deletion' || form === 'deletions'
  const records = isDeletion ? [] : await readVisible(ids, call)
  if (!isDeletion && form !== 'records' && records.length === 0) throw notFound()
  // A stored response can contain fields and records that the caller can no longer read.
  const isReadable = (isDeletion || records.length === ids.length) && grant === await grantOf(call)
  const created = form === 'created' && ids[0] !== undefined ? { created: ids[0] } : {}
  return isReadable && status !== null && body !== null
    ? { status, body: withRelated(JSON.parse(body), form === 'records', records, call), headers, ...created }
    : { ...CURRENT[form](records, ids, call), headers, ...created }
}

/** Reads the active records that the caller can see, in the order of the ids. */
async function readVisible(ids: readonly string[], call: Call): Promise<readonly RecordValues[]> {
  const found = await findRecords(call, ids, { include: true })
  return ids.map(id => found.get(id)).filter(record => record !== undefined)
}

type CreateBody = (records: readonly RecordValues[], ids: readonly string[], call: Call) => ApiResponse

const total = (count: number) => ({ total: count, successful: count, failed: 0 })
const softDeleted = ({ ctx: { operation }, resource }: Call) => operation === 'delete' && resource.roles.deletedAt !== undefined

/** The id of a single numeric key is a number in JSON. */
const wireId = ({ resource: { primaryKey } }: Call, id: string) =>
  primaryKey.length === 1 && (primaryKey[0]!.kind === 'integer' || primaryKey[0]!.kind === 'number') ? Number(id) : id

const CURRENT: Readonly<Record<RecordsForm, CreateBody>> = {
  created: ([record]) => ({ status: 201, body: record }),
  record: ([record]) => ({ status: 200, body: record }),
  records: records => ({ status: 200, body: { data: records, meta: total(records.length) } }),
  deletion: (_records, _ids, call) => ({ status: 200, body: { success: true, softDeleted: softDeleted(call) } }),
  deletions: (_records, ids, call) => ({
    status: 200,
    body: { data: ids.map(id => ({ id: wireId(call, id), deleted: true, softDeleted: softDeleted(call) })), meta: total(ids.length) },
  }),
}
