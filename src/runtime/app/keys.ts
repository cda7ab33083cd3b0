/** The one key factory: what a cached answer is called, and which resources' rows it holds. */
import { canonicalKey } from '../shared/query'
import { resources } from './nuxt'

/** What an answer was asked for with. */
export interface KeyDetails {
  readonly id?: string | number | null
  readonly relation?: string
  readonly query?: { readonly include?: IncludeTree, readonly [parameter: string]: unknown }
  /** Of an endpoint: the resources it reads. */
  readonly reads?: readonly string[]
}

export interface IncludeTree {
  readonly [relation: string]: boolean | { readonly include?: IncludeTree } | undefined
}

export type Kind = 'list' | 'infinite' | 'get' | 'aggregate' | 'related' | 'permissions' | 'endpoint'

/** `['auto-api', 'posts']` begins the keys of everything that is read of posts. */
export type ApiKey = readonly ['auto-api', resource: string, kind: Kind, detail: KeyDetails]

export function toApiKey(resource: string, kind: Kind, detail: KeyDetails): ApiKey {
  return ['auto-api', resource, kind, detail]
}

export function isApiKey(key: readonly unknown[]): key is ApiKey {
  return key[0] === 'auto-api' && key.length === 4
}

/** Of which resource the records are that an answer consists of. */
export function rootOf([, resource, kind, { relation }]: ApiKey): string {
  return kind === 'related' ? targetOf(resource, relation!) : resource
}

/** Where a relation leads; `*` where the build could not find out: it may be anywhere. */
export function targetOf(resource: string, relation: string): string {
  return resources[resource]?.relations[relation]?.to ?? '*'
}

/** Every resource that an answer speaks of: its own, those of its relations, those it includes. */
export function resourcesOf(key: ApiKey): ReadonlySet<string> {
  const [, resource, , { query, reads = [] }] = key
  return new Set([resource, ...reads, rootOf(key), ...includedIn(rootOf(key), query?.include)])
}

function includedIn(resource: string, include: IncludeTree = {}): string[] {
  return Object.entries(include).flatMap(([relation, options]) => {
    if (!options) return []
    const target = targetOf(resource, relation)
    const { via } = resources[resource]?.relations[relation] ?? {}
    return [target, ...via === undefined ? [] : [via], ...includedIn(target, options === true ? {} : options.include)]
  })
}

/** What goes to the trash, or comes back from it, with a record: all that hangs on it. */
export function withDescendants(resource: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(resource)) return found
  found.add(resource)
  for (const { to, many, linked } of Object.values(resources[resource]?.relations ?? {})) if (many && !linked) withDescendants(to, found)
  return found
}

/** A record's id as it stands in a path; undefined where its key was not asked for. */
export function idOf(resource: string, record: Readonly<Record<string, unknown>>): string | undefined {
  const key = resources[resource]?.key ?? ['id']
  if (key.some(name => record[name] === undefined)) return undefined
  return key.length === 1 ? String(record[key[0]!]) : key.map(name => encodeURIComponent(String(record[name]))).join(',')
}

/** Whether the primary key of a resource has several columns. */
export function isComposite(resource: string): boolean {
  return (resources[resource]?.key?.length ?? 1) > 1
}

/** One text for each record: a route of the app hands on ids as text, and those of composite keys decoded. */
export function toIdentity(resource: string, id: string | number): string {
  const text = String(id)
  return isComposite(resource) ? canonicalKey(text) ?? text : text
}

/** Nothing is asked for while there is no id. */
export function isMissing(id: string | number | null | undefined): id is null | undefined | '' {
  return id === undefined || id === null || id === ''
}
