/**
 * With the indexes that the documentation names, the statements the API sends find their rows by them, among a hundred
 * thousand and with the planner left as it is; without one of them the same look at the plan says so.
 */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINE_CASES, isThere, type Sent } from './support/databases'
import { openLibrary, type Library } from './support/library'

/** As docs/databases.md shows them. */
const INDEXES = readFileSync(new URL('support/indexes.sql', import.meta.url), 'utf8')
const ENGINES = ENGINE_CASES.filter(({ name }) => name === 'better-sqlite3' || name === 'node-postgres')
const MIDDLE = new Date(1_700_000_000_000 + 50_000_000).toISOString()

/** How each planner says what a plan must have. */
const SIGNS = {
  sqlite: {
    uses: (index: string) => new RegExp(`SEARCH (posts|comments|up) USING (COVERING )?INDEX ${index} `),
    begins: /posts_list \(organization_id=\? AND created_at[<>]\?\)/,
    sorts: /TEMP B-TREE/,
    scans: /SCAN (posts|comments)\b/,
    each: /CORRELATED/,
  },
  pg: {
    uses: (index: string) => new RegExp(`Index (Only )?Scan (Backward )?(using|on) ${index} `),
    begins: /Index Cond: \(\(organization_id = \d+\) AND \((ROW\()?created_at/,
    sorts: /Sort/,
    scans: /Seq Scan on (posts|comments)\b/,
    each: /SubPlan/,
  },
}

interface Case {
  readonly what: string
  readonly request: (library: Ask) => Promise<readonly Sent[]>
  /** The statements that are looked at. */
  readonly statements: RegExp
  readonly indexes: readonly string[]
  readonly must?: readonly 'begins'[]
  readonly mustNot: readonly ('sorts' | 'scans' | 'each')[]
}

type Ask = (method: string, path: string, tenant?: number, body?: unknown) => Promise<{ sent: Sent[], body: { meta: { nextCursor: string }, deletionId: string } }>

/** The page behind a cursor that stands in the middle of the table. */
const deep = (sort: string) => async (ask: Ask) => {
  const filter = JSON.stringify({ createdAt: { [sort.startsWith('-') ? '$lte' : '$gte']: MIDDLE } })
  const { body } = await ask('GET', `posts?sort=${sort}&limit=1&cursor=&filter=${encodeURIComponent(filter)}`)
  return (await ask('GET', `posts?sort=${sort}&cursor=${encodeURIComponent(body.meta.nextCursor)}`)).sent
}

const CASES: Case[] = [
  ...['createdAt', '-createdAt', 'createdAt,-id'].map((sort): Case => ({ what: `a page deep in the list, by ${sort}`, request: deep(sort), statements: /limit/, indexes: ['posts_list'], must: ['begins'], mustNot: sort.includes(',') ? ['scans'] : ['scans', 'sorts'] })),
  { what: 'the list of a tenant', request: async ask => (await ask('GET', 'posts?sort=-createdAt&count=none', 5)).sent, statements: /limit/, indexes: ['posts_list'], mustNot: ['scans', 'sorts'] },
  { what: 'how many a tenant has', request: async ask => (await ask('GET', 'posts', 5)).sent, statements: /count/, indexes: ['posts_list'], mustNot: ['scans'] },
  { what: 'an include', request: async ask => (await ask('GET', 'posts/1004?include=comments')).sent, statements: /"comments"/, indexes: ['comments_post'], mustNot: ['scans'] },
  { what: 'a delete with what hangs on it', request: async ask => (await ask('DELETE', 'posts/1004')).sent, statements: /^with recursive.*update/, indexes: ['comments_post', 'comments_parent'], mustNot: ['scans', 'each'] },
  { what: 'a restore with what hangs on it', request: async ask => (await ask('POST', 'posts/1004/restore')).sent, statements: /^with recursive.*update/, indexes: ['comments_post', 'comments_parent'], mustNot: ['scans', 'each'] },
  { what: 'a purge with what hangs on it', request: async ask => (await ask('DELETE', 'posts/1006?force=true')).sent, statements: /^with recursive.*delete/, indexes: ['comments_post', 'comments_parent'], mustNot: ['scans', 'each'] },
  {
    what: 'a restore of a group', statements: /select count\(\*\)/, indexes: ['posts_group', 'comments_group'], mustNot: ['scans'],
    request: async (ask) => {
      const { body } = await ask('DELETE', 'posts/1008')
      return (await ask('POST', 'posts/bulk/restore', 1, { deletionId: body.deletionId })).sent
    },
  },
]

describe.each(ENGINES)('$name', (engineCase) => {
  describe.skipIf(!isThere(engineCase))('among a hundred thousand rows', () => {
    let library: Library
    const signs = SIGNS[engineCase.dialect as 'sqlite' | 'pg']

    beforeAll(async () => {
      library = await openLibrary(engineCase)
      await library.opened.exec(`${INDEXES}; analyze`)
    })
    afterAll(() => library?.opened.close())

    const ask: Ask = async (method, path, tenant = 1, body) => {
      library.opened.sent()
      const answer = await library.request(method, `/api/${path}`, { body, caller: { user: { id: 1, organizationId: tenant } } })
      expect(answer.status).toBe(200)
      return { body: answer.body, sent: library.opened.sent() }
    }

    /** What is wrong with the plans of these statements. */
    async function faults(sent: readonly Sent[], { indexes, must = [], mustNot }: Case): Promise<string[]> {
      const plans: string[] = []
      for (const { text, values } of sent) plans.push((await library.opened.all(`explain ${engineCase.dialect === 'sqlite' ? 'query plan ' : ''}${text}`, values)).map(row => row.at(-1)).join('\n'))
      const plan = plans.join('\n')
      return [
        ...indexes.filter(index => !signs.uses(index).test(`${plan} `)).map(index => `does not use ${index}: ${plan}`),
        ...must.filter(sign => !signs[sign].test(plan)).map(sign => `does not say ${sign}: ${plan}`),
        ...mustNot.filter(sign => signs[sign].test(plan)).map(sign => `${sign}: ${plan}`),
      ]
    }

    it.each(CASES)('$what uses its index, and the check detects a plan without it', async (wanted) => {
      const sent = (await wanted.request(ask)).filter(({ text }) => wanted.statements.test(text))
      expect(sent).not.toEqual([])
      expect(await faults(sent, wanted)).toEqual([])
      for (const index of wanted.indexes) {
        const created = INDEXES.split('\n').find(line => line.includes(`index ${index} `))!
        await library.opened.exec(`drop index ${index}; analyze`)
        expect(await faults(sent, wanted)).not.toEqual([])
        await library.opened.exec(`${created} analyze`)
      }
      expect(await faults(sent, wanted)).toEqual([])
    })
  })
})
