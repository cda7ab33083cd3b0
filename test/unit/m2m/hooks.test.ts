/** The hooks around linking: before anything is written, and once it is. */
import { createError } from 'h3'
import { afterEach, describe, expect, it, vi } from 'vitest'
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
  it('is told the relation, the ids and the caller, before anything is written', async () => {
    const told: unknown[] = []
    await open({ hooks: { pupils: { beforeLink: (relation, ids, ctx) => {
      told.push([relation, [...ids], ctx.operation, ctx.resource, ctx.user?.id, server.rows('course_id, 0', 'pupil_courses where pupil_id = 1').length])
    } } } })
    await server.link('POST', path, { ids: [3, 4] })
    expect(told).toEqual([['courses', ['3', '4'], 'update', 'pupils', 1, 4]])
  })

  it('stops everything with the status it throws', async () => {
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

  it('does not run for a caller who may not link', async () => {
    const beforeLink = vi.fn()
    await open({ hooks: { pupils: { beforeLink } }, auth: { pupils: { permissions: { ...OPEN, update: false } } } })
    expect(outcome(await server.link('PUT', path, { ids: [3] }))).toBe('403 FORBIDDEN')
    expect(beforeLink).not.toHaveBeenCalled()
  })
})

describe('afterLink', () => {
  it('is told what was done, relation by relation, once it is committed', async () => {
    const told: unknown[] = []
    await open({ hooks: { pupils: { afterLink: (relation, result) => {
      told.push([relation, result, server.rows('course_id, 0', 'pupil_courses where pupil_id = 1').length])
    } } } })
    await server.link('PUT', 'pupils/1/relations', { relations: { courses: { ids: [2, 3, 4] }, clubs: { ids: [] } } })
    expect(told).toEqual([
      ['courses', expect.objectContaining({ added: 2, removed: 1, total: 3 }), 5],
      ['clubs', expect.objectContaining({ added: 0, removed: 1, total: 0 }), 5],
    ])
  })

  it('does not undo what was committed when it throws; the others run', async () => {
    const calls: string[] = []
    await open({ hooks: { pupils: { afterLink: (relation) => {
      calls.push(relation)
      if (relation === 'courses') refuse()
    } } } })
    const { status } = await server.link('PUT', 'pupils/1/relations', { relations: { courses: { ids: [] }, clubs: { ids: [] } } })
    expect([status, calls]).toEqual([409, ['courses', 'clubs']])
    expect((await server.get(path, ADA)).body.meta.total).toBe(0)
  })

  it('is only logged where the app says so', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    await open({ hooks: { pupils: { afterLink: refuse } }, config: { hookConfig: { timeout: 5000, afterErrors: 'log' } } })
    expect((await server.link('PUT', path, { ids: [] })).body).toEqual({ added: 0, removed: 2, total: 0 })
    expect(log).toHaveBeenCalledOnce()
  })
})
