/** Random requests of the grammar of the API: any path of the scene, with any of its parameters, up to 10 kB. */
import { createRandom } from '../random.ts'

/** A number from 0 to 1, without 1. */
type Random = () => number

export function createNumbers(seed: number): Random {
  const { below } = createRandom(seed)
  return () => below(2 ** 31) / 2 ** 31
}

export interface SearchedRequest {
  readonly method: string
  readonly path: string
  readonly parameters: Readonly<Record<string, unknown>>
  readonly body?: unknown
}

/** The largest request, with its body. */
export const MAX_REQUEST = 10 * 1024

/** The fields of each resource, and the resource behind each relation. */
const MODEL: Readonly<Record<string, { readonly fields: readonly string[], readonly relations: Readonly<Record<string, string>> }>> = {
  users: { fields: ['id', 'name'], relations: { posts: 'posts', comments: 'comments' } },
  posts: { fields: ['id', 'authorId', 'title', 'body'], relations: { author: 'users', comments: 'comments', tags: 'tags' } },
  comments: { fields: ['id', 'postId', 'authorId', 'body'], relations: { post: 'posts', author: 'users' } },
  tags: { fields: ['id', 'name'], relations: { posts: 'posts' } },
}
const TO_MANY = new Set(['posts', 'comments', 'tags'])

export const toUrl = ({ path, parameters }: SearchedRequest) =>
  `/api/${path}?${new URLSearchParams(
    Object.entries(parameters)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  )}`

export const sizeOf = (request: SearchedRequest) => toUrl(request).length + JSON.stringify(request.body ?? '').length

type Make = (resource: string, random: Random) => unknown

const pick = <T>(list: readonly T[], random: Random): T => list[Math.floor(random() * list.length)]!
const chance = (random: Random, of: number) => random() < of
const many = <T>(random: Random, max: number, make: () => T): T[] => Array.from({ length: 1 + Math.floor(random() * max) }, make)
const entries = <T>(random: Random, max: number, make: () => [string, T]): Record<string, T> => Object.fromEntries(many(random, max, make))

const pattern = (random: Random) =>
  pick(['zz', 'a%', '%a%b', `${'a'.repeat(60)}c`, `${'a%'.repeat(15)}c`, `${'_'.repeat(15)}z`, `${'%aaa'.repeat(15)}c`], random)
const isNumber = (field: string) => field === 'id' || field.endsWith('Id')

function condition(field: string, random: Random): unknown {
  if (!isNumber(field))
    return pick<unknown>(
      [
        { $like: pattern(random) },
        { $like: pattern(random) },
        { $ne: 'x' },
        'x',
        { $gt: 'a' },
        { $in: many(random, 50, () => 'x') },
        { $null: false },
      ],
      random,
    )
  return pick<unknown>(
    [
      { $gt: 0 },
      { $gt: 0, $lt: 10_000 },
      { $ne: 5 },
      { $in: many(random, 500, () => Math.ceil(random() * 10_000)) },
      { $nin: [1, 2] },
      { $lt: Math.ceil(random() * 10_000) },
    ],
    random,
  )
}

function conditions(resource: string, random: Random, depth: number): Record<string, unknown> {
  const { fields, relations } = MODEL[resource]!
  return entries(random, 3, () => {
    if (depth === 0 || chance(random, 0.4)) {
      const field = pick(fields, random)
      return [field, condition(field, random)]
    }
    const relation = pick(Object.keys(relations), random)
    return [relation, chance(random, 0.1) ? pick([null, { $null: false }], random) : conditions(relations[relation]!, random, depth - 1)]
  })
}

const filter: Make = (resource, random) => ({
  ...chance(random, 0.6) && conditions(resource, random, 3),
  ...chance(random, 0.6) && { $or: many(random, 20, () => conditions(resource, random, 3)) },
})

const countable = (resource: string, random: Random): string[] => {
  const names = Object.keys(MODEL[resource]!.relations).filter(name => TO_MANY.has(name))
  return names.length === 0 ? [] : many(random, 3, () => pick(names, random))
}

function include(resource: string, random: Random, depth = 3): Record<string, unknown> {
  return entries(random, 2, () => {
    const [relation, target] = pick(Object.entries(MODEL[resource]!.relations), random)
    return [relation, {
      ...chance(random, 0.5) && { fields: many(random, 2, () => pick(MODEL[target]!.fields, random)) },
      ...depth > 1 && chance(random, 0.6) && { include: include(target, random, depth - 1) },
      ...chance(random, 0.3) && { counts: countable(target, random) },
      ...TO_MANY.has(relation) && {
        ...chance(random, 0.4) && { limit: pick([1, 5, 20, 50, 100], random) },
        ...chance(random, 0.4) && { sort: [pick(['-', ''], random) + pick(MODEL[target]!.fields, random)] },
        ...chance(random, 0.3) && { filter: filter(target, random) },
      },
    }]
  })
}

const sort: Make = (resource, random) => many(random, 3, () => pick(['-', ''], random) + pick(MODEL[resource]!.fields, random)).join()
const aggregate: Make = (resource, random) => many(random, 8, () => {
  const field = pick(MODEL[resource]!.fields, random)
  return pick(['count', `count(${field})`, `max(${field})`, `min(${field})`, ...isNumber(field) ? [`sum(${field})`] : []], random)
}).join()
const groupBy: Make = (resource, random) => [...new Set(many(random, 3, () => pick(MODEL[resource]!.fields, random)))].join()

const LIST: Readonly<Record<string, Make>> = {
  limit: (_, random) => pick(['1', '20', '100'], random),
  filter,
  include: (resource, random) => include(resource, random),
  counts: (resource, random) => countable(resource, random).join(),
  sort,
  fields: (resource, random) => many(random, 2, () => pick(MODEL[resource]!.fields, random)).join(),
  count: (_, random) => pick(['none', 'exact', 'estimated'], random),
  aggregate,
  page: (_, random) => pick(['1', '2', '90'], random),
  includeDeleted: () => 'true',
}
const GROUPS: Readonly<Record<string, Make>> = { filter, groupBy, aggregate, limit: LIST.limit!, includeDeleted: LIST.includeDeleted! }
const GET: Readonly<Record<string, Make>> = { include: LIST.include!, counts: LIST.counts!, fields: LIST.fields! }

interface Kind {
  readonly method: string
  readonly path: (resource: string, random: Random) => string
  readonly of: (resource: string) => string
  readonly parameters: Readonly<Record<string, Make>>
  readonly body?: Make
}

const id = (random: Random) => 1 + Math.floor(random() * 20)
const ids = (random: Random) => Array.from({ length: 100 }, (_, index) => index + 1).slice(0, pick([1, 10, 50, 100], random))
const OWN = (resource: string) => resource

const KINDS: readonly Kind[] = [
  { method: 'GET', path: OWN, of: OWN, parameters: LIST },
  { method: 'GET', path: OWN, of: OWN, parameters: LIST },
  { method: 'GET', path: OWN, of: OWN, parameters: LIST },
  { method: 'GET', path: resource => `${resource}/aggregate`, of: OWN, parameters: GROUPS },
  { method: 'GET', path: (resource, random) => `${resource}/${id(random)}`, of: OWN, parameters: GET },
  { method: 'GET', path: (_, random) => `posts/${id(random)}/relations/tags`, of: () => 'tags', parameters: LIST },
  { method: 'GET', path: (_, random) => `tags/${id(random)}/relations/posts`, of: () => 'posts', parameters: LIST },
  {
    method: 'DELETE',
    path: resource => `${resource}/bulk`,
    of: OWN,
    parameters: { force: () => 'true' },
    body: (_, random) => ({ ids: ids(random) }),
  },
  { method: 'DELETE', path: (resource, random) => `${resource}/${id(random)}`, of: OWN, parameters: { force: () => 'true' } },
  {
    method: 'PATCH',
    path: () => 'posts/bulk',
    of: () => 'posts',
    parameters: {},
    body: (_, random) => ({ items: ids(random).map(id => ({ id, data: { title: 'x', authorId: 1 } })) }),
  },
  {
    method: 'POST',
    path: () => 'posts/bulk',
    of: () => 'posts',
    parameters: {},
    body: (_, random) => ({ items: ids(random).map(() => ({ title: 'x', body: 'x', authorId: 1 })) }),
  },
  {
    method: 'POST',
    path: (_, random) => `tags/${id(random)}/relations/posts`,
    of: () => 'tags',
    parameters: {},
    body: (_, random) => ({ ids: ids(random) }),
  },
  {
    method: 'PUT',
    path: (_, random) => `tags/${id(random)}/relations/posts`,
    of: () => 'tags',
    parameters: {},
    body: (_, random) => ({ ids: ids(random) }),
  },
]

/** A request, and how to make another one like it. */
export interface Candidate {
  readonly request: SearchedRequest
  /** Makes a request with one part of this one changed. */
  readonly vary: () => Candidate
}

/** Which requests to search. */
export type Searched = 'reads' | 'writes'

export function randomRequest(random: Random, searched: Searched): Candidate {
  const kind = pick(KINDS.filter(({ method }) => (method === 'GET') === (searched === 'reads')), random)
  const resource = pick(Object.keys(MODEL), random)
  const all = Object.entries(kind.parameters)
  const parameters = Object.fromEntries(
    all.filter(() => chance(random, 0.5)).map(([name, make]) => [name, make(kind.of(resource), random)]),
  )
  return toCandidate(
    kind,
    resource,
    { method: kind.method, path: kind.path(resource, random), parameters, ...(kind.body && { body: kind.body(resource, random) }) },
    random,
    searched,
  )
}

function toCandidate(kind: Kind, resource: string, request: SearchedRequest, random: Random, searched: Searched): Candidate {
  return {
    request,
    vary() {
      const names = Object.keys(kind.parameters)
      if (names.length === 0) return randomRequest(random, searched)
      const name = pick(names, random)
      const value = chance(random, 0.25) ? undefined : kind.parameters[name]!(kind.of(resource), random)
      return toCandidate(kind, resource, { ...request, parameters: { ...request.parameters, [name]: value } }, random, searched)
    },
  }
}
