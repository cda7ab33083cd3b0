/** Replacing, adding and removing links: the response has the counts, and links that the caller cannot see stay. */
import { sql } from 'drizzle-orm'
import { afterEach, describe, expect, it } from 'vitest'
import { ADA, OPEN, openServer, outcome, ANONYMOUS, ZOE, type LinksServer, type LinksServerOptions } from './links-server'

let server: LinksServer
const open = async (options?: LinksServerOptions) => server = await openServer(options)
afterEach(() => server.client.close())

const path = 'pupils/1/relations/courses'
/** Ada's links, those to courses she cannot see included: 5 is in the trash, 11 another tenant's. */
const linked = () => server.rows('course_id, grade', 'pupil_courses where pupil_id = 1').map(row => (row as number[])[0])

describe('a change of links', () => {
  it.each([
    ['PUT', [2, 3], { added: 1, removed: 1, total: 2 }, [2, 3, 5, 11]],
    ['PUT', [], { added: 0, removed: 2, total: 0 }, [5, 11]],
    ['PUT', [1, 2], { added: 0, removed: 0, total: 2 }, [1, 2, 5, 11]],
    ['POST', [2, 3, 4], { added: 2, removed: 0, total: 4 }, [1, 2, 3, 4, 5, 11]],
    ['POST', [], { added: 0, removed: 0, total: 2 }, [1, 2, 5, 11]],
    ['DELETE', [1, 3], { added: 0, removed: 1, total: 1 }, [2, 5, 11]],
    ['DELETE', [], { added: 0, removed: 0, total: 2 }, [1, 2, 5, 11]],
  ] as const)('returns what it added and removed, and the number of visible links: %s %j', async (method, ids, answer, after) => {
    await open()
    const { status, body } = await server.link(method, path, { ids })
    expect([status, body, linked()]).toEqual([200, answer, after])
  })

  it('does not change links of other records', async () => {
    await open()
    const others = () => server.rows('*', 'pupil_courses where pupil_id <> 1')
    const before = others()
    await server.link('PUT', path, { ids: [3] })
    await server.link('DELETE', path, { ids: [3, 1] })
    expect(others()).toEqual(before)
  })

  it.each(['PUT', 'POST', 'DELETE'] as const)('counts a repeated id once, as a number or as text: %s', async (method) => {
    await open()
    const { body } = await server.link(method, path, { ids: [2, '2', 2, 3, '3'] })
    expect(body).toEqual(
      { PUT: { added: 1, removed: 1, total: 2 }, POST: { added: 1, removed: 0, total: 3 }, DELETE: { added: 0, removed: 1, total: 1 } }[
        method
      ],
    )
  })

  it('works from the other side, and in both directions of a self-relation', async () => {
    await open()
    expect((await server.link('PUT', 'courses/3/relations/pupils', { ids: [1, 2] })).body).toEqual({ added: 2, removed: 0, total: 2 })
    expect(server.rows('pupil_id, course_id', 'pupil_courses where course_id = 3')).toEqual([[1, 3], [2, 3]])
    expect((await server.link('POST', 'pupils/2/relations/pupilsByPupil', { ids: [3] })).body.added).toBe(1)
    expect((await server.link('POST', 'pupils/2/relations/pupilsByFriend', { ids: [3] })).body.added).toBe(1)
    expect(server.rows('*', 'friends')).toEqual([[1, 2], [2, 3], [3, 1], [3, 2]])
  })

  it('takes composite keys in the form of their ids in a path', async () => {
    await open()
    expect((await server.link('PUT', 'pupils/1/relations/rooms', { ids: ['north,2', 'a%2Cb,1'] })).body).toEqual({
      added: 2,
      removed: 1,
      total: 2,
    })
    expect(server.rows('house, number', 'lockers where pupil_id = 1')).toEqual([['a,b', 1], ['north', 2]])
    expect((await server.link('POST', 'rooms/a%2Cb,1/relations/pupils', { ids: [1, 3] })).body).toEqual({ added: 1, removed: 0, total: 2 })
    expect(outcome(await server.link('POST', 'pupils/1/relations/rooms', { ids: ['north'] }))).toBe('404 NOT_FOUND')
  })
})

describe('ids that cannot be linked', () => {
  it.each([
    ['missing', 99], ['another tenant\'s', 11], ['in the trash', 5], ['no id of the column', 'x'], ['written otherwise', '01'],
  ])('return a 404 that names them, and write nothing: %s', async (_reason, id) => {
    await open()
    const before = server.dump()
    for (const method of ['PUT', 'POST', 'DELETE'] as const) {
      const { status, body } = await server.link(method, path, { ids: [3, id, 1] })
      expect([status, body.data]).toEqual([404, { code: 'NOT_FOUND', relation: 'courses', ids: [String(id)] }])
    }
    expect(server.dump()).toBe(before)
  })

  it.each([
    ['listFilter', { listFilter: (table: unknown) => sql`${(table as { level: unknown }).level} < 3` }],
    ['objectLevel', { objectLevel: (row: Record<string, unknown>) => Number(row.level) < 3 }],
  ])('include records hidden by %s, which are neither linked, removed nor counted', async (_rule, rule) => {
    await open({ auth: { courses: { permissions: OPEN, ...rule } } })
    server.client.exec('insert into pupil_courses (pupil_id, course_id) values (1, 4)')
    expect((await server.link('POST', path, { ids: [4] })).body.data).toMatchObject({ ids: ['4'] })
    expect((await server.link('PUT', path, { ids: [3] })).body).toEqual({ added: 1, removed: 2, total: 1 })
    expect(linked()).toEqual([3, 4, 5, 11])
  })

  it('return no ids when the relation is unknown or has no junction', async () => {
    await open()
    for (const relation of ['nothing', 'constructor', 'pupils', 'mentor', 'memberships']) {
      const { status, body } = await server.link('PUT', `pupils/1/relations/${relation}`, { ids: [1] })
      expect([relation, status, body.data]).toEqual([relation, 404, { code: 'NOT_FOUND', relation }])
    }
  })
})

describe('a body of links', () => {
  it.each([
    [{}], [[]], [null], [{ ids: 1 }], [{ ids: '1,2' }], [{ ids: [null] }], [{ ids: [[1]] }], [{ ids: [{ id: 1 }] }], [{ ids: [true] }],
    [{ ids: [1], extra: 1 }], [{ ids: [1], metadata: [] }], [{ ids: [1], metadata: 'x' }],
  ])('returns 400 and writes nothing unless it is { ids, metadata? }: %j', async (body) => {
    await open()
    const before = server.dump()
    for (const method of ['PUT', 'POST', 'DELETE'] as const) expect(outcome(await server.link(method, path, body))).toBe('400 INVALID_BODY')
    expect(server.dump()).toBe(before)
  })

  it('can hold as many distinct ids as a bulk request holds items', async () => {
    await open({ config: { bulk: { enabled: true, maxBatchSize: 3, transactional: true } } })
    expect(outcome(await server.link('POST', path, { ids: [1, 2, 3, 4] }))).toBe('400 LIMIT_EXCEEDED')
    expect(outcome(await server.link('POST', path, { ids: [1, 2, 3, 3, '2'] }))).toBe('200')
  })
})

describe('metadata', () => {
  it('is written for added links only, converted to the column types of the junction', async () => {
    await open()
    expect((await server.link('PUT', path, { ids: [1, 3], metadata: { grade: 4, joinedAt: '2026-01-02T03:04:05.000Z' } })).body.added).toBe(
      1,
    )
    expect(server.rows('course_id, grade, joined_at', 'pupil_courses where pupil_id = 1 and course_id in (1, 3)')).toEqual([
      [1, 2, 86400000], [3, 4, Date.UTC(2026, 0, 2, 3, 4, 5)],
    ])
  })

  it.each([
    [{ grade: 'best' }], [{ nothing: 1 }], [{ joinedAt: 'soon' }], [{ pupilId: 2 }], [{ courseId: 4 }],
  ])('returns 400 and writes nothing when it does not fit the junction: %j', async (metadata) => {
    await open()
    const before = server.dump()
    expect(outcome(await server.link('POST', path, { ids: [3], metadata }))).toBe('400 VALIDATION_FAILED')
    expect(server.dump()).toBe(before)
  })

  it('returns an error of the API, and writes nothing, when the database refuses it', async () => {
    await open()
    const before = server.dump()
    const { status, text } = await server.link('PUT', path, { ids: [3], metadata: { grade: 7 } })
    expect([status, /sqlite|constraint|grade <= 6/i.test(text)]).toEqual([400, false])
    expect(server.dump()).toBe(before)
  })

  it('returns 409 for a unique value of another link, instead of skipping the link silently', async () => {
    await open()
    const before = server.dump()
    expect(outcome(await server.link('POST', 'pupils/1/relations/rooms', { ids: ['north,2'], metadata: { code: 'x2' } }))).toBe(
      '409 CONFLICT',
    )
    expect(server.dump()).toBe(before)
    expect(outcome(await server.link('POST', 'pupils/1/relations/rooms', { ids: ['north,2'], metadata: { code: 'x3' } }))).toBe('200')
  })
})

describe('linking', () => {
  const needs = { pupils: 'update', courses: 'read' } as const

  it.each(Object.entries(needs))('requires the permission on its own side: %s %s', async (name, operation) => {
    await open({ auth: { [name]: { permissions: { ...OPEN, [operation]: 'linker' } } } })
    const before = server.dump()
    for (const method of ['PUT', 'POST', 'DELETE'] as const) {
      expect(outcome(await server.link(method, path, { ids: [3] }, ANONYMOUS))).toBe('401 UNAUTHENTICATED')
      expect(outcome(await server.link(method, path, { ids: [3] }))).toBe('403 FORBIDDEN')
    }
    expect(server.dump()).toBe(before)
    expect(outcome(await server.link('POST', path, { ids: [3] }, { ...ADA, permissions: ['linker'] }))).toBe('200')
  })

  it('requires neither read on its own side nor update on the other side', async () => {
    await open({ auth: { pupils: { permissions: { update: true } }, courses: { permissions: { read: true } } } })
    expect((await server.link('PUT', path, { ids: [3] })).body).toEqual({ added: 1, removed: 2, total: 1 })
  })

  it('returns 404 for a record that the caller cannot see', async () => {
    await open()
    const before = server.dump()
    for (const method of ['PUT', 'POST', 'DELETE'] as const) {
      expect(outcome(await server.link(method, 'pupils/11/relations/courses', { ids: [1] }))).toBe('404 NOT_FOUND')
      expect(outcome(await server.link(method, 'pupils/99/relations/courses', { ids: [1] }))).toBe('404 NOT_FOUND')
    }
    expect(server.dump()).toBe(before)
    expect(outcome(await server.link('PUT', 'pupils/11/relations/courses', { ids: [] }, ZOE))).toBe('200')
  })

  it('returns 403 for a record that the caller can only read, and 404 for one that the caller cannot read', async () => {
    await open({
      auth: { pupils: { permissions: OPEN, objectLevel: (row, ctx) => (row.id === 1 ? ctx.operation === 'read' : row.id !== 2) } },
    })
    const before = server.dump()
    expect(outcome(await server.link('PUT', path, { ids: [3] }))).toBe('403 FORBIDDEN')
    expect(outcome(await server.link('PUT', 'pupils/2/relations/courses', { ids: [3] }))).toBe('404 NOT_FOUND')
    expect(server.dump()).toBe(before)
    expect(outcome(await server.link('PUT', 'pupils/3/relations/courses', { ids: [3] }))).toBe('200')
  })
})
