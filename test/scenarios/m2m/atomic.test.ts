/** Changes of links are atomic: several relations in one commit, database failures, concurrent requests, and the number of statements. */
import { afterEach, describe, expect, it } from 'vitest'
import { OPEN, openServer, outcome, type LinksServer, type LinksServerOptions } from './links-server'

let server: LinksServer
const open = async (options?: LinksServerOptions) => server = await openServer(options)
afterEach(() => server.client.close())

const linked = (pupil: number) =>
  (
    server.rows('course_id, 0', `pupil_courses where pupil_id = ${pupil} and course_id < 1000 and course_id not in (5, 11)`) as number[][]
  ).map(([id]) => id)
const several = (relations: unknown) => server.link('PUT', 'pupils/1/relations', { relations })

describe('replacing several relations of a record', () => {
  it('replaces all of them and returns the counts of each by name', async () => {
    await open()
    const { status, body } = await several({
      courses: { ids: [3], metadata: { grade: 1 } },
      clubs: { ids: [2, 3] },
      rooms: { ids: [] },
      pupilsByPupil: { ids: [3] },
    })
    expect([status, body]).toEqual([200, { relations: {
      courses: { added: 1, removed: 2, total: 1 },
      clubs: { added: 2, removed: 1, total: 2 },
      rooms: { added: 0, removed: 1, total: 0 },
      pupilsByPupil: { added: 1, removed: 1, total: 1 },
    } }])
    expect([
      linked(1),
      server.rows('club_id, role', 'memberships where pupil_id = 1 and deleted_at is null'),
      server.rows('id, 0', 'lockers where pupil_id = 1'),
      server.rows('*', 'friends'),
    ]).toEqual([
      [3],
      [
        [2, 'member'],
        [3, 'member'],
      ],
      [],
      [
        [1, 3],
        [3, 1],
      ],
    ])
  })

  it('does not change relations that the body does not name', async () => {
    await open()
    await several({ clubs: { ids: [] } })
    expect(linked(1)).toEqual([1, 2])
  })

  it.each([
    ['an unknown relation', { nothing: { ids: [1] } }, '404 NOT_FOUND'],
    ['a relation of no junction', { mentor: { ids: [1] } }, '404 NOT_FOUND'],
    ['an invisible id', { clubs: { ids: [99] } }, '404 NOT_FOUND'],
    ['ids of the wrong kind', { clubs: { ids: 1 } }, '400 INVALID_BODY'],
    ['metadata that does not fit', { clubs: { ids: [1], metadata: { nothing: 1 } } }, '400 VALIDATION_FAILED'],
    ['metadata that the database refuses', { rooms: { ids: ['north,2'], metadata: { code: 'x2' } } }, '409 CONFLICT'],
  ])('changes nothing when one relation has %s', async (_what, bad, answer) => {
    await open()
    const before = server.dump()
    expect(outcome(await several({ courses: { ids: [3] }, ...bad }))).toBe(answer)
    expect(outcome(await several({ ...bad, courses: { ids: [3] } }))).toBe(answer)
    expect(server.dump()).toBe(before)
  })

  it('changes nothing when the database fails halfway, and does not disclose the reason', async () => {
    await open()
    server.client.exec(
      `create trigger full before insert on memberships when new.club_id = 3 begin select raise(abort, 'the club is full'); end`,
    )
    const before = server.dump()
    const { status, text } = await several({ courses: { ids: [3] }, clubs: { ids: [2, 3] }, rooms: { ids: [] } })
    expect([status >= 400, /club is full|sqlite|trigger/i.test(text)]).toEqual([true, false])
    expect(server.dump()).toBe(before)
    expect((await several({ courses: { ids: [3] }, clubs: { ids: [2] } })).status).toBe(200)
  })

  it('changes nothing when the caller cannot link one of them', async () => {
    await open({ auth: { clubs: { permissions: { ...OPEN, read: false } } } })
    const before = server.dump()
    expect(outcome(await several({ courses: { ids: [3] }, clubs: { ids: [2] } }))).toBe('403 FORBIDDEN')
    expect(server.dump()).toBe(before)
  })

  it.each([[{}], [[]], [null], ['courses'], [undefined]])('returns 400 for anything but a non-empty object: %j', async (relations) => {
    await open()
    expect(outcome(await several(relations))).toBe('400 INVALID_BODY')
  })
})

describe('a change of links after a concurrent deletion', () => {
  it('returns 404 and writes nothing when the record was deleted meanwhile', async () => {
    await open({
      hooks: {
        pupils: {
          beforeLink: () => void server.client.exec('pragma foreign_keys = off; delete from pupils where id = 1; pragma foreign_keys = on'),
        },
      },
    })
    expect(outcome(await server.link('PUT', 'pupils/1/relations/courses', { ids: [3] }))).toBe('404 NOT_FOUND')
    expect(server.rows('course_id, 0', 'pupil_courses where pupil_id = 1')).toHaveLength(4)
  })

  it('returns 404 and writes nothing when a record to link was moved to the trash meanwhile', async () => {
    await open({ hooks: { pupils: { beforeLink: () => void server.client.exec('update courses set deleted_at = 1 where id = 3') } } })
    expect(outcome(await server.link('PUT', 'pupils/1/relations/courses', { ids: [3] }))).toBe('404 NOT_FOUND')
    expect(linked(1)).toEqual([1, 2])
  })
})

describe('thirty concurrent changes of links', () => {
  const together = (change: (index: number) => Promise<{ status: number, body: { added: number, removed: number } }>) =>
    Promise.all(Array.from({ length: 30 }, (_, index) => change(index)))

  it('add the same link once', async () => {
    await open()
    const answers = await together(() => server.link('POST', 'pupils/3/relations/courses', { ids: [1, 2] }))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(answers.reduce((sum, { body }) => sum + body.added, 0)).toBe(2)
    expect(linked(3)).toEqual([1, 2])
  })

  it('leave as many links as their counts of added and removed links say', async () => {
    await open()
    const answers = await together(index =>
      server.link(index % 2 ? 'POST' : 'DELETE', 'pupils/1/relations/courses', { ids: [1 + (index % 4)] }),
    )
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    const [added, removed] = [
      answers.reduce((sum, { body }) => sum + body.added, 0),
      answers.reduce((sum, { body }) => sum + body.removed, 0),
    ]
    expect(linked(1)).toHaveLength(2 + added - removed)
    expect((await server.get('pupils/1/relations/courses')).body.meta.total).toBe(linked(1).length)
  })

  it('leave one of the sent sets after replacements, never a mixture', async () => {
    await open()
    const sets = [[1, 2], [3], [2, 3, 4], []]
    const answers = await together(index => server.link('PUT', 'pupils/1/relations/courses', { ids: sets[index % 4] }))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(sets).toContainEqual(linked(1))
  })

  it('leave one row per link in a registered junction with soft delete', async () => {
    await open()
    const answers = await together(index => server.link(index % 2 ? 'POST' : 'DELETE', 'pupils/1/relations/clubs', { ids: [1] }))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(server.rows('pupil_id, club_id', 'memberships where pupil_id = 1')).toEqual([[1, 1]])
  })
})

describe('the number of statements', () => {
  const MANY = Array.from({ length: 100 }, (_, index) => 1000 + index)

  it.each([
    ['PUT', 'courses', {}], ['POST', 'courses', {}], ['DELETE', 'courses', {}],
    ['PUT', 'clubs', {}], ['POST', 'clubs', {}], ['DELETE', 'clubs', {}],
    ['PUT', 'courses', { courses: { permissions: OPEN, objectLevel: () => true } }],
  ] as const)('does not grow with the number of ids: %s %s', async (method, relation, auth) => {
    const sent: string[] = []
    await open({ auth, log: statement => sent.push(statement) })
    for (const id of MANY)
      server.client.exec(`insert into courses values (${id}, 1, 'c', 1, null, null); insert into clubs values (${id}, 'c')`)
    const count = async (ids: number[]) => {
      sent.length = 0
      const { status, body } = await server.link(method, `pupils/2/relations/${relation}`, { ids })
      expect([status, body.added]).toEqual([200, method === 'DELETE' ? 0 : ids.length])
      return sent.length
    }
    const one = await count([MANY[0]!])
    await server.link('PUT', `pupils/2/relations/${relation}`, { ids: [1] })
    if (relation === 'clubs') server.client.exec('delete from memberships where club_id >= 1000')
    expect([await count(MANY), one > 2]).toEqual([one, true])
  })

  it('does not grow with the number of related records that are read with metadata', async () => {
    const sent: string[] = []
    await open({ log: statement => sent.push(statement) })
    for (const id of MANY)
      server.client.exec(
        `insert into courses values (${id}, 1, 'c', 1, null, null); insert into pupil_courses values (2, ${id}, null, null)`,
      )
    const count = async (limit: number) => {
      sent.length = 0
      const { body } = await server.get(`pupils/2/relations/courses?includeMetadata=true&limit=${limit}`)
      return [body.data.length, sent.length]
    }
    const [[, one], [many, hundred]] = [await count(1) as [number, number], await count(100) as [number, number]]
    expect([many, hundred]).toEqual([100, one])
  })
})
