/** The rules for rows and fields hold for a view as for a table: tenant, row filter, object rule, field rules and hidden fields. */
import { alias } from 'drizzle-orm/sqlite-core'
import { eq, gt, sql } from 'drizzle-orm'
import { afterEach, expect, it } from 'vitest'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import type { AutoApiContext, ResourceAuth } from '../../../src/runtime/server/registration'
import { defineAutoApiPlugin } from '../../../src/runtime/server/plugin/contract'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { outcome } from '../write/world'
import { ADA, authorStats, openStats, READ, type Stats } from './stats'

const TENANCY = { multiTenancy: { ...DEFAULT_MULTI_TENANCY, excludedResources: ['posts', 'postList', 'writingDays'] } }
const CLEO = { user: { id: 3, organizationId: 2 } }

let stats: Stats
afterEach(() => stats.close())

/** Everything that a caller learns from the rows. */
async function observe(caller = ADA) {
  const read = async (path: string) => {
    const { status, body } = await stats.send('GET', path, undefined, caller)
    return [status, body?.data?.code ?? body]
  }
  const [, list] = await read('authorStats?sort=authorId&fields=authorId')
  const [, aggregate] = await read('authorStats/aggregate?aggregate=count,sum(posts)')
  const [, authors] = await read('authors?sort=id&include=authorStats[authorId]')
  const [, filtered] = await read('authors?sort=id&filter={"authorStats":{"posts":{"$gte":0}}}')
  return {
    ids: list.data.map(({ authorId }: { authorId: number }) => authorId),
    total: list.meta.total,
    aggregate: aggregate.data[0],
    included: authors.data.flatMap((author: { authorStats: { authorId: number } | null }) => author.authorStats?.authorId ?? []),
    filtered: filtered.data.map(({ id }: { id: number }) => id),
    records: (await Promise.all([1, 2, 3, 4].map(id => read(`authorStats/${id}`)))).map(([status]) => status),
  }
}

const SEEN = {
  ids: [1, 2], total: 2, aggregate: { count: 2, sum_posts: 3 }, included: [1, 2], filtered: [1, 2], records: [200, 200, 404, 404],
}

it('shows each tenant its own rows', async () => {
  stats = await openStats({}, { config: TENANCY })
  expect(await observe()).toEqual(SEEN)
  expect((await observe(CLEO)).ids).toEqual([3, 4])
  expect(outcome(await stats.send('GET', 'authorStats', undefined, { user: { id: 1 } }))).toBe('403 TENANT_REQUIRED')
})

it.each<[string, ResourceAuth<typeof authorStats>['listFilter']]>([
  ['the table that the filter receives', (table, ctx) => eq(table.organizationId, ctx.user!.organizationId as number)],
  ['the view itself', (_table, ctx) => eq(authorStats.organizationId, ctx.user!.organizationId as number)],
  ['an expression that the filter receives', table => sql`${table.views} > 5`],
  ['an expression of the view itself', () => gt(authorStats.views, 5)],
  ['a subquery over the view', (table) => {
    const other = alias(authorStats, 'other')
    const isSame = sql`${other.authorId} = ${table.authorId}`
    return sql`exists (select 1 from ${authorStats} ${sql.identifier('other')} where ${isSame} and ${table.views} > 5)`
  }],
])('applies a row filter over %s', async (_what, listFilter) => {
  stats = await openStats({ authorStats: { authorization: { ...READ, listFilter: listFilter as never } } })
  expect(await observe()).toEqual(SEEN)
})

it('gives its row scope and its rows to code of the app, also for an alias', async () => {
  const { findAuthorizedRow, rowScope } = await import('../../../src/runtime/server/utils')
  // Drizzle 0.45 cannot select from the alias of a view.
  const rows = async (ctx: AutoApiContext, source: typeof authorStats, name: string) => {
    const scope = await rowScope(ctx, 'authorStats', source)
    const query = sql`select id from ${authorStats} as ${sql.identifier(name)} where ${scope}`
    return (ctx.db as BetterSQLite3Database).all<{ id: number }>(query).map(({ id }) => id)
  }
  const plugin = defineAutoApiPlugin({ name: 'own', routes: [{
    method: 'GET',
    path: '/:resource/:id/own',
    operation: 'read',
    handler: async ctx => ({
      own: await rows(ctx, authorStats, 'author_stats'),
      aliased: await rows(ctx, alias(authorStats, 'other') as unknown as typeof authorStats, 'other'),
      row: await findAuthorizedRow<typeof authorStats>(ctx, 'authorStats', ctx.params.id!),
    }),
  }] })
  stats = await openStats({}, { config: TENANCY, plugins: [plugin] })
  const { body } = await stats.send('GET', 'authorStats/1/own')
  expect(body).toMatchObject({ own: [1, 2], aliased: [1, 2], row: { name: 'Ada', views: 15, active: true } })
  expect((await stats.send('GET', 'authorStats/3/own')).status).toBe(404)
})

it('applies a row filter of a plugin', async () => {
  const plugin = defineAutoApiPlugin({ name: 'own', rows: { authorStats: table => sql`${(table as unknown as typeof authorStats).views} > 5` } })
  stats = await openStats({}, { plugins: [plugin] })
  expect(await observe()).toEqual(SEEN)
})

it('applies an object rule, which receives the values of expressions', async () => {
  const objectLevel: ResourceAuth<typeof authorStats>['objectLevel'] = row => row.latest instanceof Date && (row.views ?? 0) > 5
  stats = await openStats({ authorStats: { authorization: { ...READ, objectLevel: objectLevel as never } } })
  const { filtered: _filtered, ...seen } = SEEN
  expect(await stats.send('GET', 'authorStats?sort=authorId')).toMatchObject({ body: { meta: { total: 2 } } })
  const { body: { data } } = await stats.send('GET', 'authors?sort=id&include=authorStats')
  const included = data.flatMap((author: { authorStats: { authorId: number } | null }) => author.authorStats?.authorId ?? [])
  expect(included).toEqual(seen.included)
  expect((await Promise.all([1, 2, 3, 4].map(id => stats.send('GET', `authorStats/${id}`)))).map(({ status }) => status)).toEqual(seen.records)
})

it('leaves a hidden or unreadable column out of every response, and refuses it like one that does not exist', async () => {
  const fields = { views: { read: 'boss' } }
  stats = await openStats({ authorStats: { hiddenFields: ['email'], authorization: { ...READ, fields } } })
  const { body } = await stats.send('GET', 'authorStats/1')
  expect(Object.keys(body)).toEqual(['authorId', 'name', 'organizationId', 'posts', 'latest', 'active'])
  for (const name of ['email', 'views', 'missing']) {
    for (const query of [`fields=${name}`, `sort=${name}`, `filter={"${name}":1}`, `groupBy=${name}`, `aggregate=max(${name})`]) {
      const answer = await stats.send('GET', `authorStats?${query}`)
      expect([query, outcome(answer), answer.body.message.replaceAll(name, 'x')]).toEqual([
        query, '400 UNKNOWN_FIELD', (await stats.send('GET', `authorStats?${query.replace(name, 'missing')}`)).body.message.replaceAll('missing', 'x'),
      ])
    }
  }
  const boss = await stats.send('GET', 'authorStats/1', undefined, { user: { id: 1 }, permissions: ['boss'] })
  expect(boss.body).toMatchObject({ views: 15 })
})

it('refuses a request without `read`, and an include of the view', async () => {
  stats = await openStats({ authorStats: { authorization: { permissions: { read: 'boss' } } } })
  expect(outcome(await stats.send('GET', 'authorStats'))).toBe('403 FORBIDDEN')
  expect(outcome(await stats.send('GET', 'authors?include=authorStats'))).toBe('403 FORBIDDEN')
  expect(outcome(await stats.send('GET', 'authors?filter={"authorStats":{"posts":1}}'))).toBe('403 FORBIDDEN')
})
