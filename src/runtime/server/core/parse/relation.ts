/** Parses the requests of the relation routes. */
import { isObject } from '../../../shared/is-object'
import type { Operation } from '../../../shared/operations'
import { LINK_OPERATIONS, type LinkMode } from '../access/links'
import type { ApiRequest } from '../request/api-request'
import type { Call } from '../request/session'
import { invalidBody, limitExceeded, quote } from '../error'
import { requireJsonObject } from './body'
import { refuseIfMatch } from './if-match'
import { parseKey } from './key'
import type { Key } from '../../schema/record-id'
import { parseList, type ListQuery } from './list'
import { flag } from './params'

export interface RelatedQuery {
  readonly key: Key
  readonly relation: string
  readonly list: ListQuery
  /** Whether the response also contains the junction's own columns of each link. */
  readonly metadata: boolean
}

export function parseRelated(request: ApiRequest, call: Call): RelatedQuery {
  return {
    list: parseList(request, call),
    metadata: flag(request.query, 'includeMetadata'),
    key: parseKey(request, call.resource),
    relation: request.params.relation ?? '',
  }
}

export interface RelationLinks {
  readonly relation: string
  readonly ids: readonly string[]
  /** Values of other junction columns, for every link that the request adds. */
  readonly metadata: Metadata
  /** Values for single links, by id. They override `metadata`. */
  readonly metadataById: ReadonlyMap<string, Metadata>
}

export type Metadata = Readonly<Record<string, unknown>>

export interface LinkRequest {
  readonly key: Key
  readonly mode: LinkMode
  readonly links: readonly RelationLinks[]
  /** Whether the request uses the format for several relations. If so, the response has one entry for each relation. */
  readonly severalRelations: boolean
}

const MODES: Readonly<Record<string, LinkMode>> = { PUT: 'replace', POST: 'add', DELETE: 'remove' }

/** The operations that rate limits count. They do not depend on the relation, so that limits do not disclose which relations exist. */
export function linkCountsAs({ method }: ApiRequest): readonly Operation[] {
  return LINK_OPERATIONS[MODES[method]!]
}

const LINKS_HAVE_NO_TAG = 'The tag of a record does not cover its links.'

/** `{ ids, metadata?, metadataById? }` */
export async function parseLink(request: ApiRequest, call: Call): Promise<LinkRequest> {
  refuseIfMatch(request, LINKS_HAVE_NO_TAG)
  const links = toLinks(request.params.relation ?? '', await request.body(), call)
  return { mode: MODES[request.method]!, links: [links], severalRelations: false, key: parseKey(request, call.resource) }
}

/** `{ relations: { tags: { ids } } }` */
export async function parseLinks(request: ApiRequest, call: Call): Promise<LinkRequest> {
  refuseIfMatch(request, LINKS_HAVE_NO_TAG)
  const { relations } = requireJsonObject(await request.body())
  if (!isObject(relations) || Object.keys(relations).length === 0)
    throw invalidBody('`relations` is an object of relations that is not empty.')
  const links = Object.entries(relations).map(([relation, body]) => {
    if (!isObject(body)) throw invalidBody(`\`relations\`: ${quote(relation)} is not an object.`)
    return toLinks(relation, body, call)
  })
  return { mode: 'replace', links, severalRelations: true, key: parseKey(request, call.resource) }
}

function toLinks(relation: string, body: unknown, call: Call): RelationLinks {
  const { ids, metadata = {}, metadataById = {}, ...rest } = requireJsonObject(body)
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw invalidBody(`The body is \`{ ids, metadata?, metadataById? }\`; ${quote(unknown)} is not known.`)
  if (!Array.isArray(ids) || ids.some(id => typeof id !== 'string' && typeof id !== 'number'))
    throw invalidBody('`ids` is a list of strings or numbers.')
  if (!isObject(metadata)) throw invalidBody('`metadata` is an object.')
  const { maxBatchSize } = call.api.config.bulk
  const distinct = [...new Set(ids.map(String))]
  if (distinct.length > maxBatchSize) throw limitExceeded(`\`ids\` holds more than ${maxBatchSize} entries.`, 'ids')
  return { relation, ids: distinct, metadata, metadataById: toMetadataById(metadataById, metadata, distinct) }
}

/** Parses `{ 3: { position: 1 } }`. Merges the values of each id into the values for all links. */
function toMetadataById(byId: unknown, shared: Metadata, ids: readonly string[]): ReadonlyMap<string, Metadata> {
  if (!isObject(byId) || !Object.values(byId).every(isObject)) throw invalidBody('`metadataById` is an object of objects, by id.')
  const unlisted = Object.keys(byId).find(id => !ids.includes(id))
  if (unlisted !== undefined) throw invalidBody(`\`metadataById\` names ${quote(unlisted)}, which \`ids\` does not.`)
  return new Map(Object.entries(byId).map(([id, own]) => [id, { ...shared, ...own as Metadata }]))
}
