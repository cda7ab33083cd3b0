/** Rows and values that a caller cannot see never change a response: not its status, not a header, not a byte. */
import { ne } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ResourceAuth } from '../../../src/runtime/server/registration'
import { dataExport } from '../../../src/runtime/plugins'
import { ROUTES, type RouteName } from '../../../src/runtime/shared/routes'
import type { Answered, Caller } from '../../support/server'
import { openDesk, told, type articles, type Desk, type DeskOptions } from '../../support/desk'

/** Rows and values that everybody in organization 1 can see; the last id of each table is in use, so that the next one is the same. */
const SEEN = `
  insert into writers values (1, 1, 'Ann'), (900, 1, 'Last');
  insert into articles (id, organization_id, writer_id, title, slug, status) values (1, 1, 1, 'one', 's1', 'open'), (8, 1, 1, 'eight', 's8', 'done'), (900, 1, 900, 'last', 's900', 'open');
  insert into comments (id, organization_id, article_id, text) values (1, 1, 1, 'first'), (900, 1, 8, 'last');
  insert into tags values (1, 'red'), (2, 'blue');
  insert into article_tags values (1, 1), (8, 1);
  insert into invoices values (900, 1, 900);
  insert into codes values ('a', 1, 'p1');
`

/** In the trash of organization 1: visible only to callers that can restore. */
const TRASH = `insert into articles (id, organization_id, title, deleted_at, deletion_id) values (7, 1, 'gone', 1000, 'd7'); insert into comments values (7, 1, 7, 'gone', 1000, 'd7');`

/**
 * Hidden columns and fields with a rule; rows of others, filtered ones, judged ones, with everything that hangs on them and on what is
 * seen.
 */
const UNSEEN = `
  update articles set fee = id * 7, secret = 'unseen' || id where id in (1, 8, 900);
  insert into writers values (11, 2, 'Zoe');
  insert into articles (id, organization_id, writer_id, title, slug, status, fee) values (11, 2, 11, 'theirs', 's11', 'open', 1), (12, 2, 1, 'theirs, ours by writer', 's12', 'open', 2), (2, 1, 1, 'filtered', 's2', 'secret', 3), (3, 1, 1, 'sealed', 's3', 'open', 4);
  insert into articles (id, organization_id, writer_id, title, status, deleted_at, deletion_id) values (14, 2, 11, 'gone', 'open', 1000, 'd14'), (5, 1, 1, 'gone', 'secret', 1000, 'd5'), (6, 1, 1, 'sealed', 'open', 1000, 'd6');
  insert into comments (id, organization_id, article_id, text) values (11, 2, 11, 'theirs'), (12, 2, 1, 'theirs, on ours');
  insert into comments values (14, 2, 14, 'gone', 1000, 'd14');
  insert into article_tags values (11, 1), (12, 2), (2, 1), (3, 1), (14, 1);
  insert into invoices values (11, 2, 11);
  insert into codes values ('z', 2, 'p2');
`

const EMPTY
  = 'delete from article_tags; delete from invoices; delete from comments; delete from articles; delete from writers; delete from tags; delete from codes; delete from sqlite_sequence;'

const judged: ResourceAuth = {
  permissions: { read: true, create: 'write', update: ['write', 'edit'], delete: 'write', restore: 'trash', purge: 'trash' },
  listFilter: table => ne((table as typeof articles).status, 'secret'),
  objectLevel: row => (row as { title?: string }).title !== 'sealed',
  fields: { fee: { read: 'hr', write: 'hr' } },
}
const plain: ResourceAuth = {
  permissions: { read: true, create: 'write', update: 'write', delete: 'write', restore: 'trash', purge: 'trash' },
}
const auth: DeskOptions['auth'] = {
  articles: judged,
  comments: plain,
  writers: plain,
  tags: { permissions: { read: true, update: 'write' } },
  codes: plain,
  invoices: { permissions: { delete: 'write' } },
}

const CALLERS: Record<string, Caller> = {
  visitor: { tenantId: 1 },
  reader: { user: { id: 2, organizationId: 1 } },
  writer: { user: { id: 1, organizationId: 1, permissions: ['write'] } },
  editor: { user: { id: 5, organizationId: 1, permissions: ['edit'] } },
  clerk: { user: { id: 3, organizationId: 1, permissions: ['write', 'trash'] } },
  homeless: { user: { id: 4, permissions: ['write', 'trash'] } },
  anonymous: {},
}

type Ask = readonly [route: RouteName, method: string, path: string, body?: unknown]

/** The same questions about a row that is seen, rows that are not, and one that is nowhere. */
const onRow = (id: number): Ask[] => [
  ['get', 'GET', `/articles/${id}`],
  ['get', 'GET', `/articles/${id}?includeDeleted=true&include=comments,writer,tags`],
  ['update', 'PATCH', `/articles/${id}`, { title: 'new' }],
  ['update', 'PATCH', `/articles/${id}`, { fee: 1 }],
  ['update', 'PATCH', `/articles/${id}`, { nothing: 1 }],
  ['delete', 'DELETE', `/articles/${id}`],
  ['delete', 'DELETE', `/articles/${id}?force=true`],
  ['restore', 'POST', `/articles/${id}/restore`],
  [
    'bulk-update',
    'PATCH',
    '/articles/bulk',
    {
      items: [
        { id: 8, data: { title: 'a' } },
        { id, data: { title: 'b' } },
      ].slice(id === 8 ? 1 : 0),
    },
  ],
  ['bulk-delete', 'DELETE', '/articles/bulk', { ids: [8, id] }],
  ['bulk-delete', 'DELETE', '/articles/bulk?force=true', { ids: [8, id] }],
  ['bulk-restore', 'POST', '/articles/bulk/restore', { ids: [id] }],
  ['related', 'GET', `/articles/${id}/relations/tags`],
  ['related', 'GET', `/articles/${id}/relations/comments`],
  ['relation-add', 'POST', `/articles/${id}/relations/tags`, { ids: [2] }],
  ['relation-add', 'POST', '/tags/2/relations/articles', { ids: [id] }],
  ['relation-remove', 'DELETE', '/tags/1/relations/articles', { ids: [id] }],
  ['relation-replace', 'PUT', '/tags/1/relations/articles', { ids: [id] }],
  ['relations-replace', 'PUT', `/articles/${id}/relations`, { relations: { tags: { ids: [1, 2] } } }],
  ['resource-permissions', 'GET', `/articles/permissions?ids=1,${id}`],
  ['create', 'POST', '/comments', { articleId: id, text: 'a' }],
  ['update', 'PATCH', '/comments/1', { articleId: id }],
  [
    'bulk-create',
    'POST',
    '/comments/bulk',
    {
      items: [
        { articleId: 1, text: 'a' },
        { articleId: id, text: 'b' },
      ],
    },
  ],
]

const ASKS: Ask[] = [
  ...[1, 8, 2, 3, 5, 6, 7, 11, 12, 14, 77].flatMap(onRow),
  ...[
    '',
    '?limit=2',
    '?limit=1&page=2',
    '?cursor=&limit=1',
    '?cursor=&limit=2&sort=-title',
    '?count=none&limit=3',
    '?sort=title&include=comments,writer,tags',
    '?include=writer.articles.comments',
    '?filter[title]=sealed',
    '?filter[title][$like]=t',
    '?filter[fee]=7',
    '?sort=fee',
    '?fields=fee',
    '?fields=secret',
    '?filter[secret][$null]=false',
    '?aggregate=count',
    '?aggregate=max(fee)',
    '?includeDeleted=true',
    '?onlyDeleted=true',
    '?include=invoices',
    '?filter[id][$in]=1,2,3,11,12',
  ].map((query): Ask => ['list', 'GET', `/articles${query}`]),
  ...[
    '/writers?include=articles',
    '/writers?include=articles{limit:1,sort:-id}',
    '/writers/11',
    '/tags?include=articles',
    '/tags?include=articles{limit:2}',
    '/comments?include=article',
    '/comments',
    '/codes',
    '/codes/z',
  ].map((path): Ask => ['list', 'GET', path]),
  ...[
    '?aggregate=count,min(id),max(id)',
    '?aggregate=sum(fee)',
    '?aggregate=count&groupBy=status',
    '?aggregate=count&groupBy=fee',
    '?aggregate=count&groupBy=writerId&having={"count":{"$gt":1}}',
  ].map((query): Ask => ['aggregate', 'GET', `/articles/aggregate${query}`]),
  ['aggregate', 'GET', '/comments/aggregate?aggregate=count&groupBy=articleId'],
  ['create', 'POST', '/articles', { title: 'new', writerId: 1 }],
  ['create', 'POST', '/articles', { title: 'new', writerId: 11 }],
  ['create', 'POST', '/articles', { title: 'new', fee: 1 }],
  ['create', 'POST', '/codes', { code: 'b' }],
  [
    'bulk-create',
    'POST',
    '/articles/bulk',
    {
      items: [
        { title: 'a', slug: 'n1' },
        { title: 'b', slug: 'n2' },
      ],
    },
  ],
  ['bulk-restore', 'POST', '/articles/bulk/restore', { deletionId: 'd7' }],
  ['bulk-restore', 'POST', '/articles/bulk/restore', { deletionId: 'd14' }],
  ['bulk-restore', 'POST', '/articles/bulk/restore', { deletionId: 'd5' }],
  ['bulk-delete', 'DELETE', '/articles/bulk?force=true', { deletionId: 'd14' }],
  ['bulk-delete', 'DELETE', '/articles/bulk?force=true', { deletionId: 'd6' }],
  ['related', 'GET', '/tags/1/relations/articles'],
  ['related', 'GET', '/tags/1/relations/articles?limit=1&sort=-id'],
  ['related', 'GET', '/writers/1/relations/articles?count=none'],
  ['relation-replace', 'PUT', '/tags/1/relations/articles', { ids: [] }],
  ['relation-replace', 'PUT', '/tags/2/relations/articles', { ids: [1, 8] }],
  ['delete', 'DELETE', '/writers/900'],
  ['delete', 'DELETE', '/articles/900?force=true'],
  ['permissions', 'GET', '/permissions'],
  ['resource-permissions', 'GET', '/articles/permissions'],
  ['schema', 'GET', '/_schema'],
  ['m2m-junctions', 'GET', '/_m2m/junctions'],
  ['m2m-is-junction', 'GET', '/_m2m/is-junction/article_tags'],
  ['m2m-detect', 'GET', '/_m2m/detect/articles'],
]

/** Imports look for existing records, by each kind of key: some of the keys belong to hidden rows, or to hidden and visible ones. */
const IMPORTS: Ask[] = ['', '&dryRun=true'].flatMap(query => [
  ...['one', 'sealed', 'filtered', 'theirs', 'gone', 'nowhere'].map(title => ['title', `title,status\n${title},open\n`]),
  ...[1, 11, 900, 77].map(id => ['writerId', `writerId,title\n${id},new\n`]),
  ...[1, 2, 3, 5, 6, 7, 11, 77].map(id => ['id', `id,title\n${id},new\n`]),
  ['status', 'status,title\nopen,a\nsecret,b\ndone,c\n'],
  ['title', 'title,status\none,open\nsealed,open\nnew,open\n'],
].map(([key, file]): Ask => ['bulk-create', 'POST', `/articles/import?mode=upsert&key=${key}${query}`, file]))

/** A dry run is a preview of each write. */
const PREVIEWS: Ask[] = ASKS.filter(([, method]) => method !== 'GET').map(([route, method, path, body]) => [
  route,
  method,
  `${path}${path.includes('?') ? '&' : '?'}dryRun=true`,
  body,
])

let desk: Desk

beforeAll(async () => {
  desk = await openDesk({ auth, plugins: [dataExport()] })
})

afterAll(() => desk.client.close())

beforeEach(() => {
  vi.spyOn(crypto, 'randomUUID')
  vi.spyOn(console, 'error').mockImplementation(() => {})
})

afterEach(() => vi.restoreAllMocks())

/** An answer as its bytes on the wire, without the date. */
async function bytes(rows: string, [, method, path, body]: Ask, caller: Caller): Promise<string> {
  desk.client.exec(`begin; pragma defer_foreign_keys = on; ${EMPTY} ${rows} commit;`)
  // What the server draws by lot is the same in both databases.
  let drawn = 0
  vi.mocked(crypto.randomUUID).mockImplementation(() => `00000000-0000-4000-8000-${String(drawn++).padStart(12, '0')}`)
  const sent = typeof body === 'string' ? { raw: body, headers: { 'content-type': 'text/csv' } } : { body }
  const { status, headers, text } = await desk.request(method, `/api${path}`, { ...sent, caller: structuredClone(caller) })
  return JSON.stringify([status, [...headers].filter(([name]) => name !== 'date'), text])
}

describe.each(Object.entries(CALLERS))('to a %s', (name, caller) => {
  it.each([...ASKS, ...PREVIEWS, ...IMPORTS].map(ask => [ask.slice(1, 3).join(' '), JSON.stringify(ask[3] ?? null), ask] as const))(
    '%s %s returns the same response with and without hidden data',
    async (_path, _body, ask) => {
      const seen = name === 'clerk' ? SEEN + TRASH : SEEN
      const more = (name === 'clerk' ? '' : TRASH) + UNSEEN
      const without = await bytes(seen, ask, caller)
      expect(await bytes(seen + more, ask, caller)).toBe(without)
      expect(without).not.toMatch(/^\[500/)
    },
  )
})

describe('the requests', () => {
  it('cover every kind of route', () => {
    expect([...new Set(ASKS.map(([route]) => route))].sort()).toEqual(ROUTES.map(({ name }) => name).sort())
  })

  it('succeed for a caller with permission, whose responses contain the hidden rows', async () => {
    const statuses = []
    for (const ask of ASKS) statuses.push(JSON.parse(await bytes(SEEN + TRASH, ask, CALLERS.clerk!))[0])
    expect(statuses.filter(status => status < 300).length).toBeGreaterThan(90)
    const all: Caller = { user: { id: 11, organizationId: 2 } }
    expect(await bytes(SEEN + UNSEEN, ['list', 'GET', '/articles'], all)).not.toBe(await bytes(SEEN, ['list', 'GET', '/articles'], all))
  })
})

/** What a database discloses: the docs page `authorization` lists each of these. */
describe('the exceptions', () => {
  const ask = async (rows: string, method: string, path: string, body: unknown, caller: Caller = CALLERS.clerk!): Promise<Answered> => {
    desk.client.exec(`begin; pragma defer_foreign_keys = on; ${EMPTY} ${rows} commit;`)
    return desk.request(method, `/api${path}`, { body, caller })
  }
  const both = async (method: string, path: string, body?: unknown) => {
    const [without, within] = [await ask(SEEN + TRASH, method, path, body), await ask(SEEN + TRASH + UNSEEN, method, path, body)]
    return { without: told(without), within }
  }
  const silent = /theirs|sealed|filtered|unseen|p2|sqlite|organization/i

  it('a unique value that a hidden row has: 409, naming a column the caller can read, no value and no row', async () => {
    const { without, within } = await both('POST', '/articles', { title: 'new', slug: 's11' })
    expect([without, told(within), within.body.data]).toEqual(['201', '409 CONFLICT', { code: 'CONFLICT', fields: ['slug'] }])
    expect(within.text).not.toMatch(silent)
    expect(within.text).not.toContain('s11')
  })

  it('a unique value in a hidden column: 409, naming none', async () => {
    const { without, within } = await both('POST', '/codes', { code: 'b', pin: 'p2' })
    expect([without, told(within), within.body.data]).toEqual(['201', '409 CONFLICT', { code: 'CONFLICT' }])
    expect(within.text).not.toMatch(silent)
  })

  it('a primary key that a hidden row has: 409, without the row', async () => {
    const { without, within } = await both('POST', '/codes', { code: 'z' })
    expect([without, told(within), within.body.data]).toEqual(['201', '409 CONFLICT', { code: 'CONFLICT', fields: ['code'] }])
    expect(within.text).not.toMatch(silent)
  })

  it('a hidden row that prevents a delete: 409, naming neither table nor row', async () => {
    const invoice = 'insert into invoices values (12, 2, 1);'
    for (const path of ['/articles/1', '/articles/1?force=true']) {
      expect(told(await ask(SEEN, 'DELETE', path, undefined))).toBe('200')
      const refused = await ask(SEEN + invoice, 'DELETE', path, undefined)
      expect([told(refused), refused.body.data]).toEqual(['409 CONFLICT', { code: 'CONFLICT' }])
      expect(refused.text).not.toMatch(/invoice|12/)
    }
  })

  it('gaps in the ids that the database generates', async () => {
    const hidden = 'insert into writers values (950, 2, \'Zoe\');'
    const idOf = async (rows: string) => (await ask(rows, 'POST', '/writers', { name: 'New' })).body.id
    expect([await idOf(SEEN), await idOf(SEEN + hidden)]).toEqual([901, 951])
  })

  it('a deletion group with a hidden row: it is not changed at all, like one that does not exist', async () => {
    const hidden = 'insert into comments values (15, 2, 7, \'theirs\', 1000, \'d7\');'
    expect(told(await ask(SEEN + TRASH, 'POST', '/articles/bulk/restore', { deletionId: 'd7' }))).toBe('200')
    const refused = await ask(SEEN + TRASH + hidden, 'POST', '/articles/bulk/restore', { deletionId: 'd7' })
    const missing = await ask(SEEN + TRASH, 'POST', '/articles/bulk/restore', { deletionId: 'none' })
    expect([refused.status, refused.text]).toEqual([404, missing.text])
  })

  it('a limit on the rows that objectLevel checks: 400, whether they are visible or not', async () => {
    const small = await openDesk({ auth, config: { objectLevelMaxRows: 3 }, rows: SEEN })
    const list = async () => told(await small.request('GET', '/api/articles', { caller: CALLERS.reader }))
    expect(await list()).toBe('200')
    small.client.exec('insert into articles (id, organization_id, title) values (3, 1, \'sealed\')')
    expect(await list()).toBe('400 LIMIT_EXCEEDED')
    small.client.close()
  })
})

describe('a deletion group that holds only hidden rows', () => {
  it('returns the same 404 as a group that does not exist, also when its resource would refuse the caller', async () => {
    const own = await openDesk({ auth: { ...auth, comments: { permissions: { read: true, restore: 'nobody' } } }, rows: SEEN + UNSEEN })
    const ask = async (deletionId: string) => {
      const { status, text } = await own.request('POST', '/api/articles/bulk/restore', { body: { deletionId }, caller: CALLERS.clerk })
      return [status, text]
    }
    expect(await ask('d14')).toEqual(await ask('none'))
    own.client.close()
  })
})
