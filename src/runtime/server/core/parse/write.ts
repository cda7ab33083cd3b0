/** Parses writes: one record or a batch becomes a list of items. An invalid item of a batch gets an `error`. */
import { isObject } from '../../../shared/is-object'
import { andThen, attempt, type Awaitable } from '../awaitable'
import { LIMITS } from '../../../shared/limits'
import { didYouMean } from '../../../shared/suggest'
import type { Operation } from '../../../shared/operations'
import { EXPECTED, INVALID, WIRE_FORMATS } from '../../../shared/wire'
import type { Resource } from '../../schema/model'
import type { ApiRequest } from '../request/api-request'
import type { Call } from '../request/session'
import { ApiError, invalidBody, invalidValue, limitExceeded, notFound, quote, validationFailed, type Issue } from '../error'
import { readableFields } from '../access/fields'
import { parseData, requireJsonObject, type BodyKind, type WriteData } from './body'
import { assertOptional, ifMatchOf, refuseIfMatch, toIfMatch } from './if-match'
import { parseKey } from './key'
import { firstLevel, parseChildren, splitBody, type Level } from './nested'
import type { WriteItem } from './write-item'
import { toKey } from '../../schema/record-id'
import { flag, singleValue } from './params'

export type { WriteItem } from './write-item'

/** A single or bulk write. */
export interface WriteRequest {
  readonly items: readonly WriteItem[]
  readonly bulk: boolean
  /** The id of a cascade group in the trash. If it is present, `items` is empty. */
  readonly deletionId?: string
  readonly reason?: string
  /** The rows that a preview has shown to the caller: `confirm` of its response. */
  readonly confirm?: string
}

export async function parseCreate(request: ApiRequest, call: Call): Promise<WriteRequest> {
  refuseIfMatch(request, 'A new record has no tag yet.')
  return { bulk: false, items: [await parseBody(await request.body(), call, 'create')] }
}

export async function parseUpdate(request: ApiRequest, call: Call): Promise<WriteRequest> {
  const body = await parseBody(await request.body(), call, 'update')
  return { bulk: false, items: [{ key: parseKey(request, call.resource), ...body, ...ifMatchOf(request, call.resource) }] }
}

/** The values of a body, and its children. A promise only if validation is one, or the resource writes children with its records. */
function parseBody(body: unknown, call: Call, kind: BodyKind): Awaitable<WriteItem> {
  if (call.resource.nested.size > 0) return parseNested(body, call, kind, firstLevel())
  return andThen(parseItemData(body, call, kind), data => ({ data }))
}

/** @throws `VALIDATION_FAILED` with the issues of the record and of all children */
function parseNested(body: unknown, call: Call, kind: BodyKind, level: Level): Awaitable<WriteItem> {
  const { own, given } = splitBody(body, call.resource)
  const issues: Issue[] = []
  const parsed = attempt<WriteData | undefined>(() => parseItemData(own, call, kind), (error) => {
    if (!(error instanceof ApiError) || error.data.code !== 'VALIDATION_FAILED') throw error
    issues.push(...(error.data as unknown as { readonly issues: readonly Issue[] }).issues)
    return undefined
  })
  return andThen(parsed, data => andThen(given.length > 0 ? parseChildren(given, call, parseNested, level) : NOTHING, (found) => {
    const { issues: others, ...nested } = found
    issues.push(...others)
    if (issues.length > 0) throw validationFailed(issues)
    return { data: data!, ...nested }
  }))
}

const NOTHING: Awaited<ReturnType<typeof parseChildren>> = { issues: [] }

function parseItemData(body: unknown, call: Call, kind: BodyKind): Awaitable<WriteData> {
  return parseData(body, call.resource, kind, () => readableFields(call), call.api.reservedIds, () => countSuggestion(call))
}

/** A file or a batch can have thousands of unknown keys, and a response lists few of them. */
function countSuggestion({ memo }: Call): boolean {
  const count = (memo.get(SUGGESTIONS) as number | undefined ?? 0) + 1
  memo.set(SUGGESTIONS, count)
  return count <= LIMITS.issues
}

const SUGGESTIONS = 'suggestions'

export function parseDelete(request: ApiRequest, { resource }: Call): WriteRequest {
  flag(request.query, 'force')
  const query = { ...reasonOf(request, resource), ...confirmOf(request) }
  return { bulk: false, items: [{ key: parseKey(request, resource), ...ifMatchOf(request, resource) }], ...query }
}

export function parseRestore(request: ApiRequest, { resource }: Call): WriteRequest {
  return { bulk: false, items: [{ key: parseKey(request, resource), ...ifMatchOf(request, resource) }], ...confirmOf(request) }
}

/** `?force=true` turns a delete into a purge, which has its own permission. */
export function deleteOperation({ query }: ApiRequest): readonly [Operation] {
  return query.force === 'true' ? ['purge'] : ['delete']
}

/** Rate limits on deletes also count purges. A purge needs only the `purge` permission. */
export function purgeCountsAs(request: ApiRequest): readonly Operation[] {
  return deleteOperation(request)[0] === 'purge' ? ['delete'] : []
}

function reasonOf({ query }: ApiRequest, { roles }: Resource): { reason?: string } {
  const reason = singleValue(query, 'reason')
  if (reason && (WIRE_FORMATS.text.fromText(reason) === INVALID || roles.deletedReason?.fromText(reason) === INVALID))
    throw invalidValue('reason', `expected ${roles.deletedReason?.expected ?? EXPECTED.text}, without NUL characters.`)
  return reason ? { reason } : {}
}

/** An empty value is a mistake of the client, and would write without the condition. */
function confirmOf({ query }: ApiRequest): { confirm?: string } {
  const confirm = singleValue(query, 'confirm')
  if (confirm === '') throw invalidValue('confirm', 'expected `confirm` of the response to a dry run.')
  return confirm === undefined ? {} : { confirm }
}

/** `{ items: [{ … }] }` */
export async function parseBulkCreate(request: ApiRequest, call: Call): Promise<WriteRequest> {
  refuseIfMatch(request, 'New records have no tags yet.')
  const items = listOf(await request.body(), 'items', call)
  return { bulk: true, items: await parsedItems(items, call, 'create') }
}

/** The bodies of an upsert: one, or those of `{ items: [{ … }] }`. */
export async function parseRecords(request: ApiRequest, call: Call, bulk: boolean): Promise<readonly unknown[]> {
  return bulk ? listOf(await request.body(), 'items', call) : [await request.body()]
}

const USE_ITEMS = 'Send `ifMatch` with each item.'
const USE_IDS = 'Send `{ id, ifMatch }` instead of each id.'

/** `{ items: [{ id, data, ifMatch? }] }` */
export async function parseBulkUpdate(request: ApiRequest, call: Call): Promise<WriteRequest> {
  refuseIfMatch(request, USE_ITEMS)
  const given = listOf(await request.body(), 'items', call).map((item) => {
    if (!isObject(item)) throw invalidBody('Every item is an object with `id` and `data`.')
    assertKeys(item, 'items', ['id', 'data', 'ifMatch'])
    return { id: toId(item.id, 'items'), data: item.data, ifMatch: item.ifMatch }
  })
  const ids = new Set<string>()
  for (const { id } of given) {
    if (ids.has(String(id))) throw invalidBody(`The id ${quote(String(id))} is given more than once.`)
    ids.add(String(id))
  }
  const parsed = await parsedItems(given.map(({ data }) => data), call, 'update')
  return { bulk: true, items: given.map(({ id, ifMatch }, index) => ({ ...withIfMatch(byId(id, call), ifMatch, call), ...parsed[index] })) }
}

/** `{ ids: [ … ] }`; with `?force=true` also `{ deletionId }`. An entry of `ids` is an id or `{ id, ifMatch? }`. */
export async function parseBulkDelete(request: ApiRequest, call: Call): Promise<WriteRequest> {
  refuseIfMatch(request, USE_IDS)
  const purge = flag(request.query, 'force')
  const body = await request.body()
  const write = purge ? toGroupRequest(body, call, REQUIRED) : toIdsRequest(body, call, REQUIRED)
  return { ...write, ...reasonOf(request, call.resource), ...confirmOf(request) }
}

export async function parseBulkRestore(request: ApiRequest, call: Call): Promise<WriteRequest> {
  refuseIfMatch(request, USE_IDS)
  return { ...toGroupRequest(await request.body(), call, REQUIRED), ...confirmOf(request) }
}

/** A misspelt `ifMatch` would write without the condition. */
function assertKeys(entry: object, list: string, keys: readonly string[]): void {
  const unknown = Object.keys(entry).find(key => !keys.includes(key))
  if (unknown !== undefined) throw invalidBody(`${quote(unknown)} is not a key of an entry of \`${list}\`.${didYouMean(unknown, keys)}`)
}

/** Requests of clients need tags, if the resource requires them. Server utils do not. */
const REQUIRED = true

/** Adds the tags of a batch entry. An error of the tags becomes the error of the item, before the record is looked up. */
function withIfMatch(item: WriteItem, ifMatch: unknown, { resource }: Call): WriteItem {
  try {
    if (ifMatch !== undefined) return { ...item, ifMatch: toIfMatch(ifMatch, 'ifMatch') }
    assertOptional(resource)
    return item
  }
  catch (error) {
    if (error instanceof ApiError) return { ...item, error }
    throw error
  }
}

/** Parses `{ ids }` or `{ deletionId }`. A deletion id stands for all rows that one delete moved to the trash. */
export function toGroupRequest(body: unknown, call: Call, needsTags = false): WriteRequest {
  assertBulk(call)
  const { ids, deletionId } = requireJsonObject(body)
  if (deletionId === undefined) return toIdsRequest(body, call, needsTags)
  if (typeof deletionId !== 'string' || deletionId === '' || ids !== undefined)
    throw invalidBody('The body is `{ ids }` or `{ deletionId }`.')
  // If the table has no `deletionId` column, the write finds no rows and returns 404.
  const { deletionId: column } = call.resource.roles
  if (column?.fits(deletionId) === false) throw invalidValue('deletionId', `expected ${column.expected}.`)
  // The request names no rows, so it cannot have their tags.
  if (needsTags) assertOptional(call.resource)
  return { bulk: true, items: [], deletionId }
}

/** Parses `{ ids }` without repeated ids. An entry with a tag cannot be repeated. */
function toIdsRequest(body: unknown, call: Call, needsTags: boolean): WriteRequest {
  const items = new Map<string, WriteItem>()
  for (const entry of listOf(body, 'ids', call)) {
    if (isObject(entry)) assertKeys(entry, 'ids', ['id', 'ifMatch'])
    const { id: given, ifMatch } = isObject(entry) ? entry : { id: entry, ifMatch: undefined }
    const id = toId(given, 'ids')
    const known = items.get(String(id))
    if (known && (ifMatch !== undefined || known.ifMatch !== undefined))
      throw invalidBody(`The id ${quote(String(id))} is given more than once.`)
    items.set(String(id), ifMatch === undefined && !needsTags ? byId(id, call) : withIfMatch(byId(id, call), ifMatch, call))
  }
  return { bulk: true, items: [...items.values()] }
}

function assertBulk({ api: { config } }: Call): void {
  if (!config.bulk.enabled) throw invalidBody('Bulk operations are turned off.')
}

function listOf(body: unknown, key: 'items' | 'ids', call: Call): readonly unknown[] {
  assertBulk(call)
  const { maxBatchSize } = call.api.config.bulk
  const list = requireJsonObject(body)[key]
  if (!Array.isArray(list) || list.length === 0) throw invalidBody(`\`${key}\` is a list that is not empty.`)
  if (list.length > maxBatchSize) throw limitExceeded(`\`${key}\` holds more than ${maxBatchSize} entries.`, key)
  return list
}

function toId(id: unknown, list: 'items' | 'ids'): string | number {
  if (typeof id !== 'string' && typeof id !== 'number') throw invalidBody(`An id in \`${list}\` is a string or a number.`)
  return id
}

function byId(id: string | number, { resource }: Call): WriteItem {
  const key = toKey(resource, String(id))
  return key ? { id, key } : { id, error: notFound() }
}

/** Parses one record of a batch. An invalid one gets an `error`. */
export function parseItem(data: unknown, call: Call, kind: BodyKind): Awaitable<WriteItem> {
  return attempt(() => parseBody(data, call, kind), toInvalidItem)
}

function toInvalidItem(error: unknown): WriteItem {
  if (error instanceof ApiError) return { error }
  throw error
}

const parsedItems = (records: readonly unknown[], call: Call, kind: BodyKind): Promise<readonly WriteItem[]> =>
  Promise.all(records.map(record => parseItem(record, call, kind)))
