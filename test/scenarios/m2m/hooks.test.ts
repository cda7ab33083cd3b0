/** The hooks `beforeLink` and `afterLink`. */
import { sql } from 'drizzle-orm'
import { createError } from 'h3'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ConditionalContext } from '../../../src/runtime/server/registration'
import { ADA, OPEN, openServer, outcome, type LinksServer, type LinksServerOptions } from './links-server'

let server: LinksServer
const open = async (options?: LinksServerOptions) => server = await openServer(options)
afterEach(() => {
  server.client.close()
  vi.restoreAllMocks()
})

const path = 'pupils/1/relations/courses'
const refuse = () => {
  throw createError({ statusCode: 409, message: 'Not in the holidays.' })
}

describe('beforeLink', () => {
  it('receives the relation, the ids and the caller before anything is written', async () => {
    const calls: unknown[] = []
    await open({ hooks: { pupils: { beforeLink: (relation, ids, ctx) => {
      calls.push([
        relation,
        [...ids],
        ctx.operation,
        ctx.resource,
        ctx.user?.id,
        server.rows('course_id, 0', 'pupil_courses where pupil_id = 1').length,
      ])
    } } } })
    await server.link('POST', path, { ids: [3, 4] })
    expect(calls).toEqual([['courses', ['3', '4'], 'update', 'pupils', 1, 4]])
  })

  it('stops the whole request with the status it throws', async () => {
    await open({ hooks: { pupils: { beforeLink: relation => relation === 'clubs' ? refuse() : undefined } } })
    const before = server.dump()
    expect((await server.link('PUT', 'pupils/1/relations', { relations: { courses: { ids: [3] }, clubs: { ids: [2] } } })).status).toBe(409)
    expect(server.dump()).toBe(before)
  })

  it.each([
    ['the record is not visible', 'pupils/11/relations/courses', { ids: [1] }],
    ['an id is not visible', path, { ids: [11] }],
    ['the relation does not exist', 'pupils/1/relations/nothing', { ids: [1] }],
    ['the metadata does not fit', path, { ids: [3], metadata: { nothing: 1 } }],
  ])('does not run when %s', async (_reason, address, body) => {
    const beforeLink = vi.fn()
    await open({ hooks: { pupils: { beforeLink } } })
    expect((await server.link('PUT', address, body)).status).toBeGreaterThanOrEqual(400)
    expect(beforeLink).not.toHaveBeenCalled()
  })

  it('does not run for a caller who cannot link', async () => {
    const beforeLink = vi.fn()
    await open({ hooks: { pupils: { beforeLink } }, auth: { pupils: { permissions: { ...OPEN, update: false } } } })
    expect(outcome(await server.link('PUT', path, { ids: [3] }))).toBe('403 FORBIDDEN')
    expect(beforeLink).not.toHaveBeenCalled()
  })
})

describe('afterLink', () => {
  it('receives the counts of each relation after the commit', async () => {
    const calls: unknown[] = []
    await open({ hooks: { pupils: { afterLink: (relation, result) => {
      calls.push([relation, result, server.rows('course_id, 0', 'pupil_courses where pupil_id = 1').length])
    } } } })
    await server.link('PUT', 'pupils/1/relations', { relations: { courses: { ids: [2, 3, 4] }, clubs: { ids: [] } } })
    expect(calls).toEqual([
      ['courses', expect.objectContaining({ added: 2, removed: 1, total: 3 }), 5],
      ['clubs', expect.objectContaining({ added: 0, removed: 1, total: 0 }), 5],
    ])
  })

  it('does not roll back the commit when it throws, and the other hooks run', async () => {
    const calls: string[] = []
    await open({ hooks: { pupils: { afterLink: (relation) => {
      calls.push(relation)
      if (relation === 'courses') refuse()
    } } } })
    const { status } = await server.link('PUT', 'pupils/1/relations', { relations: { courses: { ids: [] }, clubs: { ids: [] } } })
    expect([status, calls]).toEqual([409, ['courses', 'clubs']])
    expect((await server.get(path, ADA)).body.meta.total).toBe(0)
  })

  it('logs its error when the app configures that', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    await open({ hooks: { pupils: { afterLink: refuse } }, config: { hookConfig: { timeout: 5000, afterErrors: 'log' } } })
    expect((await server.link('PUT', path, { ids: [] })).body).toEqual({ added: 0, removed: 2, total: 0 })
    expect(log).toHaveBeenCalledOnce()
  })
})

describe('a condition of a junction\'s hook', () => {
  const limitTo = (role: string) => ({
    beforeDelete: (_id: unknown, ctx: ConditionalContext) => void (ctx.condition = sql`role = ${role}`),
  })

  it.each([
    ['a removal', 'DELETE', 'pupils/1/relations/clubs', { ids: [1] }],
    ['a replacement', 'PUT', 'pupils/1/relations/clubs', { ids: [2] }],
    ['a replacement of several relations', 'PUT', 'pupils/1/relations', { relations: { clubs: { ids: [] }, courses: { ids: [3] } } }],
  ] as const)('decides whether %s removes the link', async (_name, method, path, body) => {
    await open({ hooks: { memberships: limitTo('member') as never } })
    const before = server.dump()
    expect(outcome(await server.link(method, path, body))).toBe('412 PRECONDITION_FAILED')
    expect(server.dump()).toBe(before)
    server.client.close()
    await open({ hooks: { memberships: limitTo('captain') as never } })
    expect(outcome(await server.link(method, path, body))).toBe('200')
  })

  it('is a 500 when a link is added, which has no row to check', async () => {
    vi.spyOn(console, 'error').mockReturnValue()
    await open({ hooks: { memberships: { beforeCreate: (_data, ctx) => void Object.assign(ctx, { condition: sql`1 = 1` }) } } })
    expect((await server.link('POST', 'pupils/1/relations/clubs', { ids: [2] })).status).toBe(500)
  })
})
