/** Reading related records: a list of the visible records with visible links. */
import { sql } from 'drizzle-orm'
import { afterEach, describe, expect, it } from 'vitest'
import { ADA, OPEN, openServer, outcome, ANONYMOUS, ZOE, type LinksServer, type LinksServerOptions } from './links-server'

let server: LinksServer
const open = async (options?: LinksServerOptions) => server = await openServer(options)
afterEach(() => server.client.close())

const ids = (answer: { body: { data: { id: number }[] } }) => answer.body.data.map(({ id }) => id)

describe('related records', () => {
  it('exclude linked records of another tenant and in the trash', async () => {
    await open()
    const { status, body } = await server.get('pupils/1/relations/courses')
    expect([status, body]).toEqual([200, {
      data: [
        { id: 1, organizationId: 1, title: 'Art', level: 1, deletedAt: null },
        { id: 2, organizationId: 1, title: 'Biology', level: 2, deletedAt: null },
      ],
      meta: { page: 1, limit: 20, total: 2 },
    }])
  })

  it('can be read from the other side', async () => {
    await open()
    expect(ids(await server.get('courses/1/relations/pupils'))).toEqual([1, 2])
  })

  it.each([
    ['filter={"level":2}', [2]],
    ['filter[title][$like]=art', [1]],
    ['sort=-title', [2, 1]],
    ['limit=1', [1]],
    ['limit=1&page=2', [2]],
    ['page=9', []],
    ['sort=-id&fields=id', [2, 1]],
  ])('accept the parameters of a list: %s', async (query, expected) => {
    await open()
    expect(ids(await server.get(`pupils/1/relations/courses?${query}`))).toEqual(expected)
  })

  it('can be counted, also with a filter', async () => {
    await open()
    expect((await server.get('pupils/1/relations/courses?limit=1')).body.meta).toEqual({ page: 1, limit: 1, total: 2 })
    expect((await server.get('pupils/1/relations/courses?limit=1&count=none')).body.meta).toEqual({ page: 1, limit: 1, hasMore: true })
    expect((await server.get('pupils/1/relations/courses?filter={"level":2}')).body.meta.total).toBe(1)
  })

  it('appear once each in pages by cursor', async () => {
    await open()
    server.client.exec('insert into pupil_courses (pupil_id, course_id) values (1, 3), (1, 4)')
    const seen: number[] = []
    let cursor: string | null = ''
    for (let page = 0; cursor !== null && page < 9; page++) {
      const answer = await server.get(`pupils/1/relations/courses?sort=-level&limit=1&cursor=${encodeURIComponent(cursor)}`)
      expect(Object.keys(answer.body.meta).sort()).toEqual(['hasMore', 'limit', 'nextCursor'])
      seen.push(...ids(answer))
      cursor = answer.body.meta.nextCursor
    }
    expect(seen).toEqual([4, 2, 3, 1])
  })

  it('can include their own relations', async () => {
    await open()
    const { body } = await server.get('pupils/1/relations/courses?include=pupils[id]&fields=id')
    expect(body.data).toEqual([{ id: 1, pupils: [{ id: 1 }, { id: 2 }] }, { id: 2, pupils: [{ id: 1 }] }])
  })

  it.each([['filter={"budget":10}'], ['sort=budget'], ['fields=budget']])('return 400 for a hidden field: %s', async (query) => {
    await open()
    expect(outcome(await server.get(`pupils/1/relations/courses?${query}`))).toBe('400 UNKNOWN_FIELD')
  })

  it('can be read over to-one and to-many relations', async () => {
    await open()
    expect(ids(await server.get('pupils/2/relations/mentor'))).toEqual([1])
    expect((await server.get('pupils/1/relations/mentor')).body).toEqual({ data: [], meta: { page: 1, limit: 20, total: 0 } })
    expect(ids(await server.get('pupils/1/relations/pupils'))).toEqual([2, 3])
  })

  it('follow the direction of the link in a self-relation', async () => {
    await open()
    expect(ids(await server.get('pupils/1/relations/pupilsByPupil'))).toEqual([2])
    expect(ids(await server.get('pupils/1/relations/pupilsByFriend'))).toEqual([3])
  })

  it('can have a composite key on either side', async () => {
    await open()
    expect((await server.get('pupils/1/relations/rooms')).body.data).toEqual([{ house: 'north', number: 1, seats: 20 }])
    expect(ids(await server.get('rooms/north,1/relations/pupils'))).toEqual([1, 2])
  })

  it.each([['nothing'], ['constructor'], ['__proto__'], ['pupilCourses'], ['id']])(
    'return 404 for an unknown relation: %s',
    async (relation) => {
      await open()
      expect(outcome(await server.get(`pupils/1/relations/${relation}`))).toBe('404 NOT_FOUND')
    },
  )

  it.each([['missing', 99], ['of another tenant', 11], ['not an id', 'x']])('return 404 for a record that is %s', async (_reason, id) => {
    await open()
    expect(outcome(await server.get(`pupils/${id}/relations/courses`))).toBe('404 NOT_FOUND')
    expect(outcome(await server.get(`pupils/1/relations/courses`))).toBe('200')
  })

  it.each(['pupils', 'courses'] as const)('require read of %s: 401 anonymously, 403 signed in', async (refusing) => {
    await open({ auth: { [refusing]: { permissions: { read: 'reader' } } } })
    expect(outcome(await server.get('pupils/1/relations/courses', ANONYMOUS))).toBe('401 UNAUTHENTICATED')
    expect(outcome(await server.get('pupils/1/relations/courses'))).toBe('403 FORBIDDEN')
    expect(outcome(await server.get('pupils/1/relations/courses', { ...ADA, permissions: ['reader'] }))).toBe('200')
  })

  it('are filtered by listFilter and objectLevel of the other side, as is the total', async () => {
    await open({ auth: { courses: { permissions: OPEN, listFilter: table => sql`${table['title' as never]} <> 'Art'` } } })
    expect((await server.get('pupils/1/relations/courses?fields=id')).body).toEqual({
      data: [{ id: 2 }],
      meta: { page: 1, limit: 20, total: 1 },
    })
    server.client.close()
    await open({ auth: { courses: { permissions: OPEN, objectLevel: row => row.title !== 'Art' } } })
    expect((await server.get('pupils/1/relations/courses?fields=id')).body).toEqual({
      data: [{ id: 2 }],
      meta: { page: 1, limit: 20, total: 1 },
    })
  })
})

describe('includeMetadata', () => {
  it('adds the junction\'s columns of each link as JSON, without the two keys', async () => {
    await open()
    const { body } = await server.get('pupils/1/relations/courses?includeMetadata=true&fields=title')
    expect(body.data).toEqual([
      { title: 'Art', _junction: { grade: 2, joinedAt: '1970-01-02T00:00:00.000Z' } },
      { title: 'Biology', _junction: { grade: null, joinedAt: null } },
    ])
  })

  it('belongs to the records of the page, whatever the order of the links', async () => {
    await open()
    const { body } = await server.get('pupils/1/relations/courses?includeMetadata=true&sort=-id&limit=1&page=2&fields=id')
    expect(body.data).toEqual([{ id: 1, _junction: { grade: 2, joinedAt: '1970-01-02T00:00:00.000Z' } }])
  })

  it('stays with its record when a hook changes the order', async () => {
    await open({ hooks: { courses: { afterList: records => [...records].reverse() } } })
    const { body } = await server.get('pupils/1/relations/courses?includeMetadata=true&fields=title')
    expect(body.data).toEqual([
      { title: 'Biology', _junction: { grade: null, joinedAt: null } },
      { title: 'Art', _junction: { grade: 2, joinedAt: '1970-01-02T00:00:00.000Z' } },
    ])
  })

  it('finds links to composite keys', async () => {
    await open()
    expect((await server.get('pupils/1/relations/rooms?includeMetadata=true')).body.data).toEqual([
      { house: 'north', number: 1, seats: 20, _junction: { id: 1, code: 'x1' } },
    ])
  })

  it('adds nothing to a relation without a junction', async () => {
    await open()
    expect((await server.get('pupils/2/relations/mentor?includeMetadata=true&fields=id')).body.data).toEqual([{ id: 1 }])
  })

  it('contains only fields of a registered junction that the caller can read', async () => {
    await open({ auth: { memberships: { permissions: OPEN, fields: { fee: { read: 'bursar' } } } } })
    const path = 'pupils/1/relations/clubs?includeMetadata=true&fields=id'
    const shown = async (permissions: string[]) => (await server.get(path, { ...ADA, permissions })).body.data[0]._junction
    expect(await shown([])).toMatchObject({ role: 'captain' })
    expect(await shown([])).not.toHaveProperty('fee')
    expect(await shown(['bursar'])).toMatchObject({ role: 'captain', fee: 9 })
  })

  it('requires read of a registered junction, which a request without metadata does not', async () => {
    await open({ auth: { memberships: { permissions: { ...OPEN, read: 'registrar' } } } })
    expect(outcome(await server.get('pupils/1/relations/clubs?includeMetadata=true', ANONYMOUS))).toBe('401 UNAUTHENTICATED')
    expect(outcome(await server.get('pupils/1/relations/clubs?includeMetadata=true'))).toBe('403 FORBIDDEN')
    expect(outcome(await server.get('pupils/1/relations/clubs?includeMetadata=true', { ...ADA, permissions: ['registrar'] }))).toBe('200')
    expect(ids(await server.get('pupils/1/relations/clubs'))).toEqual([1])
  })

  it('accepts only true and false', async () => {
    await open()
    expect((await server.get('pupils/1/relations/courses?includeMetadata=false')).body.data[0]).not.toHaveProperty('_junction')
    expect((await server.get('pupils/1/relations/courses?includeMetadata=maybe')).status).toBe(400)
  })
})

describe('the links of a registered junction', () => {
  it.each([
    ['another tenant\'s', 'update memberships set organization_id = 2 where pupil_id = 1'],
    ['in the trash', 'update memberships set deleted_at = 1 where pupil_id = 1'],
  ])('are ignored when they are %s', async (_reason, change) => {
    await open()
    expect(ids(await server.get('pupils/1/relations/clubs'))).toEqual([1])
    server.client.exec(change)
    expect((await server.get('pupils/1/relations/clubs')).body).toEqual({ data: [], meta: { page: 1, limit: 20, total: 0 } })
  })

  it.each([
    ['listFilter', { listFilter: (table: unknown) => sql`${(table as { role: unknown }).role} <> 'captain'` }],
    ['objectLevel', { objectLevel: (row: Record<string, unknown>) => row.role !== 'captain' }],
  ])('are ignored when the %s of the junction hides them', async (_rule, rule) => {
    await open({ auth: { memberships: { permissions: OPEN, ...rule } } })
    expect(ids(await server.get('pupils/1/relations/clubs'))).toEqual([])
    expect(ids(await server.get('pupils/2/relations/clubs'))).toEqual([1])
    expect(ids(await server.get('clubs/1/relations/pupils', ZOE))).toEqual([11])
  })
})
