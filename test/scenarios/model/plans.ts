/** The requests of a simulated run. Ids name rows of the first state, of the other tenant, and rows that do not exist. */
import fc from 'fast-check'
import type { Answered, Caller, TestServer } from '../../support/server'

/** Each caller with the tenant whose rows it may change; a reader changes none. */
export const CALLERS: readonly (Caller & { readonly tenant: number, readonly writes: boolean })[] = [
  { user: { id: 11, organizationId: 1 }, permissions: ['write'], tenant: 1, writes: true },
  { user: { id: 12, organizationId: 1 }, permissions: ['write'], tenant: 1, writes: true },
  { user: { id: 20, organizationId: 2 }, permissions: ['write'], tenant: 2, writes: true },
  { user: { id: 13, organizationId: 1 }, permissions: [], tenant: 1, writes: false },
]

interface Numbers { readonly post: number, readonly other: number, readonly comment: number, readonly tag: number, readonly text: string }
type Sent = readonly [method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>]

/** What a request of each kind sends. `etag` is that of its post in the first state. */
const KINDS: Readonly<Record<string, (numbers: Numbers, etag: string) => Sent>> = {
  'create post': ({ text }) => ['POST', 'posts', { title: text }],
  'create comment': ({ post, text }) => ['POST', 'comments', { body: text, postId: post }],
  'reply': ({ comment, text }) => ['POST', 'comments', { body: text, parentId: comment }],
  'create once': ({ tag }) => ['POST', 'posts', { title: `once ${tag}` }, { 'idempotency-key': `key ${tag}` }],
  'rename': ({ post, text }) => ['PATCH', `posts/${post}`, { title: text }],
  'rename if it is the same': ({ post, text }, etag) => ['PATCH', `posts/${post}`, { title: text }, { 'if-match': etag }],
  'delete if it is the same': ({ post }, etag) => ['DELETE', `posts/${post}`, undefined, { 'if-match': etag }],
  'move comment': ({ post, comment }) => ['PATCH', `comments/${comment}`, { postId: post }],
  'move reply': ({ other, comment }) => ['PATCH', `comments/${comment}`, { parentId: 11 + other % 2 }],
  'bulk rename': ({ post, other, text }) => ['PATCH', 'posts/bulk', { items: pair(post, other).map(id => ({ id, data: { title: text } })) }],
  'bulk create': ({ post, other, text }) => ['POST', 'comments/bulk', { items: [post, other].map(postId => ({ body: text, postId })) }],
  'delete post': ({ post }) => ['DELETE', `posts/${post}`],
  'delete comment': ({ comment }) => ['DELETE', `comments/${comment}`],
  'bulk delete': ({ post, other }) => ['DELETE', 'posts/bulk', { ids: pair(post, other) }],
  'restore post': ({ post }) => ['POST', `posts/${post}/restore`],
  'restore comment': ({ comment }) => ['POST', `comments/${comment}/restore`],
  'restore group': () => ['POST', 'posts/bulk/restore', { deletionId: 'd4' }],
  'purge post': ({ post }) => ['DELETE', `posts/${post}?force=true`],
  'purge group': () => ['DELETE', 'posts/bulk?force=true', { deletionId: 'd4' }],
  'link': ({ post, tag }) => ['POST', `posts/${post}/relations/tags`, { ids: [tag] }],
  'unlink': ({ post, tag }) => ['DELETE', `posts/${post}/relations/tags`, { ids: [tag] }],
  'replace links': ({ post, tag }) => ['PUT', `posts/${post}/relations/tags`, { ids: [tag, 3] }],
  'batch': ({ post, comment, text }) => ['POST', 'batch', { steps: [
    { operation: 'create', resource: 'posts', data: { title: text }, as: 'new' },
    { operation: 'update', resource: 'comments', id: comment, data: { postId: { $ref: 'new.id' } } },
    { operation: 'delete', resource: 'posts', id: post },
  ] }],
  'list': () => ['GET', 'posts?include=comments,tags&limit=50'],
}

const pair = (a: number, b: number) => a === b ? [a] : [a, b]

export interface Planned extends Numbers {
  readonly kind: string
  readonly who: number
  readonly server: number
}

/** A client without an answer asks the other server. */
const repeat = (request: Planned) => request.kind === 'create once' ? [request, { ...request, server: 1 - request.server }] : [request]

export interface Plan {
  readonly requests: readonly Planned[]
  /** Decides which step runs next. */
  readonly order: Iterator<number>
  /** Decides which statement fails, and how. */
  readonly luck: Iterator<number>
}

export const plans: fc.Arbitrary<Plan> = fc.record({
  requests: fc.array(fc.record({
    kind: fc.constantFrom(...Object.keys(KINDS)),
    who: fc.constantFrom(0, 0, 0, 1, 1, 1, 2, 3),
    server: fc.nat(1),
    post: fc.constantFrom(1, 1, 1, 2, 2, 3, 4, 4, 9, 77),
    other: fc.constantFrom(1, 2, 3, 4, 9),
    comment: fc.constantFrom(11, 11, 12, 21, 41, 411, 42, 91, 99),
    tag: fc.integer({ min: 1, max: 3 }),
    text: fc.constant(''),
  }), { minLength: 2, maxLength: 5 }).map(requests => requests.map((request, index) => ({ ...request, text: `text ${index}` })).flatMap(repeat)),
  order: fc.infiniteStream(fc.nat(59)),
  luck: fc.infiniteStream(fc.nat(199)),
})

/** Sends a request. The entity tags of posts are those of the first state. */
export function send(servers: readonly TestServer[], planned: Planned, etags: ReadonlyMap<number, string>): Promise<Answered> {
  const [method, path, body, headers] = KINDS[planned.kind]!(planned, etags.get(planned.post) ?? '"none"')
  return servers[planned.server % servers.length]!.request(method, `/api/${path}`, { body, headers, caller: CALLERS[planned.who]! })
}
