/** A second entry to the same rows or fields: exports, streams, filters, sort orders, relations and routes of plugins. */
import { ids, json, type Attempt, type Case } from '../case'
import { changesSeenBy } from '../stream'

const cause = 'an entry without the rules of the others'
const UNKNOWN = '400 UNKNOWN_FIELD'

const refused = (...paths: readonly string[]): Attempt[] => paths.map(path => ({ path, is: UNKNOWN }))
const starts = (field: string) => json({ [field]: { $startsWith: 'HASH' } })

/** The same filter finds rows by a field that the caller can read. */
const CONTROL: Attempt = { path: `/people?filter=${json({ name: { $startsWith: 'Ad' } })}`, is: '200', pick: ids, equals: [1] }

export const ENTRIES: readonly Case[] = [
  {
    id: 'CVE-2024-34708', system: 'Directus', cause,
    what: 'An alias for a redacted field returned its value.',
    requests: refused('/people?fields=id,x:password', '/people?fields=id,password as x', '/people?aggregate=max(password)'),
    control: { path: '/people?fields=id,name&limit=1', is: '200', pick: ({ body }) => body.data, equals: [{ id: 1, name: 'Ada' }] },
  },
  {
    id: 'CVE-2025-30352', system: 'Directus', cause,
    what: 'A text search also matched fields without permission.',
    requests: refused(`/people?filter=${json({ $or: [{ name: { $contains: 'HASH' } }, { password: { $contains: 'HASH' } }] })}`),
    control: CONTROL,
  },
  {
    id: 'CVE-2023-27481', system: 'Directus', cause,
    what: 'An export with a prefix filter gave password hashes letter by letter.',
    requests: [
      ...refused(`/people/export?format=csv&filter=${starts('password')}`, '/people/export?format=ndjson&fields=password'),
      { path: '/people/export?format=csv', is: '200', pick: ({ text }) => text.split('\r\n')[0], equals: 'id,organizationId,name,email,role' },
    ],
    control: { as: 'admin', path: '/people/export?format=csv', is: '200', pick: ({ text }) => text.includes('918273'), equals: true },
  },
  {
    id: 'CVE-2023-38503', system: 'Directus', cause,
    what: 'Subscriptions sent events of rows that the permission filter hides.',
    play: world => changesSeenBy(world, 'ada', 'posts', [
      ['eve', 'PATCH', '/posts/4'], ['admin', 'PATCH', '/posts/3'], ['admin', 'PATCH', '/posts/1'],
    ]),
    equals: [1],
    writes: true,
  },
  {
    id: 'CVE-2026-30947', system: 'Parse Server', cause,
    what: 'Live queries did not check the permissions of the class.',
    requests: [
      { path: '/_live?resources=vaults', is: '403 FORBIDDEN' },
      { as: 'anonymous', path: '/_live?resources=vaults', is: '401 UNAUTHENTICATED' },
      { path: '/_live?resources=posts,vaults', is: '403 FORBIDDEN' },
    ],
    control: { path: '/_live?resources=posts', is: '200' },
  },
  {
    id: 'CVE-2026-31872', system: 'Parse Server', cause,
    what: 'A path with a dot into a protected field passed the check of filters and sort orders.',
    requests: [
      ...refused(`/people?filter=${starts('password.a')}`, '/people?filter[password.a]=1', `/posts?filter=${json({ 'meta.a': 1 })}`),
      ...refused('/people?sort=password.a'),
    ],
  },
  {
    id: 'CVE-2023-30843', system: 'Payload', cause,
    what: 'Filters on hidden fields disclosed their values by trial.',
    requests: refused(
      `/people?filter=${starts('password')}`, '/people?filter[salary][$gte]=900000', '/people?filter[salary][$null]=false',
      `/people?filter=${json({ $not: { salary: { $lt: 900_000 } } })}`, '/people/aggregate?filter[salary]=918273',
    ),
    control: { as: 'admin', path: '/people?filter[salary][$gte]=900000', is: '200', pick: ids, equals: [2] },
  },
  {
    id: 'CVE-2023-34235', system: 'Strapi', cause,
    what: 'The internal prefix of a table before the name of a private field passed the check.',
    requests: refused('/posts?filter[author][t1.password][$startsWith]=HASH', '/people?filter[people.password]=x', '/people?filter["people"."password"]=x'),
    control: { path: '/posts?filter[author][name]=Bob', is: '200', pick: ids, equals: [2] },
  },
  {
    id: 'CVE-2023-36472', system: 'Strapi', cause,
    what: 'Private fields of related rows were available to filters.',
    requests: [
      ...refused(`/posts?filter=${json({ author: { password: { $startsWith: 'H' } } })}`, '/posts?filter[author][salary]=918273'),
      { path: `/posts?include=${json({ author: { fields: ['password'] } })}`, is: UNKNOWN },
    ],
    control: { as: 'admin', path: '/posts?filter[author][salary]=918273', is: '200', pick: ids, equals: [2, 3] },
  },
  {
    id: 'CVE-2026-33326', system: 'KeystoneJS', cause,
    what: 'A cursor over a field that cannot be filtered did the same as a filter.',
    requests: [
      ...refused('/people?cursor=&sort=salary', '/people?cursor=&sort=password'),
      { path: `/people?cursor=${btoa(JSON.stringify({ salary: 900_000 }))}`, is: '400 INVALID_CURSOR' },
      { path: `/people?cursor=${json({ id: 1 })}&sort=name`, is: '400 INVALID_CURSOR' },
    ],
    control: { path: '/people?cursor=&sort=name', is: '200', pick: ids, equals: [1, 2] },
  },
  {
    id: 'CVE-2026-39397', system: 'a plugin of Payload', cause,
    what: 'The routes of a plugin ran with the rights of the server.',
    requests: [
      { path: '/vaults/export?format=csv', is: '403 FORBIDDEN' },
      { method: 'POST', path: '/vaults/import', raw: 'id,code\r\n2,x\r\n', headers: { 'content-type': 'text/csv' }, is: '403 FORBIDDEN' },
      { method: 'POST', path: '/batch', body: { steps: [{ resource: 'vaults', operation: 'delete', id: 1 }] }, is: '403 BULK_FAILED' },
      { path: '/posts/3/files/cover', is: '404 NOT_FOUND' },
      { as: 'anonymous', path: '/vaults/export?format=json', is: '401 UNAUTHENTICATED' },
    ],
  },
  {
    id: 'CVE-2026-35412', system: 'Directus', cause,
    what: 'Resumable uploads replaced files of rows that the caller cannot change.',
    requests: [4, 3, 5].map(id => ({
      method: 'POST', path: `/posts/${id}/upload/cover?name=a.txt`, raw: 'text', headers: { 'content-type': 'text/plain' }, is: '404 NOT_FOUND',
    })),
  },
  {
    id: 'aggregates of a refused field', system: 'PostgREST, Hasura, Directus', cause,
    what: 'The largest value or the sum of a column is a second way to read it.',
    requests: refused(
      '/people/aggregate?aggregate=max(salary)', '/people?aggregate=sum(salary)', '/people/aggregate?groupBy=salary', '/people?groupBy=password',
      '/people/aggregate?aggregate=count(salary)',
    ),
    control: { as: 'admin', path: '/people/aggregate?aggregate=max(salary)', is: '200', pick: ({ body }) => body.data[0].max_salary, equals: 918_273 },
  },
  {
    id: 'aggregates of hidden rows', system: 'PostgREST, Hasura, Directus', cause,
    what: 'Counts, sums and totals contained rows that the caller cannot see.',
    requests: [
      {
        path: '/posts/aggregate?aggregate=count,sum(views),max(views)', is: '200', pick: ({ body }) => body.data,
        equals: [{ count: 2, sum_views: 12, max_views: 7 }],
      },
      { path: '/posts?limit=1', is: '200', pick: ({ body }) => body.meta.total, equals: 2 },
      { path: '/posts/aggregate?groupBy=status', is: '200', pick: ({ body }) => body.data, equals: [{ group: { status: 'open' }, count: 2 }] },
    ],
    control: { as: 'admin', path: '/posts/aggregate?aggregate=sum(views)', is: '200', pick: ({ body }) => body.data[0].sum_views, equals: 640_076 },
  },
  {
    id: 'order by a refused field', system: 'Directus, Strapi, Ransack', cause,
    what: 'The order of the rows disclosed the order of hidden values.',
    requests: refused('/people?sort=salary', '/people?sort=-password', '/posts?sort=author.salary', '/people?sort=name,salary'),
    control: { as: 'admin', path: '/people?sort=-salary', is: '200', pick: ids, equals: [2, 1] },
  },
  {
    id: 'relations to closed models', system: 'Ransack, Strapi, Laravel API filters', cause,
    what: 'Filters followed associations that the app did not mean to publish.',
    requests: [
      ...refused(`/people?filter=${json({ vaults: { code: { $startsWith: 'V' } } })}`),
      { path: '/people?include=apiTokens', is: '400 UNKNOWN_RELATION' },
      { path: `/people?filter=${json({ posts: { title: { $startsWith: 'SEAL' } } })}`, is: '200', pick: ids, equals: [] },
    ],
    control: { path: `/people?filter=${json({ posts: { title: 'first' } })}`, is: '200', pick: ids, equals: [1] },
  },
  {
    id: 'counts of hidden related rows', system: 'GraphQL servers', cause,
    what: 'The number of related rows contained hidden ones.',
    requests: [
      {
        path: '/people?counts=posts&fields=id', is: '200', pick: ({ body }) => body.data.map((row: { _count: object }) => row._count),
        equals: [{ posts: 1 }, { posts: 1 }],
      },
      { path: `/people?filter=${json({ posts: { $count: { $gte: 2 } } })}`, is: '200', pick: ids, equals: [] },
    ],
    control: { as: 'admin', path: `/people?filter=${json({ posts: { $count: { $gte: 2 } } })}`, is: '200', pick: ids, equals: [2] },
  },
  {
    id: 'the trash as a parameter', system: 'Laravel API filters', cause,
    what: 'A parameter of the list showed deleted rows to every caller.',
    requests: [
      { path: '/posts?includeDeleted=true', is: '403 FORBIDDEN' },
      { path: '/posts/5?includeDeleted=true', is: '403 FORBIDDEN' },
      { path: '/posts/export?format=csv&onlyDeleted=true', is: '403 FORBIDDEN' },
      { path: '/posts?filter[deletedAt][$null]=false', is: '200', pick: ids, equals: [] },
    ],
    control: { as: 'admin', path: '/posts?onlyDeleted=true', is: '200', pick: ids, equals: [5] },
  },
]
