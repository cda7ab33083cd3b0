/** reportChanges: plugins receive the changes of custom statements, once, in order, and only after their commit. */
import { eq } from 'drizzle-orm'
import type { BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { defineAutoApiPlugin, type AutoApiContext, type Change } from '../../../../src/runtime/server/define'
import { ANN, articles, articleTags, openDesk, tags, type Desk } from '../../../support/desk'

type Utils = typeof import('../../../../src/runtime/server/utils/index')
type Db = BetterSQLite3Database
type Reported = Parameters<Utils['reportChanges']>[1]
type Handler = (ctx: AutoApiContext, utils: Utils) => unknown

/** A table of the app in a file without registered tables. */
const sessions = sqliteTable('sessions', { id: integer('id').primaryKey() })

let desk: Desk
let commits: { changes: readonly Change[], user: unknown, titles: unknown[] }[]
afterEach(() => {
  desk?.client.close()
  vi.restoreAllMocks()
})

const titles = () => desk.client.prepare('select title from articles where id < 3 order by id').pluck().all()

async function run(handler: Handler) {
  commits = []
  const listener = defineAutoApiPlugin({ name: 'listener', onCommit: (changes, ctx) => {
    commits.push({ changes, user: ctx.user?.id, titles: titles() })
  } })
  desk = await openDesk({ plugins: [listener], endpoints: async () => {
    const utils = await import('../../../../src/runtime/server/utils/index')
    return { 'POST /own': utils.createEndpoint({ handler: ctx => handler(ctx as AutoApiContext, utils) }) }
  } })
  return desk.request('POST', '/own', { caller: ANN })
}

const rename = (id: number, title: string) => (db: Db) => db.update(articles).set({ title }).where(eq(articles.id, id))

/** The error that `reportChanges` throws for these changes. */
async function refusal(changes: unknown): Promise<string> {
  let thrown: unknown
  await run((ctx, { reportChanges }) => {
    try {
      reportChanges(ctx, changes as Reported)
    }
    catch (error) {
      thrown = error
    }
    return null
  })
  expect(thrown).toBeInstanceOf(TypeError)
  return (thrown as Error).message.replace('[auto-api] reportChanges(): ', '')
}

describe('reportChanges', () => {
  it('reports the changes of all entries in their order, once, after the commit', async () => {
    const { status, body } = await run((ctx, { atomicWrites, reportChanges }) => atomicWrites<Db>(ctx, [
      reportChanges(ctx, [{ resource: 'articles', kind: 'update', id: 2 }, { resource: 'articles', kind: 'update', id: '1' }]),
      rename(1, 'a'),
      db => db.select({ title: articles.title }).from(articles).where(eq(articles.id, 1)),
      reportChanges(ctx, [{ resource: 'codes', kind: 'create', id: 'a,b' }]),
      rename(2, 'b'),
    ]))
    expect([status, body]).toEqual([
      200,
      [
        null,
        { changes: 1, lastInsertRowid: expect.any(Number) },
        [{ title: 'a' }],
        null,
        { changes: 1, lastInsertRowid: expect.any(Number) },
      ],
    ])
    expect(commits).toEqual([{
      user: 1, titles: ['a', 'b'],
      changes: [
        { resource: 'articles', table: 'articles', kind: 'update', id: '2' },
        { resource: 'articles', table: 'articles', kind: 'update', id: '1' },
        { resource: 'codes', table: 'codes', kind: 'create', id: 'a,b' },
      ],
    }])
  })

  it.each<[string, Reported[number], Change]>([
    [
      'the name of a registered table',
      { table: 'articles', kind: 'purge', id: 1n },
      { resource: 'articles', table: 'articles', kind: 'purge', id: '1' },
    ],
    [
      'a registered table',
      { table: articles, kind: 'restore', id: 1 },
      { resource: 'articles', table: 'articles', kind: 'restore', id: '1' },
    ],
    [
      'the name of a table that is not registered',
      { table: 'article_tags', kind: 'link', id: '1,2' },
      { table: 'article_tags', kind: 'link', id: '1,2' },
    ],
    [
      'a table that is not registered',
      { table: articleTags, kind: 'unlink', id: '1,2' },
      { table: 'article_tags', kind: 'unlink', id: '1,2' },
    ],
    ['a table that the API does not know', { table: sessions, kind: 'delete', id: 7 }, { table: 'sessions', kind: 'delete', id: '7' }],
  ])('accepts %s', async (_title, reported, change) => {
    await run((ctx, { atomicWrites, reportChanges }) => atomicWrites<Db>(ctx, [rename(1, 'a'), reportChanges(ctx, [reported])]))
    expect(commits.map(({ changes }) => changes)).toEqual([[change]])
  })

  it('reports without a statement, for rows that another system has changed', async () => {
    await run((ctx, { atomicWrites, reportChanges }) =>
      atomicWrites(ctx, [reportChanges(ctx, [{ resource: 'tags', kind: 'update', id: 1 }])]),
    )
    expect(commits.map(({ changes }) => changes)).toEqual([[{ resource: 'tags', table: 'tags', kind: 'update', id: '1' }]])
  })

  it.each<[string, Handler]>([
    ['without atomicWrites', (ctx, { reportChanges }) => reportChanges(ctx, [{ resource: 'tags', kind: 'update', id: 1 }])],
    ['without changes', (ctx, { atomicWrites, reportChanges }) => atomicWrites<Db>(ctx, [rename(1, 'a'), reportChanges(ctx, [])])],
    ['if the commit fails', (ctx, { atomicWrites, reportChanges }) => atomicWrites<Db>(ctx, [
      reportChanges(ctx, [{ resource: 'articles', kind: 'update', id: 1 }]),
      rename(1, 'a'),
      db => db.insert(tags).values({ id: 1, name: 'again' }),
    ])],
  ])('reports nothing %s', async (_title, handler) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await run(handler)
    expect(commits).toEqual([])
  })

  it.each<[string, unknown, string]>([
    [
      'a resource that does not exist',
      [{ resource: 'article', kind: 'update', id: 1 }],
      'there is no resource `article`. Did you mean `articles`?',
    ],
    [
      'a table that does not exist',
      [{ table: 'article_tag', kind: 'link', id: '1,1' }],
      'there is no table `article_tag`. Pass the Drizzle table. Did you mean `article_tags`?',
    ],
    ['what is no table', [{ table: {}, kind: 'link', id: 1 }], 'the `table` of an entry is not a Drizzle table.'],
    [
      'a kind that does not exist',
      [{ resource: 'tags', kind: 'updated', id: 1 }],
      '`updated` is not a kind of change. Use one of: create, update, delete, restore, purge, link, unlink. Did you mean `update`?',
    ],
    ['no table at all', [{ kind: 'update', id: 1 }], 'an entry needs either `resource` or `table`.'],
    [
      'a resource and a table',
      [{ resource: 'tags', table: 'tags', kind: 'update', id: 1 }],
      'an entry needs either `resource` or `table`.',
    ],
    [
      'an id that no record can have',
      [{ resource: 'tags', kind: 'update', id: 'x'.repeat(10_000) }],
      `no record of \`tags\` can have the id \`${'x'.repeat(100)}\`.`,
    ],
    ['an entry without id', [{ resource: 'tags', kind: 'update' }], 'the `id` of an entry is not a string, a number or a bigint.'],
    ['a single change', { resource: 'tags', kind: 'update', id: 1 }, 'the second argument is not an array of changes.'],
    ['null', [null], 'an entry is not an object.'],
  ])('throws a TypeError for %s', async (_title, changes, message) => {
    expect(await refusal(changes)).toBe(message)
  })

  it('throws a TypeError for a context that the API did not create', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { status } = await run(({ user, event }, { reportChanges }) => reportChanges({ user, event } as AutoApiContext, []))
    expect(status).toBe(500)
  })
})

describe('atomicWrites', () => {
  it('writes nothing if an entry reports changes of another request', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    let kept: ReturnType<Utils['reportChanges']> | undefined
    const { status } = await run((ctx, { atomicWrites, reportChanges }) => {
      kept ??= reportChanges(ctx, [{ resource: 'tags', kind: 'update', id: 1 }])
      return atomicWrites<Db>(ctx, [rename(1, 'a'), kept])
    })
    expect([status, titles(), (await desk.request('POST', '/own', { caller: ANN })).status, titles(), commits.length]).toEqual([
      200,
      ['a', 'two'],
      500,
      ['a', 'two'],
      1,
    ])
  })

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['a plain object', {}],
    ['a promise', Promise.resolve()],
  ])('writes nothing if an entry is %s', async (_title, entry) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { status } = await run((ctx, { atomicWrites }) => atomicWrites<Db>(ctx, [rename(1, 'a'), entry as never]))
    expect([status, titles()]).toEqual([500, ['one', 'two']])
  })
})

describe('a plugin that takes part in commits', () => {
  const ledger = sqliteTable('ledger', {
    kind: text('kind').notNull(),
    recordId: text('record_id').notNull(),
    before: text('before'),
    after: text('after'),
  })

  /** Returns the rows of the ledger after a handler that changes articles. */
  async function entriesOf(handler: Handler, refuse = false): Promise<unknown[]> {
    const auditor = defineAutoApiPlugin({ name: 'auditor', needs: { images: true }, inCommit(changes) {
      if (refuse) throw new Error('refused')
      return changes.map(rows => rows.insertInto(ledger, { kind: rows.kind, recordId: rows.id, before: rows.before, after: rows.after }))
    } })
    desk = await openDesk({ plugins: [auditor], endpoints: async () => {
      const utils = await import('../../../../src/runtime/server/utils/index')
      return { 'POST /own': utils.createEndpoint({ handler: ctx => handler(ctx as AutoApiContext, utils) }) }
    } })
    desk.client.exec('create table ledger (kind text not null, record_id text not null, before text, after text)')
    await desk.request('POST', '/own', { caller: ANN })
    return desk.client.prepare('select kind, record_id, before, after from ledger order by record_id').raw().all()
  }

  const update: Handler = (ctx, { atomicWrites, reportChanges }) => atomicWrites<Db>(ctx, [
    rename(1, 'a'),
    reportChanges(ctx, [{ resource: 'articles', kind: 'update', id: 2 }, { resource: 'articles', kind: 'update', id: 1 }]),
    rename(2, 'b'),
  ])

  it('receives the rows before and after the statements', async () => {
    const entries = await entriesOf(update)
    expect(entries).toEqual([
      ['update', '1', expect.stringMatching(/^\{"title":/), '{"title":"a"}'],
      ['update', '2', expect.stringMatching(/^\{"title":/), '{"title":"b"}'],
    ])
  })

  it('receives a removed row of a table that is not registered', async () => {
    const [entry] = await entriesOf((ctx, { atomicWrites, reportChanges }) => atomicWrites<Db>(ctx, [
      db => db.delete(articleTags).where(eq(articleTags.articleId, 1)),
      reportChanges(ctx, [{ table: articleTags, kind: 'unlink', id: '1,1' }]),
    ])) as [unknown[]]
    expect(entry.slice(0, 2)).toEqual(['unlink', '1,1'])
  })

  it('receives changes that are reported without statements', async () => {
    expect(
      await entriesOf((ctx, { atomicWrites, reportChanges }) =>
        atomicWrites<Db>(ctx, [reportChanges(ctx, [{ resource: 'articles', kind: 'update', id: 1 }])]),
      ),
    ).toEqual([['update', '1', '{}', '{}']])
  })

  it('can refuse the statements', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    expect(await entriesOf(update, true)).toEqual([])
    expect(titles()).not.toContain('a')
  })
})
