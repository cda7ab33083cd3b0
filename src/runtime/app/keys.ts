/** Creates the cache keys of responses, and finds the resources whose rows a response contains. */
import { canonicalKey } from '../shared/query'
import type { Row } from './any-resource'
import { resources } from './nuxt'

/** The parameters of a request. */
export interface KeyDetails {
  readonly id?: string | number | null
  readonly relation?: string
  readonly query?: { readonly include?: IncludeTree, readonly counts?: unknown, readonly [parameter: string]: unknown }
  /** For an endpoint: the resources that it reads. */
  readonly reads?: readonly string[]
}

export interface IncludeTree {
  readonly [relation: string]: boolean | IncludeOptions | undefined
}

interface IncludeOptions {
  readonly include?: IncludeTree
  readonly filter?: unknown
  readonly sort?: unknown
  readonly counts?: unknown
}

export type Kind = 'list' | 'infinite' | 'get' | 'aggregate' | 'related' | 'permissions' | 'schema' | 'endpoint' | 'feed' | 'feed-pages'

/** The keys of all cached responses of a resource start with `['auto-api', 'posts']`. */
export type ApiKey = readonly ['auto-api', resource: string, kind: Kind, detail: KeyDetails]

export function toApiKey(resource: string, kind: Kind, detail: KeyDetails): ApiKey {
  return ['auto-api', resource, kind, detail]
}

export function isApiKey(key: readonly unknown[]): key is ApiKey {
  return key[0] === 'auto-api' && key.length === 4
}

/** The resource of a response's top-level records. */
export function rootOf([, resource, kind, { relation }]: ApiKey): string {
  return kind === 'related' ? targetOf(resource, relation!) : resource
}

/** Returns the foreign key of the children that a body can contain. */
export function foreignKeyOf(resource: string, relation: string): readonly string[] {
  return resources[resource]?.relations[relation]?.foreignKey ?? []
}

/** Returns the target resource of a relation, or `*` (any resource) if the relation is not known at build time. */
export function targetOf(resource: string, relation: string): string {
  return resources[resource]?.relations[relation]?.to ?? '*'
}

/**
 * Returns every resource that a response depends on: the resources of its records, of its includes and counts, and of the relations in its
 * filters and sorts. A view adds the resources that it tracks.
 */
export function resourcesOf(key: ApiKey): ReadonlySet<string> {
  const [, resource, , { query = {}, reads = [] }] = key
  const root = rootOf(key)
  return withTracked([resource, ...reads, root, ...namedBy(root, query)])
}

const withTracked = (names: readonly string[]) => new Set(names.flatMap(name => [name, ...resources[name]?.tracks ?? []]))

/** Whether a change of a record can change a response. The response of one record depends on others only through its query. */
export function isAffectedBy(key: ApiKey, resource: string, id: string): boolean {
  const [, root, kind, { id: own, query = {} }] = key
  if (kind !== 'get' || root !== resource || isMissing(own) || toIdentity(root, own) === toIdentity(root, id)) {
    const names = resourcesOf(key)
    return names.has('*') || names.has(resource)
  }
  const others = withTracked(namedBy(root, query))
  return others.has('*') || others.has(resource) || (resources[root]?.tracks ?? []).includes(resource)
}

/** The resources that the options of a list, or of an include, name. */
const namedBy = (resource: string, { filter, sort, counts, include }: IncludeOptions): string[] =>
  [...filteredBy(resource, filter), ...along(resource, sort), ...along(resource, counts, '.'), ...includedIn(resource, include)]

function includedIn(resource: string, include: IncludeTree = {}): string[] {
  return Object.entries(include).flatMap(([relation, options]) => {
    if (!options) return []
    const target = targetOf(resource, relation)
    return [...readBy(resource, relation), ...options === true ? [] : namedBy(target, options)]
  })
}

/** The target of a relation, and its junction table if that is a resource. */
function readBy(resource: string, relation: string): string[] {
  const { via: junction } = resources[resource]?.relations[relation] ?? {}
  return [targetOf(resource, relation), ...junction === undefined ? [] : [junction]]
}

/**
 * The resources of relations in `-author.name` and `comments.$count`, or in names of relations alone.
 * @param names in a list, or in text with commas, which the server accepts too
 */
function along(resource: string, names: unknown, end = ''): string[] {
  return `${names ?? ''}`.split(',').flatMap((name) => {
    let at = resource
    return (name + end).replace(/[-\s]/g, '').split('.').slice(0, -1).filter(Boolean).flatMap((relation) => {
      const read = readBy(at, relation)
      at = read[0]!
      return read
    })
  })
}

function filteredBy(resource: string, filter: unknown): string[] {
  if (typeof filter !== 'object' || filter === null) return []
  return Object.entries(filter).flatMap(([name, value]): string[] => {
    if (name === '$not') return filteredBy(resource, value)
    if (name === '$and' || name === '$or') return Object.values(value as object).flatMap(branch => filteredBy(resource, branch))
    return resources[resource]?.relations[name] ? [...readBy(resource, name), ...filteredBy(targetOf(resource, name), value)] : []
  })
}

/** Returns a resource and its descendants: a delete or a restore cascades to them. Skips many-to-many relations (`linked`). */
export function withDescendants(resource: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(resource)) return found
  found.add(resource)
  for (const { to, many, linked } of Object.values(resources[resource]?.relations ?? {})) if (many && !linked) withDescendants(to, found)
  return found
}

/** Returns a resource and those of the children in a body, or in a list of bodies. Deleting children cascades to their descendants. */
export function withChildren(resource: string, bodies: unknown): ReadonlySet<string> {
  const names = [bodies].flat().flatMap(body => Object.keys({ ...body as Row, ...(body as Row).data as Row }))
  const children = names.map(name => resources[resource]?.relations[name]).filter(relation => relation?.foreignKey)
  return new Set([resource, ...children.flatMap(relation => [...withDescendants(relation!.to)])])
}

/** Returns a record's id as a path segment, or `undefined` if the record lacks a field of its key. */
export function idOf(resource: string, record: Readonly<Record<string, unknown>>): string | undefined {
  const key = resources[resource]?.key ?? ['id']
  if (key.some(name => record[name] === undefined)) return undefined
  return key.length === 1 ? String(record[key[0]!]) : key.map(name => encodeURIComponent(String(record[name]))).join(',')
}

/** Whether the primary key of a resource has several columns. */
export function isComposite(resource: string): boolean {
  return (resources[resource]?.key?.length ?? 1) > 1
}

/** Converts every form of an id to the same text: a number, a text, or a composite key with encoded or decoded values. */
export function toIdentity(resource: string, id: string | number): string {
  const text = String(id)
  return isComposite(resource) ? canonicalKey(text) ?? text : text
}

/** Whether an id is missing. Composables send no request without an id. */
export function isMissing(id: string | number | null | undefined): id is null | undefined | '' {
  return (id ?? '') === ''
}
