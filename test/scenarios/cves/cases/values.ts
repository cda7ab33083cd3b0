/** Values and names of a request that became SQL, operators, patterns, templates, formulas or headers. */
import { ids, json, type Case } from '../case'

const cause = 'a value becomes code'
const UNKNOWN = '400 UNKNOWN_FIELD'
const INVALID = '400 INVALID_VALUE'
const none = { is: '200', pick: ids, equals: [] } as const

export const VALUES: readonly Case[] = [
  {
    id: 'CVE-2019-10748', system: 'Sequelize', cause,
    what: 'The keys of a JSON path were part of the SQL.',
    requests: [
      { path: `/posts?filter=${json({ meta: { 'a\') or 1=1 --': 1 } })}`, is: '400 INVALID_OPERATOR' },
      { path: `/posts?filter=${json({ 'meta->>\'a\'': 1 })}`, is: UNKNOWN },
      { path: `/posts?${encodeURIComponent('filter[meta][a\')) or 1=1--]')}=1`, is: '400 INVALID_OPERATOR' },
    ],
  },
  {
    id: 'CVE-2023-22578', system: 'Sequelize', cause,
    what: 'An attribute in parentheses was raw SQL.',
    requests: [
      { path: '/people?fields=(select password from people)', is: UNKNOWN },
      { path: '/people?fields=id,*', is: UNKNOWN },
      { path: '/people?aggregate=max((select password from people))', is: '400 INVALID_OPERATOR' },
    ],
  },
  {
    id: 'CVE-2023-25813', system: 'Sequelize', cause,
    what: 'A value that looks like a placeholder was replaced by another value.',
    requests: [':name', '?', '$1', '@p1', '%s', '{0}'].map(value => ({ path: `/people?filter=${json({ name: value, email: 'x\' or 1=1 --' })}`, ...none })),
    control: { path: `/people?filter=${json({ name: 'Ada', email: 'ada@one' })}`, is: '200', pick: ids, equals: [1] },
  },
  {
    id: 'CVE-2016-20018', system: 'Knex', cause,
    what: 'An object or a list as a value changed the comparison.',
    requests: [
      { path: `/people?filter=${json({ id: { $eq: { id: 1 } } })}`, is: INVALID },
      { path: `/people?filter=${json({ name: { $eq: [0] } })}`, is: INVALID },
      { path: `/people?filter=${json({ name: [0] })}`, is: INVALID },
      { path: `/people?filter=${json({ name: [['Ada']] })}`, is: INVALID },
      { path: `/people?filter=${json({ name: true })}`, is: INVALID },
    ],
    control: { path: `/people?filter=${json({ name: ['Ada'] })}`, is: '200', pick: ids, equals: [1] },
  },
  {
    id: 'CVE-2022-33171', system: 'TypeORM', cause,
    what: 'An object in place of an id was a condition of the query.',
    requests: [
      { method: 'DELETE', path: '/posts/bulk', body: { ids: [{ id: { $gt: 0 } }] }, is: '400 INVALID_BODY' },
      { method: 'DELETE', path: '/posts/bulk', body: { ids: { $gt: 0 } }, is: '400 INVALID_BODY' },
      { method: 'PATCH', path: '/posts/bulk', body: { items: [{ id: { $gt: 0 }, data: { title: 'x' } }] }, is: '400 INVALID_BODY' },
      { path: '/posts/[object Object]', is: '404 NOT_FOUND' },
      { path: '/posts/1 or 1=1', is: '404 NOT_FOUND' },
    ],
  },
  {
    id: 'CVE-2026-39356', system: 'Drizzle ORM', cause,
    what: 'A quote in an identifier ended it.',
    requests: [
      { path: `/people?sort=${encodeURIComponent('id" desc; drop table people; --')}`, is: UNKNOWN },
      { path: `/people?groupBy=${encodeURIComponent('name" from people; --')}`, is: UNKNOWN },
      { method: 'POST', path: '/posts', body: { 'title': 'x', 'views") values (1); --': 1 }, is: '400 VALIDATION_FAILED' },
      { method: 'POST', path: `/people?onConflict=${encodeURIComponent('email" do nothing; --')}`, body: { name: 'x' }, is: UNKNOWN },
    ],
  },
  {
    id: 'CVE-2022-28346', system: 'Django', cause,
    what: 'The alias of an aggregate was part of the SQL.',
    requests: [
      { path: `/people?aggregate=${encodeURIComponent('count(id) as "x", password')}`, is: '400 INVALID_OPERATOR' },
      { path: `/people/aggregate?groupBy=name&having=${json({ 'count"; --': { $gt: 0 } })}`, is: UNKNOWN },
      { path: `/people/aggregate?groupBy=name&sort=${encodeURIComponent('count; --')}`, is: UNKNOWN },
    ],
  },
  {
    id: 'CVE-2026-1312', system: 'Django', cause,
    what: 'A sort order with a point in its alias was part of the SQL.',
    requests: [
      { path: `/posts?sort=${encodeURIComponent('author.name) --')}`, is: UNKNOWN },
      { path: `/posts?sort=${encodeURIComponent('x.(select 1)')}`, is: UNKNOWN },
      { path: '/posts?sort=author._count.id', is: UNKNOWN },
    ],
    control: { path: '/posts?sort=-author.name', is: '200', pick: ids, equals: [2, 1] },
  },
  {
    id: 'CVE-2022-35942', system: 'LoopBack', cause,
    what: 'The value of `contains` was part of the SQL.',
    requests: ['\') or 1=1 --', '" or ""="', '\\\' or 1=1 --', '{1,2}'].map(value => ({
      path: `/posts?filter=${json({ title: { $contains: value } })}`, ...none,
    })),
    control: { path: `/posts?filter=${json({ title: { $contains: 'eco' } })}`, is: '200', pick: ids, equals: [2] },
  },
  {
    id: 'CVE-2022-2422', system: 'Feathers', cause,
    what: 'Unknown operators of the query reached the SQL generator.',
    requests: ['$where', '$raw', '$col', '$literal', '$regex', '$expr', '$function', '$ne$', 'x'].map(operator => ({
      path: `/posts?filter=${encodeURIComponent(`{"title":{"$eq":"x","${operator}":"1=1"}}`)}`, is: '400 INVALID_OPERATOR',
    })),
  },
  {
    id: 'wildcards of LIKE', system: 'Prisma, Laravel API filters', cause,
    what: 'A percent sign in a literal search matched every row.',
    requests: ['%', '_', '%i%', '\\%'].flatMap(value => ['$startsWith', '$endsWith', '$contains', '$eqi'].map(operator => ({
      path: `/posts?filter=${json({ title: { [operator]: value } })}`, ...none,
    }))),
  },
  {
    id: 'CVE-2023-22621', system: 'Strapi', cause,
    what: 'Stored text was evaluated as a template.',
    requests: [
      {
        method: 'POST', path: '/posts', body: { title: '<%= 7*7 %>{{7*7}}${7*7}#{7*7}' }, is: '201',
        pick: ({ body }) => body.title, equals: '<%= 7*7 %>{{7*7}}${7*7}#{7*7}',
      },
      { path: '/posts?sort=-id&limit=1', is: '200', pick: ({ body }) => body.data[0].title, equals: '<%= 7*7 %>{{7*7}}${7*7}#{7*7}' },
    ],
    writes: true,
  },
  {
    id: 'CSV formulas', system: 'NocoDB, Directus, Django', cause,
    what: 'A cell of an export ran as a formula in a spreadsheet.',
    requests: [
      { method: 'POST', path: '/people', body: { name: '=HYPERLINK("https://evil.example","x")', email: '@SUM(1)' }, is: '201' },
      { method: 'POST', path: '/people', body: { name: '\t=1+1', email: '＝1+1' }, is: '201' },
      {
        path: '/people/export?format=csv&fields=name,email&filter[id][$gt]=3', is: '200', pick: ({ text }) => text,
        equals: 'name,email\r\n"\'=HYPERLINK(""https://evil.example"",""x"")",\'@SUM(1)\r\n\'\t=1+1,\'＝1+1\r\n',
      },
    ],
    writes: true,
  },
  {
    id: 'CVE-2026-28357', system: 'NocoDB', cause,
    what: 'Values of records were inserted into the page as HTML.',
    tested: ['test/e2e/admin/attack.test.ts', 'is shown as text on every page, and is no link that runs code'],
  },
  {
    id: 'line breaks in headers', system: 'h3, file servers', cause,
    what: 'A file name with a line break added a header to the response.',
    async play(world) {
      const upload = await world.send({
        method: 'POST', path: '/posts/1/upload/cover?name=a%0D%0ASet-Cookie:%20x=1%22;.txt', raw: 'text', headers: { 'content-type': 'text/plain' },
      })
      const { status, headers } = await world.send({ path: '/posts/1/files/cover' })
      return [upload.status, status, headers.get('set-cookie'), /[\r\n]/.test(headers.get('content-disposition')!)]
    },
    equals: [200, 200, null, false],
    writes: true,
  },
]
