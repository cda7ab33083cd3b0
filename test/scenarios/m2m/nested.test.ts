/** Links in the bodies of writes: they have the rights, the refusals and the effects of the relation routes. */
import { ne } from 'drizzle-orm'
import { createError } from 'h3'
import { afterEach, describe, expect, it } from 'vitest'
import { batch } from '../../../src/runtime/plugins'
import { defineAutoApiPlugin } from '../../../src/runtime/server/plugin/contract'
import type { Change } from '../../../src/runtime/server/core/extensions/changes'
import type { ResourceAuth, ResourceHooks } from '../../../src/runtime/server/registration'
import type { Answered, Caller } from '../../support/server'
import { ADA, ANONYMOUS, courses, OPEN, openServer, outcome, type LinksServer, type LinksServerOptions } from './links-server'

const NESTED = {
  courses: ['link', 'unlink'], clubs: ['link', 'unlink'], rooms: ['link', 'unlink'], pupilsByPupil: ['link', 'unlink'], pupils: ['create', 'update'],
} as const

const servers: LinksServer[] = []
afterEach(() => servers.splice(0).forEach(({ client }) => client.close()))

async function open({ registration, ...options }: LinksServerOptions = {}): Promise<LinksServer> {
  const pupils = { ...registration?.pupils, nested: NESTED }
  const server = await openServer({ ...options, registration: { ...registration, pupils } })
  servers.push(server)
  return server
}

type Action = 'link' | 'unlink'
const METHODS = { link: 'POST', unlink: 'DELETE' } as const

/** The same change by the relation route and in a body, each on a server of its own. */
async function both(options: LinksServerOptions, action: Action, relation: string, ids: readonly unknown[], caller: Caller = ADA, id = 1) {
  const [byRoute, inBody] = [await open(options), await open(options)]
  const before = inBody.dump()
  const route = await byRoute.link(METHODS[action], `pupils/${id}/relations/${relation}`, { ids }, caller)
  const body = await inBody.request('PATCH', `/api/pupils/${id}`, { caller, body: { [relation]: { [action]: ids } } })
  return { route, body, after: [byRoute.dump(), inBody.dump()] as const, before }
}

const only = (name: string, auth: ResourceAuth): LinksServerOptions => ({ auth: { [name]: auth } })
const without = (name: string, operation: string) => only(name, { permissions: { ...OPEN, [operation]: 'nobody' } as never })
const refuse = () => {
  throw createError({ statusCode: 409, message: 'Not in the holidays.' })
}

describe('a change in a body', () => {
  it.each([
    ['link', 'courses', [3, 4]], ['link', 'courses', [1, 3, '3', 3]], ['link', 'courses', []], ['link', 'clubs', [1, 2, 3]], ['link', 'rooms', ['north,2', 'a%2Cb,1']],
    ['link', 'pupilsByPupil', [3]], ['unlink', 'courses', [1, 3]], ['unlink', 'clubs', [1]], ['unlink', 'clubs', [2]], ['unlink', 'rooms', ['north,1']],
  ] as [Action, string, unknown[]][])('has the effect of the route: %s %s %j', async (action, relation, ids) => {
    for (const options of [{}, only('clubs', { permissions: OPEN, objectLevel: () => true }), only('memberships', { permissions: OPEN, objectLevel: () => true }),
      { hooks: { memberships: { beforeCreate: () => {}, beforeDelete: () => {} } } }]) {
      const { route, body, after } = await both(options, action, relation, ids)
      expect([route.status, body.status]).toEqual([200, 200])
      const withoutTimes = (dump: string) => dump.replaceAll(/\b\d{13}\b|[\da-f-]{36}/g, '…')
      expect(withoutTimes(after[1])).toBe(withoutTimes(after[0]))
    }
  })

  it.each([
    ['an id of another tenant', {}, 'courses', [3, 11], 1], ['an id in the trash', {}, 'courses', [5], 0], ['an absent id', {}, 'courses', [3, 4, 99], 2],
    ['an id that no row has', {}, 'courses', [3, 'x'], 1],
    ['a filtered id', only('courses', { permissions: OPEN, listFilter: () => ne(courses.title, 'Chess') }), 'courses', [1, 3], 1],
    ['an id hidden by code', only('courses', { permissions: OPEN, objectLevel: row => row.id !== 3 }), 'courses', [1, 3], 1],
    ['a target without permission', without('courses', 'read'), 'courses', [3]], ['an anonymous caller', without('courses', 'read'), 'courses', [3], undefined, ANONYMOUS],
    ['no permission to create links', without('memberships', 'create'), 'clubs', [2]], ['a hidden key', { registration: { courses: { hiddenFields: ['id'] } } }, 'courses', [3]],
    ['a field rule of the junction', only('memberships', { permissions: OPEN, fields: { clubId: { write: 'registrar' } } as never }), 'clubs', [2]],
    ['a hook of the junction', { hooks: { memberships: { beforeCreate: refuse } } }, 'clubs', [2]],
    ['a hook that changes the link', { hooks: { memberships: { beforeCreate: (data: object) => ({ ...data, clubId: 3 }) } as ResourceHooks } }, 'clubs', [2]],
    ['a hook of the record', { hooks: { pupils: { beforeLink: refuse } } }, 'courses', [3]],
    ['a record without permission', without('pupils', 'update'), 'courses', [3]], ['an invisible record', {}, 'courses', [3], undefined, ADA, 11],
    ['an absent record', {}, 'courses', [3], undefined, ADA, 77], ['a record that code refuses', only('pupils', { permissions: OPEN, objectLevel: (_, { operation }) => operation === 'read' }), 'courses', [3]],
  ] as [string, LinksServerOptions, string, unknown[], number?, Caller?, number?][])('refuses %s as the route does', async (_, options, relation, ids, position, caller, id) => {
    const { route, body, after, before } = await both(options, 'link', relation, ids, caller, id)
    expect([route.status >= 400, outcome(body), after[1]]).toEqual([true, outcome(route), before])
    const { path, ...data } = (body.body.data ?? {}) as { path?: string }
    expect([data, body.body.message]).toEqual([route.body.data ?? {}, route.body.message])
    if (position !== undefined) expect(path).toBe(`${relation}.link[${position}]`)
  })

  it.each([
    ['an absent id', {}, 'courses', [1, 99]], ['an invisible id', {}, 'courses', [1, 11]], ['no permission', without('memberships', 'delete'), 'clubs', [1]],
    ['a junction that requires tags', { registration: { memberships: { requireIfMatch: true } } }, 'clubs', [1]],
    ['a link that code refuses', only('memberships', { permissions: OPEN, objectLevel: (_, { operation }) => operation !== 'delete' }), 'clubs', [1]],
    ['a hook of the junction', { hooks: { memberships: { beforeDelete: refuse } } }, 'clubs', [1]],
  ] as [string, LinksServerOptions, string, unknown[]][])('does not unlink %s, as the route does not', async (_, options, relation, ids) => {
    const { route, body, after, before } = await both(options, 'unlink', relation, ids)
    const { path: _path, ...data } = (body.body.data ?? {}) as { path?: string }
    expect([route.status >= 400, outcome(body), after[1], data]).toEqual([true, outcome(route), before, route.body.data ?? {}])
  })

  it('answers an invisible id like an absent one', async () => {
    const server = await open()
    const answer = async (method: string, path: string, body: (id: number) => object, id: number) => {
      const { status, text } = await server.request(method, `/api/${path}`, { caller: ADA, body: body(id) })
      return [status, text.replaceAll(String(id), 'ID')]
    }
    for (const [method, path, body] of [
      ['PATCH', 'pupils/1', (id: number) => ({ courses: { link: [id] } })], ['PATCH', 'pupils/1', (id: number) => ({ courses: { unlink: [id] } })],
      ['POST', 'pupils', (id: number) => ({ name: 'Dan', courses: { link: [1, id] } })],
      ['PATCH', 'pupils/bulk', (id: number) => ({ items: [{ id: 2, data: { courses: { link: [id] } } }] })],
    ] as const) expect(await answer(method, path, body, 11)).toEqual(await answer(method, path, body, 91))
  })
})

describe('a new record', () => {
  const linksOf = (server: LinksServer, id: number) => ['pupil_courses:course_id', 'memberships:club_id', 'lockers:number', 'friends:friend_id'].map((name) => {
    const [table, column] = name.split(':')
    return server.rows(`${column}, 0`, `${table} where pupil_id = ${id}`).map(row => (row as number[])[0])
  })

  it('is linked by its generated key, over every kind of junction', async () => {
    const server = await open()
    const { status, body } = await server.link('POST', 'pupils', {
      name: 'Dan', courses: { link: [1, 3, '3'], unlink: [2] }, clubs: { link: [2, 3] }, rooms: { link: ['north,2'] }, pupilsByPupil: { link: [1] },
    })
    expect([status, body.name, linksOf(server, body.id)]).toEqual([201, 'Dan', [[1, 3], [2, 3], [2], [1]]])
    expect(server.rows('organization_id, role', `memberships where pupil_id = ${body.id}`)).toEqual([[1, 'member'], [1, 'member']])
  })

  it('is linked in a bulk, at every level', async () => {
    const server = await open()
    const { status, body } = await server.link('POST', 'pupils/bulk', { items: [
      { name: 'Dan', courses: { link: [1] }, pupils: { create: [{ name: 'Eve', courses: { link: [3] } }, { name: 'Fay' }] } }, { name: 'Gus', clubs: { link: [1, 2] } },
    ] })
    expect([status, body.data.map(({ id }: { id: number }) => linksOf(server, id).slice(0, 2))]).toEqual([200, [[[1], []], [[], [1, 2]]]])
    const [eve] = server.rows('id, 0', `pupils where name = 'Eve'`) as [[number]]
    expect(linksOf(server, eve[0])[0]).toEqual([3])
  })

  it.each([
    ['the route\'s 404', {}, 'courses', [1, 11], '404 NOT_FOUND', 'courses.link[1]'], ['a permission', without('memberships', 'create'), 'clubs', [1], '403 FORBIDDEN', 'clubs.link'],
    ['a field rule', only('memberships', { permissions: OPEN, fields: { pupilId: { write: 'registrar' } } as never }), 'clubs', [1], '403 FIELD_FORBIDDEN', 'clubs.link[0]'],
    ['a hook of the junction', { hooks: { memberships: { beforeCreate: refuse } } }, 'clubs', [1], '409', undefined],
    ['a hook that changes the link', { hooks: { memberships: { beforeCreate: (data: object) => ({ ...data, clubId: 3 }) } as ResourceHooks } }, 'clubs', [2], '403 FIELD_FORBIDDEN', 'clubs.link[0]'],
  ] as [string, LinksServerOptions, string, unknown[], string, string?][])('is not written after %s', async (_, options, relation, ids, expected, path) => {
    const server = await open(options)
    const before = server.dump()
    const answer = await server.link('POST', 'pupils', { name: 'Dan', [relation]: { link: ids } })
    expect([outcome(answer), answer.body.data?.path, server.dump()]).toEqual([expected, path, before])
  })

  it('keeps its key, whatever a hook of the junction sets', async () => {
    const beforeCreate = (data: object) => ({ ...data, pupilId: 2, fee: 5 })
    const server = await open({ hooks: { memberships: { beforeCreate } as ResourceHooks } })
    const { body } = await server.link('POST', 'pupils', { name: 'Dan', clubs: { link: [2] } })
    expect(server.rows('club_id, fee', `memberships where pupil_id = ${body.id}`)).toEqual([[2, 5]])
  })
})

describe('hooks', () => {
  it.each(['update', 'create'] as const)('run as for the route, around the write of the record: %s', async (operation) => {
    const calls: unknown[] = []
    const log = (name: string) => (...args: unknown[]) => void calls.push([name, ...args.slice(0, -1)])
    const server = await open({ hooks: {
      pupils: { beforeUpdate: () => void calls.push(['beforeUpdate']), beforeCreate: () => void calls.push(['beforeCreate']),
        afterUpdate: () => void calls.push(['afterUpdate']), afterCreate: () => void calls.push(['afterCreate']), beforeLink: log('beforeLink'), afterLink: log('afterLink') },
      memberships: { beforeCreate: ({ clubId }: { clubId: number }) => void calls.push(['new membership', clubId]),
        afterCreate: ({ clubId, pupilId }: Record<string, unknown>) => void calls.push(['membership', clubId, typeof pupilId]) },
    } as never })
    const body = { name: 'Dan', courses: { link: [3] }, clubs: { link: [2] } }
    await (operation === 'update' ? server.request('PATCH', '/api/pupils/1', { caller: ADA, body }) : server.link('POST', 'pupils', body))
    const name = operation === 'update' ? 'Update' : 'Create'
    const totals = operation === 'update' ? [3, 2] : [1, 1]
    expect(calls).toEqual([
      [`before${name}`], ['beforeLink', 'courses', ['3']], ['beforeLink', 'clubs', ['2']], ['new membership', 2], [`after${name}`],
      ['afterLink', 'courses', { relation: 'courses', added: 1, removed: 0, total: totals[0] }], ['membership', 2, 'number'],
      ['afterLink', 'clubs', { relation: 'clubs', added: 1, removed: 0, total: totals[1] }],
    ])
  })
})

it('reports the changes of the route to plugins, marked as those of a body', async () => {
  const changes: Change[] = []
  const plugin = defineAutoApiPlugin({ name: 'listener', onCommit: all => void changes.push(...all) })
  const server = await open({ plugins: [plugin] })
  const kinds = () => changes.splice(0).map(({ resource, kind, id, nested }) => [resource, kind, id, nested])
  await server.request('PATCH', '/api/pupils/1', { caller: ADA, body: { clubs: { link: [2], unlink: [1] } } })
  expect(kinds()).toEqual([['memberships', 'unlink', '1,1', true], ['memberships', 'link', '1,2', true]])
  const { body } = await server.link('POST', 'pupils', { name: 'Dan', clubs: { link: [2] } })
  expect(kinds()).toEqual([['pupils', 'create', String(body.id), undefined], ['memberships', 'link', `${body.id},2`, true]])
})

describe('a body', () => {
  const issuesOf = ({ body }: Answered) => (body.data?.issues as { path: unknown[] }[] | undefined)?.map(({ path }) => path)
  it.each([
    [{ courses: { link: [{ id: 1 }] } }, ['courses', 'link', 0]], [{ courses: { link: 1 } }, ['courses', 'link']], [{ courses: [1] }, ['courses']],
    [{ courses: { create: [{}] } }, ['courses', 'create']], [{ courses: { link: [1, 3], unlink: [2, '3'] } }, ['courses', 'link', 1]],
  ])('%j is refused', async (body, path) => {
    const server = await open()
    const before = server.dump()
    const answer = await server.request('PATCH', '/api/pupils/1', { caller: ADA, body })
    expect([outcome(answer), issuesOf(answer), server.dump()]).toEqual(['400 VALIDATION_FAILED', [path], before])
  })

  it('has at most 500 ids, as of other children', async () => {
    const server = await open()
    const link = Array.from({ length: 501 }, () => 1)
    expect(outcome(await server.link('POST', 'pupils', { name: 'x', courses: { link } }))).toBe('400 LIMIT_EXCEEDED')
  })

  it('is written whole, or not at all', async () => {
    const server = await open()
    const before = server.dump()
    const answer = await server.request('PATCH', '/api/pupils/bulk', { caller: ADA, body: { items: [
      { id: 1, data: { name: 'A', courses: { link: [3], unlink: [1] } } }, { id: 2, data: { clubs: { link: [2, 77] } } }, { id: 11, data: { courses: { link: [1] } } },
    ] } })
    expect([outcome(answer), server.dump()]).toEqual(['404 BULK_FAILED', before])
    expect(answer.body.data.errors).toEqual([expect.objectContaining({ index: 1, path: 'clubs.link[1]' }), expect.objectContaining({ index: 2, statusCode: 404 })])
  })

  it('changes nothing in a dry run', async () => {
    const server = await open()
    const before = server.dump()
    for (const [method, path] of [['POST', 'pupils'], ['PATCH', 'pupils/1']] as const) {
      const body = { name: 'x', courses: { link: [3] }, clubs: { link: [2] } }
      const { status } = await server.request(method, `/api/${path}?dryRun=true`, { caller: ADA, body })
      expect([status < 300, server.dump()]).toEqual([true, before])
    }
  })

  it('is described with the ids that the caller can link', async () => {
    const described = async (options: LinksServerOptions) => (await (await open(options)).get('_schema')).body.resources.pupils
    const { validation, relations } = await described({})
    expect(Object.keys(validation.create.properties.courses.properties)).toEqual(['link', 'unlink'])
    expect(relations.clubs.nested).toEqual(['link', 'unlink'])
    expect((await described(without('memberships', 'delete'))).relations.clubs.nested).toEqual(['link'])
    expect((await described(without('clubs', 'read'))).validation.update.properties.clubs).toBe(undefined)
  })
})

describe('the steps of a batch', () => {
  const steps = (server: LinksServer, given: object[]) => server.link('POST', 'batch', { steps: given })
  const update = (data: object, id: unknown = 1) => ({ resource: 'pupils', operation: 'update', id, data })

  it('link and unlink, also the record of an earlier step', async () => {
    const server = await open({ plugins: [batch()] })
    const { status, body } = await steps(server, [
      { resource: 'pupils', operation: 'create', data: { name: 'Dan', courses: { link: [1] } }, as: 'dan' }, update({ clubs: { link: [2] } }, { $ref: 'dan.id' }),
      update({ courses: { link: [3], unlink: [1] } }), update({ clubs: { unlink: [1] } }, 2),
    ])
    const { id } = body.data[0]
    expect([status, server.rows('course_id, 0', `pupil_courses where pupil_id = ${id}`), server.rows('club_id, 0', `memberships where pupil_id = ${id}`)])
      .toEqual([200, [[1, 0]], [[2, 0]]])
    expect(server.rows('course_id, 0', 'pupil_courses where pupil_id = 1')).toEqual([[2, 0], [3, 0], [5, 0], [11, 0]])
    expect(server.rows('club_id, 0', 'memberships where pupil_id = 2 and deleted_at is null')).toEqual([])
  })

  it.each([
    ['an id that an earlier step deletes', [{ resource: 'courses', operation: 'delete', id: 3 }, update({ courses: { link: [3] } })], '404', 1],
    ['the links that an earlier step changes', [update({ courses: { link: [3] } }), update({ courses: { unlink: [3] } })], '400', 1],
    ['the links of a new record, by its reference', [
      { resource: 'pupils', operation: 'create', data: { name: 'Dan', courses: { link: [1] } }, as: 'dan' }, update({ courses: { unlink: [1] } }, { $ref: 'dan.id' }),
    ], '400', 1],
    ['the links of a record that a field names', [
      { resource: 'pupils', operation: 'create', data: { name: 'Dan', mentorId: 2 }, as: 'dan' }, update({ clubs: { unlink: [1] } }, 2),
      update({ clubs: { link: [1] } }, { $ref: 'dan.mentorId' }),
    ], '400', 2],
    ['an absent id', [update({ name: 'x' }), update({ clubs: { link: [77] } }, 2)], '404', 1],
  ] as [string, object[], string, number][])('do not change %s', async (_, given, status, step) => {
    const server = await open({ plugins: [batch()] })
    const before = server.dump()
    const answer = await steps(server, given)
    const failed = answer.body.data.errors.map(({ step }: { step: number }) => step)
    expect([outcome(answer).slice(0, 3), failed, server.dump()]).toEqual([status, [step], before])
  })
})

describe('a record that another request changes meanwhile', () => {
  const during = (statement: string): LinksServerOptions => {
    const own: LinksServerOptions = { hooks: { pupils: { beforeLink: () => void servers.at(-1)!.client.exec(statement) } } }
    return own
  }

  it.each([
    ['a course is removed', 'courses', 3, `update courses set deleted_at = 1 where id = 3`, 404],
    ['the link is added', 'courses', 3, 'insert into pupil_courses (pupil_id, course_id) values (1, 3)', 200],
    ['a membership is added', 'clubs', 2, 'insert into memberships (pupil_id, club_id, organization_id) values (1, 2, 1)', 200],
  ] as const)('is answered as by the route: %s', async (_, relation, id, statement, status) => {
    const byRoute = await open(during(statement))
    const route = await byRoute.link('POST', `pupils/1/relations/${relation}`, { ids: [id] })
    const inBody = await open(during(statement))
    const body = await inBody.request('PATCH', '/api/pupils/1', { caller: ADA, body: { [relation]: { link: [id] } } })
    const { path: _path, ...data } = (status === 404 ? body.body.data : {}) as { path?: string }
    expect([route.status, body.status, data]).toEqual([status, status, status === 404 ? route.body.data : {}])
    const linked = (server: LinksServer) => server.dump().replaceAll(/\b\d{13}\b/g, '…')
    expect(linked(inBody)).toBe(linked(byRoute))
  })
})
