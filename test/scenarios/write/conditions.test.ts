/** The conditions of hooks and of requests: which of them apply, in which order they are checked, and what they refuse. */
import Database from 'better-sqlite3'
import { eq, gt, sql, type SQL } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { defineEventHandler, type H3Event } from 'h3'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AutoApiContext, ConditionalContext, ResourceHooks } from '../../../src/runtime/server/registration'
import { createServer } from '../../support/server'
import { openBlog } from './blog'
import { ADA, openWorld, outcome, type World } from './world'

let world: World
afterEach(() => {
  world?.client.close()
  vi.restoreAllMocks()
})
const open = async (options?: Parameters<typeof openBlog>[0]) => {
  world = await openBlog(options)
}
const title = (value: string) => sql`title = ${value}`
const limitTo = (condition: unknown): ResourceHooks => {
  const limit = (ctx: ConditionalContext) => void (ctx.condition = condition as SQL)
  return {
    beforeUpdate: (_id, _data, ctx) => limit(ctx),
    beforeDelete: (_id, ctx) => limit(ctx),
    beforeRestore: (_id, ctx) => limit(ctx),
    beforePurge: (_id, ctx) => limit(ctx),
  }
}

describe('the conditions of several hooks', () => {
  it.each([
    ['the global hook', [title('two'), title('one'), title('one')]],
    ['the added hook', [title('one'), title('two'), title('one')]],
    ['the hook of the registration', [title('one'), title('one'), title('two')]],
  ])('all apply: that of %s', async (_name, [global, added, own]) => {
    await open({ hooks: limitTo(own), added: (utils) => {
      utils.addResourceHook('posts', limitTo(added))
      utils.addGlobalHook(limitTo(global))
    } })
    expect(outcome(await world.send('PATCH', 'posts/1', { title: 'new' }))).toBe('412 PRECONDITION_FAILED')
    expect(world.rows('select title from posts where id = 1')).toEqual(['one'])
  })

  it('let the write succeed if the row meets all of them, and none if a hook sets undefined', async () => {
    await open({ hooks: limitTo(undefined), added: utils => utils.addGlobalHook(limitTo(title('one'))) })
    expect(outcome(await world.send('PATCH', 'posts/1', { title: 'new' }))).toBe('200')
    expect(outcome(await world.send('PATCH', 'posts/2', { title: 'other' }))).toBe('412 PRECONDITION_FAILED')
  })

  it('are not visible to the next hook', async () => {
    const seen: unknown[] = []
    await open({
      hooks: { beforeUpdate: (_id, _data, ctx) => void seen.push(ctx.condition) },
      added: utils => utils.addGlobalHook(limitTo(title('one'))),
    })
    await world.send('PATCH', 'posts/1', { title: 'new' })
    expect(seen).toEqual([undefined])
  })
})

describe('a condition', () => {
  it('can be set after an await', async () => {
    await open({ hooks: { beforeUpdate: async (_id, _data, ctx) => {
      await Promise.resolve()
      ctx.condition = title('two')
    } } })
    expect(outcome(await world.send('PATCH', 'posts/1', { title: 'new' }))).toBe('412 PRECONDITION_FAILED')
  })

  it('is not taken from a key of the same name that a context extender sets', async () => {
    await open({ added: utils => utils.addContextExtender(ctx => void Object.assign(ctx, { condition: title('two') })) })
    expect(outcome(await world.send('PATCH', 'posts/1', { title: 'new' }))).toBe('200')
  })

  it.each<[name: string, condition: unknown]>([
    ['null', null],
    ['false', false],
    ['text', 'title = 1'],
    ['an object', { title: 'one' }],
  ])('is a 500 if it is %s, and nothing is written', async (_name, condition) => {
    vi.spyOn(console, 'error').mockReturnValue()
    await open({ hooks: limitTo(condition) })
    const before = world.dump()
    for (const [method, path] of [
      ['PATCH', 'posts/1'],
      ['DELETE', 'posts/1'],
      ['DELETE', 'posts/1?force=true'],
      ['POST', 'posts/3/restore'],
    ] as const) {
      expect((await world.send(method, path, method === 'PATCH' ? { title: 'new' } : undefined)).status).toBe(500)
    }
    expect(world.dump()).toBe(before)
  })

  it('is a 500 in a create, which has no row to check', async () => {
    vi.spyOn(console, 'error').mockReturnValue()
    await open({ hooks: { beforeCreate: (_data, ctx) => void Object.assign(ctx, { condition: title('one') }) } })
    const before = world.dump()
    expect((await world.send('POST', 'posts', { title: 'new' })).status).toBe(500)
    expect(world.dump()).toBe(before)
  })

  it('fails only its item in a batch that is not atomic', async () => {
    await open({ hooks: limitTo(title('one')), config: { bulk: { enabled: true, maxBatchSize: 100, transactional: false } } })
    const { status, body } = await world.send('PATCH', 'posts/bulk', {
      items: [
        { id: 1, data: { slug: 'a' } },
        { id: 2, data: { slug: 'b' } },
      ],
    })
    expect([status, body.meta.errors]).toEqual([
      200,
      [expect.objectContaining({ index: 1, id: 2, statusCode: 412, code: 'PRECONDITION_FAILED' })],
    ])
    expect(world.rows('select slug from posts where id < 3')).toEqual(['a', null])
  })
})

describe('a condition on rows of a table that references itself', () => {
  const nodes = sqliteTable('nodes', {
    id: integer('id').primaryKey(),
    parentId: integer('parent_id').references((): AnySQLiteColumn => nodes.id, { onDelete: 'cascade' }),
    size: integer('size').notNull(),
  })
  const rows = 'insert into nodes values (1, null, 1), (2, 1, 2), (3, null, 3)'

  it.each([
    [gt(nodes.size, 0), '200'],
    [gt(nodes.size, 1), '412 BULK_FAILED'],
  ])('applies to a batch of deletes without trash', async (condition, expected) => {
    world = await openWorld({ tables: { nodes }, rows, resources: { nodes: { hooks: limitTo(condition) } } })
    const before = world.dump()
    expect(outcome(await world.send('DELETE', 'nodes/bulk', { ids: [1, 3] }))).toBe(expected)
    if (expected !== '200') expect(world.dump()).toBe(before)
  })
})

describe('a condition beside an object-level rule', () => {
  const notes = sqliteTable('notes', {
    id: integer('id').primaryKey(),
    title: text('title').notNull(),
    size: integer('size'),
    open: integer('open', { mode: 'boolean' }).notNull(),
  })
  const openNotes = async (beforeCommit?: string) => {
    world = await openWorld({ tables: { notes }, rows: `insert into notes values (1, 'one', 1, 1), (2, 'two', 1, 1)`, resources: { notes: {
      authorization: { permissions: { read: true, create: true, update: true, delete: true }, objectLevel: row => row.open === true },
      hooks: { beforeUpdate: (_id, _data, ctx) => {
        ctx.condition = eq(notes.title, 'one')
        if (beforeCommit) world.client.exec(beforeCommit)
      } },
    } } })
    return world
  }

  it('returns 412 for a row that does not meet it', async () => {
    await openNotes()
    expect(outcome(await world.send('PATCH', 'notes/2', { title: 'new' }))).toBe('412 PRECONDITION_FAILED')
  })

  it.each([
    ['404', 'hides the row', 'update notes set open = 0', '404 NOT_FOUND'],
    ['412', 'changes a row that no longer meets it', 'update notes set title = \'other\'', '412 PRECONDITION_FAILED'],
    ['200', 'changes a row that still meets it', 'update notes set size = 5', '200'],
  ])('returns %s if another write %s', async (_status, _what, beforeCommit, expected) => {
    await openNotes(beforeCommit)
    expect(outcome(await world.send('PATCH', 'notes/1', { title: 'new' }))).toBe(expected)
  })
})

describe('a condition of the request', () => {
  const docs = sqliteTable('docs', { id: integer('id').primaryKey(), title: text('title').notNull(), owner: integer('owner').notNull() })

  /** Updates docs as a route would, with a condition per item. */
  async function openDocs(hook: (id: unknown) => void) {
    const client = new Database(':memory:')
    client.exec(
      `create table docs (id integer primary key, title text not null, owner integer not null); insert into docs values (1, 'one', 1), (2, 'two', 1), (3, 'three', 2)`,
    )
    const server = await createServer({
      db: drizzle({ client }),
      registrations: [
        {
          name: 'docs',
          schema: docs,
          authorization: { permissions: { read: true, update: true }, listFilter: () => eq(docs.owner, 1) },
          hooks: { beforeUpdate: hook },
        },
      ] as never,
      endpoints: async () => {
        const { getAutoApiContext } = await import('../../../src/runtime/server/utils')
        return {
          'POST /update': defineEventHandler(async (event: H3Event) =>
            update(await getAutoApiContext(event), JSON.parse(await readText(event))),
          ),
        }
      },
    })
    return { client, update: (items: Item[]) => server.request('POST', '/update', { body: items, caller: ADA }) }
  }
  interface Item { readonly id: number, readonly title: string, readonly expected: string }

  const readText = async (event: H3Event) => (await import('h3')).readRawBody(event) as Promise<string>

  async function update(ctx: AutoApiContext, items: Item[]) {
    const { requireSession } = await import('../../../src/runtime/server/core/request/session')
    const { forResource } = await import('../../../src/runtime/server/core/request/call')
    const { contextFor } = await import('../../../src/runtime/server/core/access/authorize')
    const { applyScope } = await import('../../../src/runtime/server/core/access/row-scope')
    const { executeWrite } = await import('../../../src/runtime/server/core/write/run')
    const { planUpdate } = await import('../../../src/runtime/server/core/plan/write')
    const { fromSql } = await import('../../../src/runtime/server/core/sql/conditions')
    const { ApiError } = await import('../../../src/runtime/server/core/error')
    const { withHttpErrors } = await import('../../../src/runtime/server/http/handle')
    return withHttpErrors(ctx.event, async () => {
      const session = requireSession(ctx)
      const resource = session.api.resources.get('docs')!
      const call = forResource(session, resource, contextFor(session, resource, 'update'))
      const plan = await planUpdate(
        {
          bulk: items.length > 1,
          items: items.map(({ id, title, expected }) => ({
            id,
            key: [id],
            data: { values: { title }, sent: ['title'], given: ['title'] } as never,
            condition: {
              clauses: [fromSql(eq(docs.title, expected))],
              error: () => new ApiError('PRECONDITION_FAILED', `It is not ${expected}.`),
            },
          })),
        },
        call,
      )
      return (await executeWrite(await applyScope(call, plan, 'update'), call)).written.map(({ id }) => id)
    })
  }

  it('is checked before the hooks, with one statement for the whole batch', async () => {
    const hook = vi.fn()
    const { client, update } = await openDocs(hook)
    const { status, body } = await update([{ id: 1, title: 'a', expected: 'one' }, { id: 2, title: 'b', expected: 'one' }])
    expect([status, body.data.errors]).toEqual([
      412,
      [{ index: 1, id: 2, statusCode: 412, code: 'PRECONDITION_FAILED', message: 'It is not one.' }],
    ])
    expect(hook).not.toHaveBeenCalled()
    expect(client.prepare('select title from docs').pluck().all()).toEqual(['one', 'two', 'three'])
    expect((await update([{ id: 1, title: 'a', expected: 'one' }, { id: 2, title: 'b', expected: 'two' }])).body).toEqual(['1', '2'])
  })

  it('returns 404 for a row that the caller cannot see, whether or not the row meets it', async () => {
    const { update } = await openDocs(() => {})
    for (const expected of ['three', 'other']) expect(outcome(await update([{ id: 3, title: 'a', expected }]))).toBe('404 NOT_FOUND')
  })

  it('is checked again in the commit', async () => {
    const { client, update } = await openDocs(() => client.exec(`update docs set title = 'taken' where id = 1`))
    expect(outcome(await update([{ id: 1, title: 'a', expected: 'one' }]))).toBe('412 PRECONDITION_FAILED')
    expect(client.prepare('select title from docs where id = 1').pluck().get()).toBe('taken')
  })
})
