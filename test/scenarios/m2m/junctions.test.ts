/** The `_m2m` routes list junctions for signed-in callers. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ADA, openServer, ANONYMOUS, type LinksServer } from './links-server'

let server: LinksServer
beforeEach(async () => {
  server = await openServer()
})
afterEach(() => server.client.close())

const ROUTES = ['_m2m/junctions', '_m2m/is-junction/pupil_courses', '_m2m/detect/pupils']

describe('the junction routes', () => {
  it.each(ROUTES)('return 401 to anonymous callers: GET %s', async (path) => {
    for (const caller of [{}, ANONYMOUS, { user: null, permissions: ['*'] }]) {
      const { status, body } = await server.get(path, caller)
      expect([status, body.data]).toEqual([401, { code: 'UNAUTHENTICATED' }])
    }
    expect((await server.get(path, ADA)).status).toBe(200)
  })

  it('require a user, but neither a permission nor a tenant', async () => {
    for (const path of ROUTES) expect((await server.get(path, { user: { id: 5 } })).status).toBe(200)
  })

  it('list every junction once, with the resources that it joins', async () => {
    const { body } = await server.get('_m2m/junctions')
    expect({
      ...body,
      junctions: body.junctions.sort((a: { table: string }, b: { table: string }) => (a.table < b.table ? -1 : 1)),
    }).toEqual({
      count: 4,
      junctions: [
        { table: 'friends', resources: ['pupils'] },
        { table: 'lockers', resources: ['pupils', 'rooms'] },
        { table: 'memberships', resources: ['clubs', 'pupils'] },
        { table: 'pupil_courses', resources: ['courses', 'pupils'] },
      ],
    })
  })

  it.each([
    ['pupil_courses', true], ['pupilCourses', true], ['memberships', true], ['lockers', true],
    ['pupils', false], ['rooms', false], ['nothing', false], ['__proto__', false], ['sqlite_master', false],
  ])('return whether %s is a junction: %s', async (table, isJunction) => {
    expect((await server.get(`_m2m/is-junction/${table}`)).body).toEqual({ table, isJunction })
  })

  it('name many-to-many relations as the relation routes do', async () => {
    const { body } = await server.get('_m2m/detect/pupils')
    expect(body).toEqual({ resource: 'pupils', relationships: expect.any(Array) })
    expect(body.relationships.sort((a: { name: string }, b: { name: string }) => a.name < b.name ? -1 : 1)).toEqual([
      { name: 'clubs', resource: 'clubs', junction: 'memberships' },
      { name: 'courses', resource: 'courses', junction: 'pupil_courses' },
      { name: 'pupilsByFriend', resource: 'pupils', junction: 'friends' },
      { name: 'pupilsByPupil', resource: 'pupils', junction: 'friends' },
      { name: 'rooms', resource: 'rooms', junction: 'lockers' },
    ])
    for (const { name } of body.relationships) expect((await server.get(`pupils/1/relations/${name}`)).status).toBe(200)
  })

  it.each([['nothing'], ['lockers'], ['constructor']])('return 404 for a name that is not a registered resource: %s', async (name) => {
    expect((await server.get(`_m2m/detect/${name}`)).status).toBe(404)
  })
})
