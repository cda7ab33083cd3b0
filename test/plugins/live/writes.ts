/** Random writes to the library: one request each. */
import fc from 'fast-check'
import type { World } from '../../scenarios/write/world'
import { ADMIN, type CustomWrite } from './library'

type Write = readonly [method: string, path: string, body?: unknown]

const id = fc.integer({ min: 1, max: 6 })
const ids = fc.uniqueArray(id, { minLength: 1, maxLength: 3 })
const word = fc.constantFrom('x', 'y', null)
const tag = fc.constantFrom('a', 'b', 'c', 'd')
const someTags = fc.uniqueArray(tag, { minLength: 1, maxLength: 3 })
const slug = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const person = fc.integer({ min: 1, max: 3 })

const postChange = fc.record({
  title: word, note: word, secret: word, team: fc.constantFrom(1, 2), published: fc.boolean(),
}, { requiredKeys: [] })
const newPost = fc.tuple(slug, postChange).map(([slug, change]) => ({ slug, team: 1, ...change }))

const ofPosts: readonly fc.Arbitrary<Write>[] = [
  newPost.map((post): Write => ['POST', 'posts', post]),
  fc.tuple(id, postChange).map(([id, change]): Write => ['PATCH', `posts/${id}`, change]),
  fc.tuple(id, postChange).map(([id, change]): Write => ['PATCH', `posts/${id}`, change]),
  id.map((id): Write => ['DELETE', `posts/${id}`]),
  id.map((id): Write => ['DELETE', `posts/${id}?force=true`]),
  id.map((id): Write => ['POST', `posts/${id}/restore`]),
  fc.array(newPost, { minLength: 1, maxLength: 3 }).map((items): Write => ['POST', 'posts/bulk', { items }]),
  fc.tuple(ids, postChange).map(([ids, data]): Write => ['PATCH', 'posts/bulk', { items: ids.map(id => ({ id, data })) }]),
  fc.tuple(ids, fc.boolean()).map(([ids, force]): Write => ['DELETE', `posts/bulk${force ? '?force=true' : ''}`, { ids }]),
  ids.map((ids): Write => ['POST', 'posts/bulk/restore', { ids }]),
  newPost.map((post): Write => ['POST', 'posts?onConflict=slug', post]),
  fc.array(newPost, { minLength: 1, maxLength: 3 }).map((items): Write => ['POST', 'posts/bulk?onConflict=slug', { items }]),
  fc.tuple(newPost, word, id).map(([post, text, comment]): Write => ['POST', 'posts', {
    ...post, comments: { create: [{ text }], ...comment < 3 && { update: [{ id: comment, data: { text } }] } },
  }]),
  fc.tuple(id, id, word).map(([id, comment, text]): Write => ['PATCH', `posts/${id}`, {
    comments: text === null ? { delete: [comment] } : { create: [{ text }], update: [{ id: comment, data: { text } }] },
  }]),
  fc.tuple(id, fc.constantFrom('POST', 'DELETE', 'PUT'), someTags)
    .map(([id, method, ids]): Write => [method, `posts/${id}/relations/tags`, { ids }]),
  fc.tuple(id, fc.constantFrom<CustomWrite['column']>('title', 'note', 'secret', 'team', 'id'), fc.constantFrom(1, 2))
    .map(([id, column, value]): Write => ['GET', `custom?write=${encodeURIComponent(JSON.stringify({ id, column, value }))}`]),
  fc.tuple(slug, fc.constantFrom(1, 2), word, fc.boolean()).map(([slug, team, title, isNew]): Write =>
    ['POST', `posts/import?mode=${isNew ? 'create' : 'upsert&key=slug'}`, `${JSON.stringify({ slug, team, title })}\n`]),
]

const ofOthers: readonly fc.Arbitrary<Write>[] = [
  fc.tuple(fc.option(id), word).map(([postId, text]): Write => ['POST', 'comments', { postId, text }]),
  fc.tuple(id, fc.record({ postId: fc.option(id), text: word }, { requiredKeys: [] }))
    .map(([id, change]): Write => ['PATCH', `comments/${id}`, change]),
  fc.tuple(id, fc.boolean()).map(([id, force]): Write => ['DELETE', `comments/${id}${force ? '?force=true' : ''}`]),
  id.map((id): Write => ['POST', `comments/${id}/restore`]),
  fc.tuple(fc.option(id), fc.constantFrom(1, 2)).map(([commentId, stars]): Write => ['POST', 'likes', { commentId, stars }]),
  fc.tuple(id, fc.record({ commentId: fc.option(id), stars: fc.constantFrom(1, 2) }, { requiredKeys: [] }))
    .map(([id, change]): Write => ['PATCH', `likes/${id}`, change]),
  fc.tuple(tag, word, fc.boolean()).map(([id, name, hidden]): Write => ['POST', 'tags', { id, name, hidden }]),
  fc.tuple(tag, word, fc.boolean()).map(([id, name, hidden]): Write => ['PATCH', `tags/${id}`, { name, hidden }]),
  tag.map((id): Write => ['DELETE', `tags/${id}`]),
  fc.tuple(tag, fc.constantFrom('POST', 'DELETE', 'PUT'), ids).map(([tag, method, ids]): Write => [method, `tags/${tag}/relations/posts`, { ids }]),
  fc.tuple(person, fc.constantFrom(1, 2), word).map(([id, team, name]): Write => ['PATCH', `people/${id}`, { team, name }]),
  fc.constantFrom(1, 2).map((team): Write => ['POST', 'people', { name: 'New', team }]),
  person.map((id): Write => ['DELETE', `people/${id}`]),
  fc.tuple(id, person, fc.boolean()).map(([postId, personId, open]): Write => ['POST', 'reviews', { postId, personId, open }]),
  fc.tuple(id, fc.record({ postId: id, personId: person, open: fc.boolean(), grade: fc.constantFrom(1, 2) }, { requiredKeys: [] }))
    .map(([id, change]): Write => ['PATCH', `reviews/${id}`, change]),
  id.map((id): Write => ['DELETE', `reviews/${id}`]),
  fc.tuple(fc.integer({ min: 2, max: 3 }), word).map(([owner, text]): Write => ['POST', 'drafts', { owner, text }]),
  fc.tuple(id, fc.record({ owner: fc.integer({ min: 2, max: 3 }), text: word }, { requiredKeys: [] }))
    .map(([id, change]): Write => ['PATCH', `drafts/${id}`, change]),
  id.map((id): Write => ['DELETE', `drafts/${id}`]),
]

const step = fc.oneof(
  newPost.map(data => ({ resource: 'posts', operation: 'create', data, as: 'p' })),
  fc.tuple(id, postChange).map(([id, data]) => ({ resource: 'posts', operation: 'update', id, data })),
  id.map(id => ({ resource: 'posts', operation: 'delete', id })),
  id.map(id => ({ resource: 'posts', operation: 'restore', id })),
  fc.tuple(fc.option(id), word).map(([postId, text]) => ({ resource: 'comments', operation: 'create', data: { postId, text } })),
  id.map(id => ({ resource: 'comments', operation: 'delete', id })),
  fc.tuple(tag, fc.boolean()).map(([id, hidden]) => ({ resource: 'tags', operation: 'update', id, data: { hidden } })),
)

export const write: fc.Arbitrary<Write> = fc.oneof(
  { weight: 6, arbitrary: fc.oneof(...ofPosts) },
  { weight: 5, arbitrary: fc.oneof(...ofOthers) },
  { weight: 1, arbitrary: fc.array(step, { minLength: 1, maxLength: 4 }).map((steps): Write => ['POST', 'batch', { steps }]) },
)

export async function send(world: World, [method, path, body]: Write): Promise<number> {
  const isFile = typeof body === 'string'
  const { status } = await world.request(method, `/api/${path}`, {
    caller: ADMIN, ...isFile ? { raw: body, headers: { 'content-type': 'application/x-ndjson' } } : { body },
  })
  return status
}
