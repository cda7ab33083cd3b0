/**
 * On every engine: the activity feed shows the records that the reader can see, groups updates, and needs a constant number of statements.
 */
import { sql, type Column } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { activityFeed, auditLog } from '../../src/runtime/plugins/index'
import { recordActivity } from '../../src/runtime/server/utils/activity'
import { ENGINE_CASES, isAvailable } from './support/databases'
import { openLedger, reset, type Ledger } from './support/ledger'

interface Activity {
  id: string
  at: string
  actor: { id: string, label: string | null } | null
  verb: string
  resource: string
  recordId: string
  label: string | null
  count: number
}

type Caller = { user: Record<string, unknown> | null, permissions?: string[] }

const EDITOR: Caller = { user: { id: 1, organizationId: 1 } }
const OTHER: Caller = { user: { id: 2, organizationId: 1 } }
const READER: Caller = { user: { id: 9, organizationId: 1 }, permissions: ['activity:read'] }
const ROOT: Caller = { user: { id: 8, organizationId: 1 }, permissions: ['*', 'auditLog:all'] }
const STRANGER: Caller = { user: { id: 7, organizationId: 2 }, permissions: ['activity:read'] }

const every = { read: true, create: true, update: true, delete: true } as const

const FEW = { articles: 'title', labels: 'name', tags: 'name', bookmarks: 'name' }
const MANY = { ...FEW, ...Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`thing${index}`, 'name'])) }

interface Case {
  labels: Record<string, string>
  rule: (isHidden: (ctx: Caller) => boolean) => Record<string, unknown>
}

/** A rule about labels with even ids. With rules in SQL and few labels, the statement of the page computes the labels, on most engines. */
const CASES: Record<string, Case> = {
  'rules in SQL, few labels': {
    labels: FEW,
    rule: isHidden => ({ listFilter: (table: { id: Column }, ctx: Caller) => isHidden(ctx) ? sql`${table.id} % 2 = 1` : undefined }),
  },
  'rules in code, many labels': {
    labels: MANY,
    rule: isHidden => ({ objectLevel: (row: { id: number }, ctx: Caller) => !isHidden(ctx) || row.id % 2 === 1 }),
  },
}

/** The rules of a case: which tags and labels can be read, and whether names can be. */
let rules = { tags: true, tagNames: true, evenLabels: true, articles: true }

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase)).each(Object.entries(CASES))('the activity feed, %s', (_, { labels, rule }) => {
    const inSql = labels === FEW
    let ledger: Ledger
    beforeAll(async () => {
      const isReader = ({ user }: { user: Caller['user'] }) => user?.id === 9
      ledger = await openLedger(engineCase, {
        auditLog: true,
        further: 20,
        // Tags are the users here: they have a name and no tenant.
        plugins: () => [auditLog(), activityFeed({ actor: { resource: 'tags', label: 'name' }, labels })],
        authorization: {
          auditLog: { permissions: {} },
          articles: {
            permissions: { ...every, read: (ctx: Caller) => !isReader(ctx) || rules.articles, viewDeleted: 'trash' },
            fields: { price: { read: 'payroll' } },
          },
          tags: {
            permissions: { ...every, read: (ctx: Caller) => !isReader(ctx) || rules.tags },
            fields: { name: { read: (ctx: Caller) => !isReader(ctx) || rules.tagNames } },
          },
          labels: { permissions: every, ...rule(ctx => isReader(ctx) && !rules.evenLabels) },
        },
        endpoints: async () => {
          const { atomicWrites, createEndpoint } = await import('../../src/runtime/server/utils/index')
          const activity = { resource: 'articles', id: 1, verb: 'published', data: { channel: 'mail', secret: 'hush', price: 3 } }
          return {
            'POST /publish': createEndpoint({
              async handler(ctx) {
                await recordActivity(ctx, activity)
                return {}
              },
            }),
            'POST /together': createEndpoint({
              handler: async (ctx) => {
                await atomicWrites(ctx, [recordActivity(ctx, { ...activity, verb: 'promoted' })])
                return {}
              },
            }),
            'POST /wrong': createEndpoint({
              handler: async (ctx) => {
                await recordActivity(ctx, { ...activity, verb: 'update' })
              },
            }),
          }
        },
      })
    })
    beforeEach(async () => {
      rules = { tags: true, tagNames: true, evenLabels: true, articles: true }
      await ledger.opened.exec('delete from audit_log')
      await reset(ledger)
    })
    afterAll(() => ledger?.opened.close())

    const write = async (method: string, path: string, body?: unknown, caller: Caller = EDITOR) => {
      const { status, body: answer } = await ledger.request(method, `/api/${path}`, { body, caller })
      expect({ path, status: status < 300, answer: status < 300 ? '' : answer }).toEqual({ path, status: true, answer: '' })
    }
    const read = async (caller: Caller, query = '') => {
      const { status, body, text } = await ledger.request('GET', `/api/activity${query}`, { caller })
      expect({ status, message: status === 200 ? '' : body.message }).toEqual({ status: 200, message: '' })
      return { ...body, text } as { data: Activity[], meta: { total: number, nextCursor?: string | null, hasMore?: boolean }, text: string }
    }
    const short = (entries: readonly Activity[]) =>
      entries.map(({ verb, resource, recordId, count }) => `${verb} ${resource} ${recordId} ${count}`)
    const shift = (minutes: number) =>
      ledger.opened.exec(
        engineCase.dialect === 'sqlite'
          ? `update audit_log set at = at - ${minutes * 60_000}`
          : engineCase.dialect === 'pg'
            ? `update audit_log set at = at - interval '${minutes} minutes'`
            : `update audit_log set at = at - interval ${minutes} minute`,
      )

    it('shows the actor, the verb and the label that the reader can read', async () => {
      await write('PATCH', 'bookmarks/1', { name: 'new' })
      await write('POST', 'bookmarks', { name: 'fresh' })
      const { data } = await read(READER)
      expect(data).toMatchObject([
        { actor: { id: '1', label: 'a' }, verb: 'created', resource: 'bookmarks', label: 'fresh', count: 1 },
        { actor: { id: '1', label: 'a' }, verb: 'updated', resource: 'bookmarks', recordId: '1', label: 'new', count: 1 },
      ])
      expect(Object.keys(data[0]!)).toEqual(['id', 'at', 'actor', 'verb', 'resource', 'recordId', 'label', 'count'])
      expect(Math.abs(Date.parse(data[0]!.at) - Date.now())).toBeLessThan(60_000)
      expect((await read(STRANGER)).data.filter(({ resource }) => resource !== 'tags')).toEqual([])
    })

    it('refuses callers without the permission and parameters that it does not have', async () => {
      expect((await ledger.request('GET', '/api/activity', { caller: EDITOR })).status).toBe(403)
      expect((await ledger.request('GET', '/api/activity', { caller: { user: null } })).status).toBe(401)
      for (const query of ['?offset=0', '?resource=tags', '?page=x', '?cursor=zzz', '?page=1&cursor='])
        expect({ query, status: (await ledger.request('GET', `/api/activity${query}`, { caller: READER })).status }).toEqual({
          query,
          status: 400,
        })
    })

    it('shows 50 updates within ten minutes as one entry, and those of another caller as another', async () => {
      for (let index = 0; index < 50; index++) await write('PATCH', 'articles/1', { title: `t${index}` })
      await write('PATCH', 'articles/1', { price: '7' })
      await write('PATCH', 'articles/1', { title: 'others' }, OTHER)
      await write('PATCH', 'articles/2', { title: 'second' })
      expect(short((await read(READER)).data)).toEqual(['updated articles 2 1', 'updated articles 1 1', 'updated articles 1 50'])
      expect((await read(READER)).meta.total).toBe(3)
      await shift(11)
      await write('PATCH', 'articles/1', { title: 'later' })
      expect(short((await read(READER)).data)).toEqual([
        'updated articles 1 1',
        'updated articles 2 1',
        'updated articles 1 1',
        'updated articles 1 50',
      ])
      await shift(9)
      await write('PATCH', 'articles/1', { title: 'joins' })
      expect(short((await read(READER)).data)[0]).toBe('updated articles 1 2')
      const found: Activity[] = []
      for (let cursor: string | null | undefined = ''; typeof cursor === 'string';) {
        const { data, meta }: { data: Activity[], meta: { nextCursor?: string | null } } = await read(READER, `?limit=1&cursor=${cursor}`)
        found.push(...data)
        cursor = meta.nextCursor
      }
      expect(found).toEqual((await read(READER)).data)
    })

    it('does not count updates of an earlier record with the same id', async () => {
      await write('PATCH', 'tags/3', { name: 'x' })
      await write('PATCH', 'tags/3', { name: 'y' })
      await write('DELETE', 'tags/3')
      await write('POST', 'tags', { id: 3, name: 'new' })
      await write('PATCH', 'tags/3', { name: 'z' })
      await write('PATCH', 'tags/3', { name: 'zz' })
      expect(short((await read(READER)).data)).toEqual(['updated tags 3 2', 'created tags 3 1'])
    })

    it('hides records that the reader cannot see, also from a caller who can see all entries', async () => {
      await write('PATCH', 'articles/2', { title: 'gone soon' })
      await write('DELETE', 'articles/2')
      await write('PATCH', 'bookmarks/1', { name: 'x' })
      await write('DELETE', 'bookmarks/1?force=true')
      await write('PATCH', 'labels/2', { name: 'even' })
      const shown = async (caller: Caller) => short((await read(caller)).data).filter(entry => !/comments|articleLabels/.test(entry))
      expect(await shown(READER)).toEqual(['updated labels 2 1'])
      rules.evenLabels = false
      expect(await shown(READER)).toEqual([])
      expect(await shown({ ...READER, permissions: ['activity:read', 'trash'] })).toEqual(['deleted articles 2 1', 'updated articles 2 1'])
      expect(await shown({ ...READER, permissions: ['activity:read', 'auditLog:all'] })).toEqual([])
      expect(await shown(ROOT)).toEqual(['updated labels 2 1', 'deleted articles 2 1', 'updated articles 2 1'])
    })

    it('shows events of the app, alone or in a commit, without hidden values', async () => {
      for (const path of ['/publish', '/together'])
        expect((await ledger.request('POST', path, { body: {}, caller: EDITOR })).status).toBeLessThan(300)
      expect((await ledger.request('POST', '/wrong', { body: {}, caller: EDITOR })).status).toBe(500)
      expect(short((await read(READER)).data)).toEqual(['promoted articles 1 1', 'published articles 1 1'])
      expect(JSON.stringify(await ledger.opened.all('select * from audit_log'))).not.toContain('hush')
      rules.articles = false
      expect((await read(READER)).data).toEqual([])
    })

    it('runs two statements for 2 and for 20 resources, and one more for each that a rule in code judges', async () => {
      const count = async () => {
        ledger.opened.statements()
        const { data } = await read(READER, '?limit=50')
        expect(data.every(({ label, resource }) => label === (resource in labels ? 'x' : null))).toBe(true)
        return [new Set(data.map(({ resource }) => resource)).size, ledger.opened.statements().length]
      }
      for (let index = 0; index < 2; index++) await write('PATCH', `thing${index}/1`, { name: 'x' })
      const rest = inSql && engineCase.dialect !== 'mysql' ? 2 : 3
      expect(await count()).toEqual([2, rest])
      for (let index = 2; index < 20; index++) await write('PATCH', `thing${index}/1`, { name: 'x' })
      expect(await count()).toEqual([20, rest])
      await write('PATCH', 'labels/1', { name: 'x' })
      await write('PATCH', 'labels/3', { name: 'x' })
      expect(await count()).toEqual([21, inSql ? rest : rest + 1])
    })

    if (engineCase.dialect === 'sqlite')
      it('finds the entries of a group by their record, and not among all entries of the tenant', async () => {
        await write('PATCH', 'articles/1', { title: 'x' })
        ledger.opened.statements()
        await read(READER, '?count=none')
        const plans = await Promise.all(
          ledger.opened
            .statements()
            .filter(text => text.includes('audit_log'))
            .map(text => ledger.opened.all(`explain query plan ${text.replaceAll('?', 'null')}`)),
        )
        const searches = plans
          .flat()
          .map(row => String(row.at(-1)).split(' '))
          .filter(([word, table]) => word === 'SEARCH' && /later|older|joined|ended/.test(table!))
        expect([...new Set(searches.map(([, table, , , index]) => `${table} ${index}`))].sort()).toEqual(
          ['ended', 'joined', 'later', 'older'].map(alias => `${alias} audit_log_record`),
        )
      })

    it('never shows a title, a name or a record that the reader cannot read, whatever the rules are', async () => {
      await write('PATCH', 'tags/1', { name: 'NAME-1' })
      await write('PATCH', 'labels/2', { name: 'LABEL-2' })
      await write('PATCH', 'labels/1', { name: 'LABEL-1' })
      await write('PATCH', 'articles/1', { title: 'TITLE-1' })
      const flags = fc.record({ tags: fc.boolean(), tagNames: fc.boolean(), evenLabels: fc.boolean(), articles: fc.boolean() })
      await fc.assert(fc.asyncProperty(flags, async (drawn) => {
        rules = drawn
        const { data, text, meta } = await read(READER)
        const expected = [
          ...drawn.articles ? ['articles 1 TITLE-1'] : [], 'labels 1 LABEL-1', ...drawn.evenLabels ? ['labels 2 LABEL-2'] : [],
          ...drawn.tags && drawn.tagNames ? ['tags 1 NAME-1'] : [],
        ]
        expect(data.map(({ resource, recordId, label }) => `${resource} ${recordId} ${label}`)).toEqual(expected)
        expect(meta.total).toBe(expected.length)
        expect(data.map(({ actor }) => actor)).toEqual(
          expected.map(() => (drawn.tags ? { id: '1', label: drawn.tagNames ? 'NAME-1' : null } : null)),
        )
        if (!drawn.tags || !drawn.tagNames) expect(text).not.toContain('NAME')
      }), { numRuns: 12 })
    })
  })
})
