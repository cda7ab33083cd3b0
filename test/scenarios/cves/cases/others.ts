/** Defaults, paths, requests of the server, files, shared state, prototypes, other sites, and what errors disclose. */
import { connectMcp } from '../../../support/mcp'
import { ids, json, outcome, type Attempt, type Case } from '../case'
import { HOST } from '../world'

const CLOSED_ROUTES: readonly (readonly [method: string, path: string, body?: object])[] = [
  ['GET', '/vaults'], ['GET', '/vaults/1'], ['GET', '/vaults/aggregate?aggregate=count'], ['POST', '/vaults', { code: 'x' }], ['PATCH', '/vaults/1', { code: 'x' }],
  ['DELETE', '/vaults/1'], ['POST', '/vaults/bulk', { items: [{ code: 'x' }] }], ['GET', '/vaults/export?format=csv'],
]
const CLOSED = CLOSED_ROUTES.map(([method, path, body]): Attempt => ({ method, path, body, is: '403 FORBIDDEN' }))

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex')
const upload = (content: string | Uint8Array, type: string, name: string, is: string): Attempt => ({
  method: 'POST', path: `/posts/1/upload/cover?name=${encodeURIComponent(name)}`, raw: content, headers: { 'content-type': type }, is,
})
const webhook = (url: string): Attempt => ({ method: 'POST', path: '/webhooks', body: { url, events: ['posts.*'] }, is: '400 VALIDATION_FAILED' })
const foreign = { origin: 'https://evil.example', host: 'localhost' }

export const OTHERS: readonly Case[] = [
  {
    id: 'a model without rules', system: 'PocketBase, Supabase, json-server', cause: 'open by default',
    what: 'Without a rule, every caller can read and write.',
    requests: [
      ...CLOSED, ...CLOSED.map(attempt => ({ ...attempt, as: 'admin' as const })),
      ...CLOSED.map(attempt => ({ ...attempt, as: 'anonymous' as const, is: '401 UNAUTHENTICATED' })),
    ],
  },
  {
    id: 'CVE-2023-40027', system: 'KeystoneJS', cause: 'open by default',
    what: 'The description of all models was public.',
    requests: [
      { as: 'anonymous', path: '/_schema', is: '200', pick: ({ text }) => /vaults|password|salary|apiTokens/.test(text), equals: false },
      { path: '/_schema', is: '200', pick: ({ text }) => /vaults|password|salary/.test(text), equals: false },
      { as: 'anonymous', path: '/_m2m/junctions', is: '401 UNAUTHENTICATED' },
      { as: 'anonymous', path: '/_openapi.json', is: '200', pick: ({ text }) => /password|salary/.test(text), equals: false },
    ],
    control: { as: 'admin', path: '/_schema', is: '200', pick: ({ text }) => /salary/.test(text), equals: true },
  },
  {
    id: 'CVE-2023-34093', system: 'Strapi', cause: 'open by default',
    what: 'An extension of the model dropped its list of private attributes.',
    requests: [
      { path: '/people/1', is: '200', pick: ({ body }) => Object.keys(body).sort(), equals: ['email', 'id', 'name', 'organizationId', 'role'] },
      { path: '/posts/1?include=author', is: '200', pick: ({ body }) => Object.keys(body.author).sort(), equals: ['email', 'id', 'name', 'organizationId', 'role'] },
    ],
  },
  {
    id: 'CVE-2024-27296', system: 'Directus', cause: 'open by default',
    what: 'The version of the server was in responses for everyone.',
    requests: ['/people', '/_schema', '/vaults'].map((path): Attempt => ({
      as: 'anonymous', path, is: path === '/_schema' ? '200' : path === '/vaults' ? '401 UNAUTHENTICATED' : '401 TENANT_REQUIRED',
      pick: ({ headers, text }) => [headers.get('server'), headers.get('x-powered-by'), /"version"/.test(text)], equals: [null, null, false],
    })),
  },
  {
    id: 'GHSA-w48q-cv73-mx4w', system: 'MCP TypeScript SDK', cause: 'open by default',
    what: 'A page of another site could use the tools of a server on the same machine.',
    requests: [
      { method: 'POST', path: '/mcp', body: { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers: foreign, is: '403 CROSS_SITE' },
      { method: 'POST', path: '/mcp', body: { jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers: { 'sec-fetch-site': 'cross-site' }, is: '403 CROSS_SITE' },
    ],
    control: { method: 'POST', path: '/mcp', body: { jsonrpc: '2.0', id: 1, method: 'tools/list' }, is: '200' },
  },
  {
    id: 'CVE-2026-44373', system: 'Nitro', cause: 'two readings of one path',
    what: 'An encoded slash led out of the permitted part of the path.',
    requests: ['/posts/..%2fvaults%2f1', '/posts/..%2Fvaults', '/posts/%2e%2e%2fvaults', '/posts/1%2f..%2f..%2fvaults', '/posts%2f..%2fvaults'].map(path =>
      ({ path, is: path.startsWith('/posts%') ? '404' : '404 NOT_FOUND' })),
  },
  {
    id: 'GHSA-x732-6j76-qmhm', system: 'better-auth', cause: 'two readings of one path',
    what: 'A second slash passed the check of disabled paths.',
    requests: ['//api/vaults', '/api//vaults', '//api//vaults//1', '/api//posts/export', '/api/posts//export', '/api/vaults/', '/api/vaults//'].map(path =>
      ({ path: `${HOST}${path}`, is: path.startsWith('/api/v') ? '403 FORBIDDEN' : '404' })),
  },
  {
    id: 'CVE-2023-38507', system: 'Strapi', cause: 'two readings of one path',
    what: 'Capital letters or a slash at the end had a rate limit of their own.',
    options: { limit: 3 },
    async play(world) {
      const answers = []
      for (const path of ['/posts', '/posts/', '/%70osts', '/posts?x=1', '/posts/?x=2'])
        answers.push(outcome(await world.send({ path })))
      return [answers, outcome(await world.send({ path: '/POSTS' }))]
    },
    equals: [['200', '200', '200', '429 RATE_LIMITED', '429 RATE_LIMITED'], '404'],
  },
  {
    id: 'another method by header', system: 'Express, Rails, Laravel', cause: 'two readings of one path',
    what: 'A header or a parameter replaced the method after the check.',
    requests: [
      {
        path: '/posts?_method=DELETE', headers: { 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' }, is: '200', pick: ids, equals: [1, 2],
      },
      { path: '/posts/1?_method=DELETE', headers: { 'x-http-method-override': 'DELETE' }, is: '200' },
      { method: 'HEAD', path: '/vaults', is: '403' },
      { method: 'HEAD', path: '/posts/4', is: '404' },
      { method: 'PUT', path: '/posts/1', body: { title: 'x' }, is: '405 METHOD_NOT_ALLOWED' },
    ],
  },
  {
    id: 'names with an end', system: 'Rails, json-server', cause: 'two readings of one path',
    what: 'An extension, a zero byte or a dot changed what the path names.',
    requests: ['/posts/1%00', '/posts/1.json', '/posts/1.0', '/posts/01', '/posts/+1', '/posts/1%20', '/posts/%31%0a'].map(path => ({ path, is: '404 NOT_FOUND' })),
    control: { path: '/posts/%31', is: '200' },
  },
  {
    id: 'CVE-2026-35409', system: 'Directus', cause: 'requests of the server',
    what: 'A private address in the form of an IPv6 address passed the check.',
    requests: [
      'https://[::ffff:127.0.0.1]/', 'https://[::ffff:7f00:1]/', 'https://[::1]/', 'https://[64:ff9b::7f00:1]/', 'https://[fe80::1]/', 'https://[fd00::1]/',
    ].map(webhook),
    control: { method: 'POST', path: '/webhooks', body: { url: 'https://example.com/hook', events: ['posts.*'] }, is: '201' },
  },
  {
    id: 'CVE-2023-27159', system: 'Appwrite', cause: 'requests of the server',
    what: 'The server requested any address that the client named.',
    requests: [
      'http://169.254.169.254/latest/', 'https://169.254.169.254/', 'https://127.1/', 'https://2130706433/', 'https://0x7f.1/', 'https://0/', 'https://localhost/',
      'https://app.localhost./', 'https://db.internal/', 'file:///etc/passwd', 'gopher://example.com/', 'https://user:secret@example.com/',
    ].map(webhook),
  },
  {
    id: 'CVE-2023-26492', system: 'Directus', cause: 'requests of the server',
    what: 'The name was resolved again after the check.',
    tested: ['test/plugins/webhooks/addresses.test.ts', 'is resolved once for each request, and the request goes to the address that was checked'],
  },
  {
    id: 'redirects', system: 'NocoDB, Hasura', cause: 'requests of the server',
    what: 'A redirect led to a private address.',
    tested: ['test/plugins/webhooks/addresses.test.ts', 'with %d is not followed, and counts as failed'],
  },
  {
    id: 'CVE-2022-24814', system: 'Directus', cause: 'files',
    what: 'An uploaded page ran in the origin of the app.',
    requests: [
      upload('<!doctype html><script>alert(1)</script>', 'text/html', 'a.html', '415 UNSUPPORTED_MEDIA_TYPE'),
      upload('<!doctype html><script>alert(1)</script>', 'image/png', 'a.png', '415 UNSUPPORTED_MEDIA_TYPE'),
      upload('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>', 'image/svg+xml', 'a.svg', '415 UNSUPPORTED_MEDIA_TYPE'),
      upload('text', 'text/plain', 'a.html', '415 UNSUPPORTED_MEDIA_TYPE'),
      upload('%PDF-1.7\n%âãÏÓ\n1 0 obj\n', 'application/pdf', 'a.pdf', '415 UNSUPPORTED_MEDIA_TYPE'),
    ],
  },
  {
    id: 'headers of served files', system: 'NocoDB, Strapi', cause: 'files',
    what: 'The browser guessed the type of a file and ran it.',
    async play(world) {
      await world.send({ method: 'POST', path: '/posts/1/upload/cover?name=a.txt', raw: 'alert(1)', headers: { 'content-type': 'text/plain' } })
      const { status, headers } = await world.send({ path: '/posts/1/files/cover' })
      return [status, ...['content-type', 'x-content-type-options', 'content-security-policy'].map(name => headers.get(name))]
    },
    equals: [200, 'text/plain; charset=utf-8', 'nosniff', 'default-src \'none\'; sandbox'],
    writes: true,
  },
  {
    id: 'the name as a path', system: 'json-server, NocoDB', cause: 'files',
    what: 'The name of an uploaded file chose where it is stored.',
    async play(world) {
      const { status, body } = await world.send({
        method: 'POST', path: `/posts/1/upload/cover?name=${encodeURIComponent('../../../outside.txt')}`, raw: 'text', headers: { 'content-type': 'text/plain' },
      })
      return [status, body.cover.name.includes('/'), world.files().map(file => /^posts\/\w+\/cover\/[\da-f-]{36}$/.test(file))]
    },
    equals: [200, false, [true]],
    writes: true,
  },
  {
    id: 'images with many pixels', system: 'Directus, Strapi', cause: 'files',
    what: 'A small image became gigabytes in memory.',
    requests: [
      upload(Buffer.concat([PNG.subarray(0, 16), Buffer.from('0000ffff0000ffff', 'hex'), PNG.subarray(24)]), 'image/png', 'a.png', '400 IMAGE_TOO_LARGE'),
    ],
  },
  {
    id: 'CVE-2025-27415', system: 'Nuxt', cause: 'shared caches and instances',
    what: 'A cache kept one response for another request.',
    async play(world) {
      const read = async (as: 'ada' | 'eve' | 'admin' | 'anonymous', path: string) => (await world.send({ as, path })).text
      const results = []
      for (const path of ['/posts?sort=id', '/people?sort=id', '/posts/1', '/posts/aggregate?aggregate=count']) {
        // Each caller twice: the second response can come from the cache.
        const first = [await read('admin', path), await read('ada', path), await read('eve', path), await read('anonymous', path)]
        const second = [await read('admin', path), await read('ada', path), await read('eve', path), await read('anonymous', path)]
        results.push(JSON.stringify(first) === JSON.stringify(second), new Set(first).size)
      }
      const { headers } = await world.send({ path: '/posts' })
      return [...results, headers.get('cache-control'), headers.get('vary')]
    },
    equals: [true, 4, true, 4, true, 3, true, 4, 'private, no-cache', 'Cookie, Authorization, Accept'],
  },
  {
    id: 'parameters outside of the key', system: 'Nuxt, Next.js, Strapi', cause: 'shared caches and instances',
    what: 'Requests that differ in a parameter or a header shared a stored response.',
    async play(world) {
      const read = async (path: string, headers = {}) => (await world.send({ path, headers })).text
      const lists = [await read('/posts?sort=id'), await read('/posts?sort=-id'), await read('/posts?sort=id&fields=id'), await read('/posts?sort=id&filter[id]=1')]
      const poisoned = await read('/posts?sort=id', { 'x-forwarded-host': 'evil.example', 'x-forwarded-scheme': 'nothing' })
      return [new Set(lists).size, poisoned === lists[0]]
    },
    equals: [4, true],
  },
  {
    id: 'CVE-2026-25536', system: 'MCP TypeScript SDK', cause: 'shared caches and instances',
    what: 'Two clients of one server got each other\'s results.',
    async play(world) {
      const tokens = []
      for (const as of ['ada', 'eve'] as const)
        tokens.push((await world.send({ as, method: 'POST', path: '/apiTokens', body: { name: 'x' } })).body.token as string)
      const clients = await Promise.all(tokens.map(token => connectMcp({ token, fetch: request => world.server.fetch(request) })))
      const calls = await Promise.all(Array.from({ length: 10 }, (_, index) => clients[index % 2]!.call('list', { resource: 'posts' })))
      return calls.map(({ text }, index) => [text.includes('first'), text.includes('FOREIGN'), index % 2])
    },
    equals: Array.from({ length: 10 }, (_, index) => [index % 2 === 0, index % 2 === 1, index % 2]),
    writes: true,
  },
  {
    id: 'CVE-2022-24760 and CVE-2023-36475', system: 'Parse Server', cause: 'prototype pollution',
    what: 'A key of the body changed the prototype of all objects.',
    requests: [
      { method: 'POST', path: '/posts', raw: '{"title":"x","__proto__":{"isAdmin":true}}', is: '400 VALIDATION_FAILED' },
      { method: 'POST', path: '/posts', raw: '{"title":"x","constructor":{"prototype":{"isAdmin":true}}}', is: '400 VALIDATION_FAILED' },
      { method: 'PATCH', path: '/posts/bulk', raw: '{"items":[{"id":1,"data":{"__proto__":{"title":"x"}}}]}', is: '400 BULK_FAILED' },
    ],
    control: {
      method: 'PATCH', path: '/posts/1', raw: '{"meta":{"__proto__":{"isAdmin":true}}}', is: '200',
      pick: () => (({}) as { isAdmin?: boolean }).isAdmin, equals: undefined,
    },
  },
  {
    id: 'names of the prototype', system: 'Feathers, Parse Server, Nuxt', cause: 'prototype pollution',
    what: 'A name such as `constructor` was found on the prototype, and passed as a known one.',
    requests: [
      ...['__proto__', 'constructor', 'toString', 'hasOwnProperty'].flatMap((name): Attempt[] => [
        { path: `/posts?fields=${name}`, is: '400 UNKNOWN_FIELD' }, { path: `/posts?sort=${name}`, is: '400 UNKNOWN_FIELD' },
        { path: `/posts?filter[${name}]=1`, is: '400 UNKNOWN_FIELD' }, { path: `/posts?filter[title][${name}]=1`, is: '400 INVALID_OPERATOR' },
        { path: `/posts?groupBy=${name}`, is: '400 UNKNOWN_FIELD' }, { path: `/posts?include=${name}`, is: '400 UNKNOWN_RELATION' },
        { path: `/posts?filter=${encodeURIComponent(`{"${name}":1}`)}`, is: '400 UNKNOWN_FIELD' },
        { path: `/posts?filter=${encodeURIComponent(`{"title":{"$eq":"x","${name}":"x"}}`)}`, is: '400 INVALID_OPERATOR' },
        { path: `/${name}`, is: '404' },
      ]),
      { method: 'POST', path: '/batch', body: { steps: [{ resource: 'constructor', operation: 'create', data: {} }] }, is: '404 BULK_FAILED' },
    ],
  },
  {
    id: 'names in the first line of a file', system: 'NocoDB, Directus', cause: 'prototype pollution',
    what: 'A column of an imported file was a key of the prototype.',
    requests: ['__proto__.isAdmin', '__proto__', 'constructor.prototype.x'].map(name => ({
      method: 'POST', path: '/posts/import', raw: `title,${name}\r\nx,y\r\n`, headers: { 'content-type': 'text/csv' }, is: '400 BULK_FAILED',
      pick: ({ body }: { body: { data: { errors: { code: string }[] } } }) => body.data.errors.map(({ code }) => code), equals: ['VALIDATION_FAILED'],
    })),
    control: { method: 'POST', path: '/posts/import', raw: 'title\r\nx\r\n', headers: { 'content-type': 'text/csv' }, is: '200' },
  },
  {
    id: 'writes of another site', system: 'Directus, Strapi, Appwrite', cause: 'other sites',
    what: 'A form of another site wrote with the cookies of the user.',
    requests: [
      { method: 'POST', path: '/posts', body: { title: 'x' }, headers: foreign, is: '403 CROSS_SITE' },
      { method: 'DELETE', path: '/posts/1', headers: { origin: 'null', host: 'localhost' }, is: '403 CROSS_SITE' },
      { method: 'POST', path: '/posts', raw: '{"title":"x"}', headers: { 'content-type': 'text/plain' }, is: '415 UNSUPPORTED_MEDIA_TYPE' },
      { method: 'POST', path: '/posts', raw: 'title=x', headers: { 'content-type': 'application/x-www-form-urlencoded' }, is: '415 UNSUPPORTED_MEDIA_TYPE' },
      { method: 'POST', path: '/batch', body: { steps: [] }, headers: { 'sec-fetch-site': 'cross-site' }, is: '403 CROSS_SITE' },
    ],
    control: { method: 'POST', path: '/posts', body: { title: 'x' }, headers: { origin: 'http://localhost', host: 'localhost' }, is: '201' },
  },
  {
    id: 'any origin with credentials', system: 'json-server, Strapi, Appwrite', cause: 'other sites',
    what: 'The response permitted every origin to read it.',
    requests: (['GET', 'OPTIONS'] as const).map((method): Attempt => ({
      method, path: '/posts', headers: { ...foreign, 'access-control-request-method': 'DELETE' }, is: method === 'GET' ? '200' : '204',
      pick: ({ headers }) => [...headers.keys()].filter(name => name.startsWith('access-control-')), equals: [],
    })),
  },
  {
    id: 'CVE-2024-28239', system: 'Directus', cause: 'other sites',
    what: 'A redirect went to an address of the request.',
    requests: [{
      method: 'POST', path: '/posts?redirect=https://evil.example', body: { title: 'x' },
      headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }, is: '201', pick: ({ headers }) => headers.get('location'), equals: '/api/posts/6',
    }],
    writes: true,
  },
  {
    id: 'rows that exist but are hidden', system: 'PostgREST, LoopBack', cause: 'errors and oracles',
    what: 'The error of a hidden row differed from that of a missing one.',
    async play(world) {
      const paths: readonly [string, string, unknown?][] = [
        ['GET', '/posts/:id'], ['PATCH', '/posts/:id', { title: 'x' }], ['DELETE', '/posts/:id'], ['GET', '/posts/:id/files/cover'], ['GET', '/posts/:id/relations/author'],
        ['DELETE', '/posts/:id?dryRun=true'], ['PATCH', '/posts/:id', { nothing: 1 }],
      ]
      const differing = []
      for (const [method, path, body] of paths) {
        const texts = []
        for (const id of ['4', '3', '5', '99']) {
          const { status, text } = await world.send({ method, path: path.replace(':id', id), body })
          texts.push(`${status} ${text}`)
        }
        if (new Set(texts).size !== 1) differing.push(method, path, texts)
      }
      return differing
    },
    equals: [],
  },
  {
    id: 'fields that exist but are refused', system: 'Directus, GraphQL servers', cause: 'errors and oracles',
    what: 'Suggestions and messages named fields that the caller cannot read.',
    requests: ['/people?sort=salry', '/people?fields=passwrd', '/people?filter[salry]=1', '/vault'].map((path): Attempt => ({
      path, is: path === '/vault' ? '404' : '400 UNKNOWN_FIELD', pick: ({ text }) => /salary|password|vaults/.test(text), equals: false,
    })),
    control: { as: 'admin', path: '/people?sort=salry', is: '400 UNKNOWN_FIELD' },
  },
  {
    id: 'the text of the database', system: 'Sequelize, NocoDB, LoopBack', cause: 'errors and oracles',
    what: 'Errors contained SQL, the path of a file or the stack.',
    requests: ([
      ['POST', '/people', { name: 'x', email: 'bob@one' }, '409 CONFLICT'], ['POST', '/posts', { title: null }, '400 VALIDATION_FAILED'],
      ['POST', '/posts', { title: 'x', authorId: 99 }, '400 INVALID_REFERENCE'], ['GET', '/posts?filter=%00', undefined, '400 INVALID_QUERY'],
      ['GET', '/posts?filter={', undefined, '400 INVALID_QUERY'], ['GET', '/posts?filter[title]=%00', undefined, '400 INVALID_VALUE'],
    ] as const).map(([method, path, body, is]) => ({
      method, path, body, is, pick: ({ text }) => /sqlite|constraint|select|insert|node_modules|\.ts:|at Object/i.test(text), equals: false,
    })),
  },
  {
    id: 'foreign values in a conflict', system: 'Supabase, Parse Server', cause: 'errors and oracles',
    what: 'The error of a unique value contained the row that has it.',
    requests: [{
      method: 'POST', path: '/people', body: { name: 'x', email: 'eve@two' }, is: '409 CONFLICT',
      pick: ({ body, text }) => [body.data, /Eve|HASH/.test(text)], equals: [{ code: 'CONFLICT', fields: ['email'] }, false],
    }],
  },
  {
    id: 'filters of having and totals', system: 'PostgREST, Hasura', cause: 'errors and oracles',
    what: 'Conditions on groups were a second filter on hidden values.',
    requests: [
      { path: `/people/aggregate?groupBy=name&aggregate=max(salary)&having=${json({ max_salary: { $gt: 900_000 } })}`, is: '400 UNKNOWN_FIELD' },
      { path: `/people/aggregate?groupBy=name&having=${json({ max_salary: { $gt: 900_000 } })}`, is: '400 UNKNOWN_FIELD' },
    ],
  },
]
