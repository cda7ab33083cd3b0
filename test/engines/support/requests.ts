/** Requests that two callers send at the same time. */
import type { TestRequest } from './scene'

/** They write the same rows: post 1 and its dependents, posts 4 and 5 in the trash, and the links of post 1. */
export const REQUESTS: TestRequest[] = [
  ['DELETE', 'posts/1'],
  ['DELETE', 'posts/1?force=true'],
  ['DELETE', 'posts/bulk', { ids: [2, 1] }],
  ['DELETE', 'comments/11'],
  ['DELETE', 'comments/11?force=true'],
  ['PATCH', 'posts/1', { title: 'new' }],
  ['PATCH', 'comments/11', { postId: 2 }],
  ['PATCH', 'comments/21', { postId: 1 }],
  ['PATCH', 'comments/111', { parentId: 21 }],
  ['POST', 'comments', { body: 'late', postId: 1 }],
  ['POST', 'comments', { body: 'reply', parentId: 111 }],
  ['POST', 'posts/4/restore'],
  ['POST', 'posts/bulk/restore', { deletionId: 'd4' }],
  ['POST', 'comments/41/restore'],
  ['DELETE', 'posts/bulk?force=true', { deletionId: 'd4' }],
  ['PUT', 'posts/1/relations/tags', { ids: [3] }],
  ['POST', 'posts/1/relations/tags', { ids: [2, 4] }],
  ['PUT', 'tags/3/relations/posts', { ids: [1, 2] }],
]

/** The request names a whole group of deleted rows. If the group changed after the check, the request writes nothing. */
export const mayBeTooLate = ([,, body]: TestRequest) => typeof body === 'object' && body !== null && 'deletionId' in body
