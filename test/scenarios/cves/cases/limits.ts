/** Requests without a limit: depth, number, size, repetition, patterns. */
import { gzipSync } from 'node:zlib'
import { json, type Case } from '../case'

const cause = 'no limit'
const LIMIT = '400 LIMIT_EXCEEDED'
const deep = (levels: number) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels)

export const BOUNDS: readonly Case[] = [
  {
    id: 'CVE-2026-10802', system: 'KeystoneJS', cause,
    what: 'Relations in a cycle could be nested without end.',
    requests: [
      { path: `/posts?include=${json({ author: { include: { posts: { include: { author: { include: { posts: {} } } } } } } })}`, is: LIMIT },
      { path: `/posts?filter=${json({ author: { posts: { author: { posts: { id: 1 } } } } })}`, is: LIMIT },
      { path: '/posts?sort=author.x.y.z.a.b', is: '400 UNKNOWN_FIELD' },
    ],
    control: { path: `/posts?include=${json({ author: { include: { posts: { include: { author: {} } } } } })}`, is: '200' },
  },
  {
    id: 'CVE-2026-35441', system: 'Directus', cause,
    what: 'Aliases repeated an expensive relation many times in one query.',
    requests: [
      // The same relation is read once.
      { path: `/posts?include=${Array.from({ length: 30 }, () => 'author').join()}&limit=1&fields=id`, is: '200', pick: ({ body }) => Object.keys(body.data[0]), equals: ['id', 'author'] },
      { path: `/posts?aggregate=${Array.from({ length: 30 }, () => 'count').join()}`, is: LIMIT },
      { path: `/posts?sort=${Array.from({ length: 30 }, () => 'id').join()}`, is: LIMIT },
    ],
  },
  {
    id: 'GHSA-6q22-g298-grjh', system: 'Directus', cause,
    what: 'One anonymous request started many expensive checks.',
    requests: [
      {
        as: 'anonymous', method: 'POST', path: '/batch', is: LIMIT,
        body: { steps: Array.from({ length: 2_000 }, () => ({ resource: 'posts', operation: 'update', id: 1, data: {} })) },
      },
      { method: 'POST', path: '/mcp', body: Array.from({ length: 2_000 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' })), is: '400 INVALID_BODY' },
      { method: 'POST', path: '/posts/bulk', body: { items: Array.from({ length: 5_000 }, () => ({ title: 'x' })) }, is: LIMIT },
    ],
  },
  {
    id: 'the size of a page', system: 'json-server, Laravel API filters, PostgREST', cause,
    what: 'The client chose how many rows a page has.',
    requests: [
      { path: '/posts?limit=1000000', is: '200', pick: ({ body }) => body.meta.limit, equals: 100 },
      { path: '/posts?limit=-1', is: '400 INVALID_QUERY' },
      { path: '/posts?limit=0', is: '400 INVALID_QUERY' },
      { path: `/posts?include=${json({ author: { limit: -1 } })}`, is: '400 INVALID_QUERY' },
    ],
  },
  {
    id: 'CVE-2024-36128', system: 'Directus', cause,
    what: 'Text in place of a number kept the server busy.',
    requests: ['abc', 'NaN', '1e9', 'Infinity', '0x10', '١'].flatMap(value => [
      { path: `/posts?limit=${value}`, is: '400 INVALID_QUERY' },
      { path: `/posts?page=${value}`, is: '400 INVALID_QUERY' },
    ]),
  },
  {
    id: 'numbers without end', system: 'Prisma, GraphQL servers', cause,
    what: 'A number with many digits was parsed or stored as another one.',
    requests: [
      { path: `/posts?filter[views]=${'9'.repeat(400)}`, is: '400 INVALID_VALUE' },
      { path: '/posts?filter[views]=1e400', is: '400 INVALID_VALUE' },
      { path: `/posts/${'9'.repeat(400)}`, is: '404 NOT_FOUND' },
      { method: 'POST', path: '/posts', raw: '{"title":"x","views":1e400}', is: '400 VALIDATION_FAILED' },
      { path: `/posts/aggregate?groupBy=status&having={"count":{"$gt":${'9'.repeat(400)}}}`, is: '400 INVALID_VALUE' },
    ],
  },
  {
    id: 'lists of values', system: 'Sequelize, Feathers', cause,
    what: 'A list of values or conditions was as long as the body.',
    requests: [
      { path: `/posts?filter=${json({ id: { $in: Array.from({ length: 501 }, (_, id) => id) } })}`, is: LIMIT },
      { path: `/posts?filter=${json({ $or: Array.from({ length: 21 }, (_, id) => ({ id })) })}`, is: LIMIT },
      { path: `/posts?filter=${json({ $and: Array.from({ length: 101 }, (_, id) => ({ id })) })}`, is: LIMIT },
    ],
  },
  {
    id: 'patterns that take long', system: 'Parse Server, Feathers, Strapi', cause,
    what: 'A pattern of the client took time that grows exponentially.',
    requests: [
      { path: `/posts?filter=${json({ title: { $like: '%a'.repeat(40) } })}`, is: LIMIT },
      { path: `/posts?filter=${json({ title: { $like: 'a'.repeat(300) } })}`, is: LIMIT },
      { path: `/posts?filter=${json({ $or: Array.from({ length: 12 }, () => ({ title: { $like: '%a%' } })) })}`, is: LIMIT },
    ],
  },
  {
    id: 'deep JSON', system: 'Parse Server, GraphQL servers', cause,
    what: 'Nested objects overflowed the stack.',
    requests: [
      { path: `/posts?filter=${encodeURIComponent(deep(5_000))}`, is: LIMIT },
      { path: `/posts?filter=${json({ $not: { $not: { $not: { $not: { $not: { $not: { $not: { $not: { $not: { id: 1 } } } } } } } } } })}`, is: LIMIT },
      { path: `/posts?filter[author]${'[posts]'.repeat(2_000)}=1`, is: '400 INVALID_QUERY' },
    ],
  },
  {
    id: 'the size of a body', system: 'h3, Parse Server', cause,
    what: 'A body was read whatever its size.',
    requests: [
      { method: 'POST', path: '/posts', body: { title: 'x'.repeat(3_000_000) }, is: '413 PAYLOAD_TOO_LARGE' },
      { method: 'POST', path: '/posts/1/upload/cover?name=a.txt', raw: 'x'.repeat(200_000), headers: { 'content-type': 'text/plain' }, is: '413 PAYLOAD_TOO_LARGE' },
      // Nothing is decompressed.
      { method: 'POST', path: '/posts', raw: gzipSync('{"title":"x"}'), headers: { 'content-encoding': 'gzip' }, is: '400 INVALID_BODY' },
    ],
  },
]
