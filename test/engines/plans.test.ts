/**
 * Checks with EXPLAIN that the statements of the API use the indexes that the docs page `databases` recommends. The tables have 100,000
 * rows, and the planner has its default settings. Each test then drops an index and expects the check to fail.
 */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DRIVER_CASES, isAvailable, type Sent } from './support/databases'
import { openLibrary, type Library } from './support/library'

/** The same statements as in the docs page `databases`. */
const INDEXES = readFileSync(new URL('support/indexes.sql', import.meta.url), 'utf8')
const ENGINES = DRIVER_CASES.filter(({ name }) => name === 'better-sqlite3' || name === 'node-postgres')
const MIDDLE = new Date(1_700_000_000_000 + 50_000_000).toISOString()

/** How the output of EXPLAIN shows an index, a start inside an index, a sort, a full scan and a subquery per row. */
const PLAN_PATTERNS = {
  sqlite: {
    uses: (index: string) => new RegExp(`SEARCH (posts|comments|up) USING (COVERING )?INDEX ${index} `),
    startsInIndex: /posts_list \(organization_id=\? AND created_at[<>]\?\)/,
    sorts: /TEMP B-TREE/,
    scans: /SCAN (posts|comments)\b/,
    perRow: /CORRELATED/,
  },
  pg: {
    uses: (index: string) => new RegExp(`Index (Only )?Scan (Backward )?(using|on) ${index} `),
    startsInIndex: /Index Cond: \(\(organization_id = \d+\) AND \((ROW\()?created_at/,
    sorts: /Sort/,
    scans: /Seq Scan on (posts|comments)\b/,
    perRow: /SubPlan/,
  },
}

interface Case {
  readonly title: string
  readonly request: (send: SendRequest) => Promise<readonly Sent[]>
  /** Selects the statements whose plans are checked. */
  readonly statements: RegExp
  readonly indexes: readonly string[]
  readonly must?: readonly 'startsInIndex'[]
  readonly mustNot: readonly ('sorts' | 'scans' | 'perRow')[]
}

type SendRequest = (
  method: string,
  path: string,
  tenant?: number,
  body?: unknown,
) => Promise<{ sent: Sent[], body: { meta: { nextCursor: string }, deletionId: string } }>

/** Requests the page after a cursor in the middle of the table. */
const pageAfterMiddle = (sort: string) => async (send: SendRequest) => {
  const filter = JSON.stringify({ createdAt: { [sort.startsWith('-') ? '$lte' : '$gte']: MIDDLE } })
  const { body } = await send('GET', `posts?sort=${sort}&limit=1&cursor=&filter=${encodeURIComponent(filter)}`)
  return (await send('GET', `posts?sort=${sort}&cursor=${encodeURIComponent(body.meta.nextCursor)}`)).sent
}

const related = (title: string, path: string, filter: object, indexes: readonly string[], mustNot: Case['mustNot']): Case => ({
  title, indexes, mustNot, statements: /limit/,
  request: async send => (await send('GET', `${path}count=none&filter=${encodeURIComponent(JSON.stringify(filter))}`)).sent,
})

/** A subquery that is not correlated runs once, a correlated one once per row. The subqueries of tenant 1 return few rows. */
const RELATED_CASES: Case[] = [
  related('a filter on a to-one relation', 'comments?', { post: { id: { $lte: 40 } } }, ['comments_post'], ['scans', 'perRow']),
  related('a filter on a to-many relation', 'posts?', { comments: { postId: { $lte: 40 } } }, ['comments_post'], ['scans', 'perRow']),
  related('a filter on a self-relation', 'comments?', { parent: { id: { $lte: 40 } } }, ['comments_parent'], ['scans', 'perRow']),
  related(
    'a filter two relations deep',
    'comments?',
    { post: { comments: { postId: { $lte: 40 } } } },
    ['comments_post'],
    ['scans', 'perRow'],
  ),
]

const CASES: Case[] = [
  ...['createdAt', '-createdAt', 'createdAt,-id'].map((sort): Case => ({
    title: `a page in the middle, by ${sort}`,
    request: pageAfterMiddle(sort),
    statements: /limit/,
    indexes: ['posts_list'],
    must: ['startsInIndex'],
    mustNot: sort.includes(',') ? ['scans'] : ['scans', 'sorts'],
  })),
  {
    title: 'the list of a tenant',
    request: async send => (await send('GET', 'posts?sort=-createdAt&count=none', 5)).sent,
    statements: /limit/,
    indexes: ['posts_list'],
    mustNot: ['scans', 'sorts'],
  },
  {
    title: 'the number of records of a tenant',
    request: async send => (await send('GET', 'posts', 5)).sent,
    statements: /count/,
    indexes: ['posts_list'],
    mustNot: ['scans'],
  },
  {
    title: 'an include',
    request: async send => (await send('GET', 'posts/1004?include=comments')).sent,
    statements: /"comments"/,
    indexes: ['comments_post'],
    mustNot: ['scans'],
  },
  ...RELATED_CASES,
  {
    title: 'a delete with dependents',
    request: async send => (await send('DELETE', 'posts/1004')).sent,
    statements: /^with recursive.*update/,
    indexes: ['comments_post', 'comments_parent'],
    mustNot: ['scans', 'perRow'],
  },
  {
    title: 'a restore with dependents',
    request: async send => (await send('POST', 'posts/1004/restore')).sent,
    statements: /^with recursive.*update/,
    indexes: ['comments_post', 'comments_parent'],
    mustNot: ['scans', 'perRow'],
  },
  {
    title: 'a purge with dependents',
    request: async send => (await send('DELETE', 'posts/1006?force=true')).sent,
    statements: /^with recursive.*delete/,
    indexes: ['comments_post', 'comments_parent'],
    mustNot: ['scans', 'perRow'],
  },
  {
    title: 'a restore of a deletion group',
    statements: /select count\(\*\)/,
    indexes: ['posts_group', 'comments_group'],
    mustNot: ['scans'],
    request: async (send) => {
      const { body } = await send('DELETE', 'posts/1008')
      return (await send('POST', 'posts/bulk/restore', 1, { deletionId: body.deletionId })).sent
    },
  },
]

describe.each(ENGINES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('with 100,000 rows', () => {
    let library: Library
    const patterns = PLAN_PATTERNS[engineCase.dialect as 'sqlite' | 'pg']

    beforeAll(async () => {
      library = await openLibrary(engineCase)
      await library.opened.exec(`${INDEXES}; analyze`)
    })
    afterAll(() => library?.opened.close())

    const send: SendRequest = async (method, path, tenant = 1, body) => {
      library.opened.sent()
      const response = await library.request(method, `/api/${path}`, { body, caller: { user: { id: 1, organizationId: tenant } } })
      expect(response.status).toBe(200)
      return { body: response.body, sent: library.opened.sent() }
    }

    /** Runs EXPLAIN on the statements and lists what their plans miss or must not have. */
    async function planErrors(sent: readonly Sent[], { indexes, must = [], mustNot }: Case): Promise<string[]> {
      const plans: string[] = []
      for (const { text, values } of sent)
        plans.push(
          (await library.opened.all(`explain ${engineCase.dialect === 'sqlite' ? 'query plan ' : ''}${text}`, values))
            .map(row => row.at(-1))
            .join('\n'),
        )
      const plan = plans.join('\n')
      return [
        ...indexes.filter(index => !patterns.uses(index).test(`${plan} `)).map(index => `does not use ${index}: ${plan}`),
        ...must.filter(feature => !patterns[feature].test(plan)).map(feature => `misses ${feature}: ${plan}`),
        ...mustNot.filter(feature => patterns[feature].test(plan)).map(feature => `has ${feature}: ${plan}`),
      ]
    }

    describe('count=estimated', () => {
      const meta = async (path: string, user: object) =>
        (await library.request('GET', `/api/${path}limit=1&count=estimated`, { caller: { user: { id: 1, ...user } } })).body.meta
      const staff = { organizationId: 1, staff: true }
      const isPostgres = engineCase.dialect === 'pg'

      beforeAll(async () => {
        const { addContextExtender } = await import('../../src/runtime/server/utils/registrars')
        addContextExtender((ctx) => {
          if (ctx.user?.staff) ctx.tenant = { id: 1, canAccessAllTenants: true }
        })
      })

      it('is a lower bound for a caller who sees a part of the rows, so that it discloses no statistics of the others', async () => {
        const bound = { page: 1, limit: 1, total: 10_000, totalIsMore: true, hasMore: true }
        expect(await meta('posts?', { organizationId: 1 })).toEqual(bound)
        expect(await meta('posts?includeDeleted=true&', { organizationId: 1 })).toEqual(bound)
        // Rows in the trash are out of sight too.
        expect(await meta('posts?', staff)).toEqual(bound)
        expect(await meta(`comments?includeDeleted=true&filter=${encodeURIComponent('{"post":{"id":{"$gt":0}}}')}&`, staff)).toEqual(bound)
        expect(await meta('posts?', { organizationId: 5 })).toMatchObject({ total: expect.toSatisfy((total: number) => total < 200) })
      })

      it('is the estimate of Postgres for a caller who sees every row', async () => {
        const estimated = await meta(`posts?includeDeleted=true&filter=${encodeURIComponent('{"id":{"$gt":20000}}')}&`, staff)
        expect(estimated).toEqual(
          isPostgres
            ? {
                page: 1,
                limit: 1,
                total: expect.toSatisfy((total: number) => total > 70_000 && total < 90_000),
                totalIsEstimated: true,
                hasMore: true,
              }
            : { page: 1, limit: 1, total: 10_000, totalIsMore: true, hasMore: true },
        )
        expect(await meta(`posts?includeDeleted=true&filter=${encodeURIComponent('{"id":{"$lte":5}}')}&`, staff)).toEqual({
          page: 1,
          limit: 1,
          total: 5,
          hasMore: true,
        })
      })
    })

    it.each(CASES)('$title uses its index, and the check detects a plan without it', async (planCase) => {
      const sent = (await planCase.request(send)).filter(({ text }) => planCase.statements.test(text))
      expect(sent).not.toEqual([])
      expect(await planErrors(sent, planCase)).toEqual([])
      for (const index of planCase.indexes) {
        const created = INDEXES.split('\n').find(line => line.includes(`index ${index} `))!
        await library.opened.exec(`drop index ${index}; analyze`)
        expect(await planErrors(sent, planCase)).not.toEqual([])
        await library.opened.exec(`${created} analyze`)
      }
      expect(await planErrors(sent, planCase)).toEqual([])
    })
  })
})
