/** Links over a registered junction are creates and deletes of the junction: the relation routes enforce all of its rules. */
import { sql } from 'drizzle-orm'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { createError } from 'h3'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ResourceAuth, ResourceHooks } from '../../../src/runtime/server/registration'
import type { AutoApiContext } from '../../../src/runtime/server/define'
import { serveTables, type TablesServer } from '../../support/tables-server'
import { ADA, OPEN, openServer, outcome, ANONYMOUS, type LinksServer, type LinksServerOptions } from './links-server'

let server: LinksServer
const open = async (options?: LinksServerOptions) => server = await openServer(options)
afterEach(() => server?.client.close())

const path = 'pupils/1/relations/clubs'
const active = () => server.rows('club_id, role', 'memberships where pupil_id = 1 and deleted_at is null')
const column = (table: unknown, name: string) => (table as Record<string, unknown>)[name]

/** Ada can see all of her memberships, and cannot delete the captain's. */
const NO_CAPTAIN: Record<string, Partial<ResourceAuth>> = {
  objectLevel: { objectLevel: (row, ctx) => ctx.operation !== 'delete' || (row as { role: string }).role !== 'captain' },
  listFilter: { listFilter: (table, ctx) => ctx.operation === 'delete' ? sql`${column(table, 'role')} <> 'captain'` : undefined },
}

describe('adding a link that exists already, but that the caller cannot see', () => {
  const HIDDEN: Record<string, Partial<ResourceAuth>> = {
    objectLevel: { objectLevel: row => (row as { role: string }).role !== 'captain' },
    listFilter: { listFilter: table => sql`${column(table, 'role')} <> 'captain'` },
  }
  const REFUSALS: Record<string, Pick<LinksServerOptions, 'hooks' | 'registration'> & { fields?: object, body?: object, outcome: string }>
    = {
      'a hook that refuses': {
        outcome: '409',
        hooks: {
          memberships: {
            beforeCreate: () => {
              throw createError({ statusCode: 409, message: 'No.' })
            },
          },
        },
      },
      'a field rule of a key': { outcome: '403 FIELD_FORBIDDEN', fields: { clubId: { write: 'staff' } } },
      'a field rule of metadata': { outcome: '403 FIELD_FORBIDDEN', fields: { fee: { write: 'staff' } }, body: { metadata: { fee: 1 } } },
      'a schema that requires metadata': {
        outcome: '400 VALIDATION_FAILED',
        registration: { memberships: { validation: { create: z.object({ fee: z.number() }) } } },
      },
    }
  const CASES = Object.entries(HIDDEN).flatMap(([rule, auth]) =>
    Object.entries(REFUSALS).map(([what, refusal]) => [what, rule, auth, refusal] as const),
  )

  it.each(CASES)(
    'returns the error of %s, as if it did not exist: %s',
    async (_what, _rule, auth, { fields, body, outcome: expected, ...options }) => {
      await open({ ...options, auth: { memberships: { permissions: OPEN, ...auth, fields } as ResourceAuth } })
      for (const method of ['POST', 'PUT'] as const) {
        const existing = await server.link(method, path, { ids: [1], ...body })
        const missing = await server.link(method, path, { ids: [2], ...body })
        expect([outcome(existing), existing.text]).toEqual([expected, missing.text])
      }
      expect(active()).toEqual([[1, 'captain']])
    },
  )

  it.each(Object.entries(HIDDEN))('adds none: %s', async (_rule, auth) => {
    await open({ auth: { memberships: { permissions: OPEN, ...auth } }, hooks: { memberships: { beforeCreate: () => {} } } })
    expect((await server.link('PUT', path, { ids: [1, 2] })).body).toEqual({ added: 1, removed: 0, total: 1 })
    expect(active()).toEqual([[1, 'captain'], [2, 'member']])
  })
})

describe('removing a link over a registered junction', () => {
  it.each(Object.entries(NO_CAPTAIN))(
    'returns 403 when the %s of the junction shows the link and refuses its deletion',
    async (_rule, rule) => {
      await open({ auth: { memberships: { permissions: OPEN, ...rule } } })
      const before = server.dump()
      expect(outcome(await server.link('DELETE', path, { ids: [1] }))).toBe('403 FORBIDDEN')
      expect(outcome(await server.link('PUT', path, { ids: [] }))).toBe('403 FORBIDDEN')
      expect(outcome(await server.link('PUT', 'pupils/1/relations', { relations: { clubs: { ids: [2] } } }))).toBe('403 FORBIDDEN')
      expect(outcome(await server.link('DELETE', path, { ids: [1] }, ANONYMOUS))).toBe('401 UNAUTHENTICATED')
      expect(server.dump()).toBe(before)
    },
  )

  it.each(Object.entries(NO_CAPTAIN))('does not check or remove links that it does not name: %s', async (_rule, rule) => {
    await open({ auth: { memberships: { permissions: OPEN, ...rule } } })
    expect((await server.link('PUT', path, { ids: [1, 2] })).body).toEqual({ added: 1, removed: 0, total: 2 })
    expect((await server.link('DELETE', path, { ids: [2] })).body).toEqual({ added: 0, removed: 1, total: 1 })
    expect(active()).toEqual([[1, 'captain']])
  })

  it('skips a link that the caller cannot see, and succeeds', async () => {
    await open({ auth: { memberships: { permissions: OPEN, objectLevel: row => row.role !== 'captain' } } })
    expect((await server.link('PUT', path, { ids: [] })).body).toEqual({ added: 0, removed: 0, total: 0 })
    expect(active()).toEqual([[1, 'captain']])
  })

  it('runs beforeDelete and afterDelete of the junction for each removed link', async () => {
    const calls: unknown[] = []
    const note = (name: string) => (id: unknown, ctx: AutoApiContext) =>
      void calls.push([name, id, ctx.resource, ctx.operation, active().length])
    await open({ hooks: { memberships: { beforeDelete: note('before'), afterDelete: note('after') } as ResourceHooks } })
    server.client.exec('insert into memberships (pupil_id, club_id, organization_id) values (1, 2, 1)')
    expect((await server.link('PUT', path, { ids: [3] })).body).toEqual({ added: 1, removed: 2, total: 1 })
    expect(calls).toEqual([
      ['before', '1,1', 'memberships', 'delete', 2], ['before', '1,2', 'memberships', 'delete', 2],
      ['after', '1,1', 'memberships', 'delete', 1], ['after', '1,2', 'memberships', 'delete', 1],
    ])
  })

  it.each(['PUT', 'DELETE'] as const)('fails with the error that beforeDelete of the junction throws: %s', async (method) => {
    const refuse = () => Promise.reject(createError({ statusCode: 409, message: 'Not in the holidays.' }))
    await open({ hooks: { memberships: { beforeDelete: refuse } } })
    const before = server.dump()
    expect((await server.link(method, path, { ids: method === 'PUT' ? [2] : [1] })).status).toBe(409)
    expect(server.dump()).toBe(before)
  })

  it('returns 428 if the junction requires tags, after the permissions and whatever links exist', async () => {
    await open({ registration: { memberships: { requireIfMatch: true } } })
    const before = server.dump()
    for (const [method, url, body] of [
      ['DELETE', path, { ids: [1] }],
      ['DELETE', path, { ids: [3] }],
      ['DELETE', 'pupils/999/relations/clubs', { ids: [1] }],
      ['PUT', path, { ids: [] }],
      ['PUT', 'pupils/1/relations', { relations: { clubs: { ids: [2] } } }],
    ] as const)
      expect([method, url, outcome(await server.link(method, url, body))]).toEqual([method, url, '428 PRECONDITION_REQUIRED'])
    expect(outcome(await server.link('DELETE', path, { ids: ['x'] }))).toBe('404 NOT_FOUND')
    expect(server.dump()).toBe(before)
    expect((await server.link('POST', path, { ids: [2] })).body).toEqual({ added: 1, removed: 0, total: 2 })
    const tag = (await server.get('memberships/1,2')).headers.get('etag')!
    expect((await server.request('DELETE', '/api/memberships/1,2', { caller: ADA, headers: { 'if-match': tag } })).status).toBe(200)
    await open({
      registration: { memberships: { requireIfMatch: true } },
      auth: { memberships: { permissions: { ...OPEN, delete: 'nobody' } } },
    })
    expect(outcome(await server.link('DELETE', path, { ids: [1] }))).toBe('403 FORBIDDEN')
  })

  it('moves the link and its dependents to the trash', async () => {
    const notes = sqliteTable('notes', {
      id: integer('id').primaryKey(),
      joinId: integer('join_id').references(() => joins.id),
      deletedAt: integer('deleted_at'),
      deletionId: text('deletion_id'),
    })
    const people = sqliteTable('people', { id: integer('id').primaryKey() })
    const teams = sqliteTable('teams', { id: integer('id').primaryKey() })
    const joins = sqliteTable('joins', {
      id: integer('id').primaryKey(),
      personId: integer('person_id').references(() => people.id),
      teamId: integer('team_id').references(() => teams.id),
      deletedAt: integer('deleted_at'),
      deletionId: text('deletion_id'),
    })
    const authorization = { permissions: OPEN }
    const server = await serveTables(
      `
      create table people (id integer primary key); create table teams (id integer primary key);
      create table joins (id integer primary key, person_id integer, team_id integer, deleted_at integer, deletion_id text);
      create table notes (id integer primary key, join_id integer, deleted_at integer, deletion_id text);
      insert into people values (1); insert into teams values (1), (2); insert into joins (id, person_id, team_id) values (5, 1, 1), (6, 1, 2); insert into notes (id, join_id) values (7, 5), (8, 6);
    `,
      [{ people, teams, joins, notes }],
      {
        people: { schema: people, authorization },
        teams: { schema: teams, authorization },
        joins: { schema: joins, authorization },
        notes: { schema: notes, authorization },
      },
      { m2m: { autoDetect: true, relations: { joins: ['people', 'teams'] } } },
    )
    expect((await server.request('PUT', '/api/people/1/relations/teams', { body: { ids: [2] } })).body).toEqual({
      added: 0,
      removed: 1,
      total: 1,
    })
    expect((await server.request('GET', '/api/notes?fields=id')).body.data).toEqual([{ id: 8 }])
    expect((await server.request('POST', '/api/joins/5/restore')).status).toBe(200)
    expect((await server.request('GET', '/api/notes?fields=id')).body.meta.total).toBe(2)
  })
})

describe('adding a link over a registered junction', () => {
  it('requires write access to the key columns: 403, or 401 anonymously', async () => {
    await open({ auth: { memberships: { permissions: OPEN, fields: { clubId: { write: 'registrar' } } } } })
    const before = server.dump()
    const refused = await server.link('POST', path, { ids: [2] })
    expect([refused.status, refused.body.data]).toEqual([403, { code: 'FIELD_FORBIDDEN', fields: ['clubId'] }])
    expect(outcome(await server.link('POST', 'clubs/2/relations/pupils', { ids: [1] }))).toBe('403 FIELD_FORBIDDEN')
    expect(outcome(await server.link('PUT', path, { ids: [1, 2] }, ANONYMOUS))).toBe('401 FIELD_FORBIDDEN')
    expect(server.dump()).toBe(before)
    expect(outcome(await server.link('PUT', path, { ids: [1] }))).toBe('200')
    expect(outcome(await server.link('POST', path, { ids: [2] }, { ...ADA, permissions: ['registrar'] }))).toBe('200')
  })

  it('runs beforeCreate and afterCreate of the junction for each new link, and not for existing links', async () => {
    const calls: unknown[] = []
    await open({ hooks: { memberships: {
      beforeCreate: (data, ctx) => {
        calls.push(['before', { ...data }, ctx.resource, ctx.operation, active().length])
        return { ...data, fee: 5 }
      },
      afterCreate: (record, ctx) => void calls.push(['after', record.clubId, record.fee, record.role, ctx.operation, active().length]),
    } } })
    expect((await server.link('PUT', path, { ids: [1, 2, 3], metadata: { role: 'cox' } })).body).toEqual({ added: 2, removed: 0, total: 3 })
    expect(calls).toEqual([
      ['before', { pupilId: 1, clubId: 2, role: 'cox' }, 'memberships', 'create', 1],
      ['before', { pupilId: 1, clubId: 3, role: 'cox' }, 'memberships', 'create', 1],
      ['after', 2, 5, 'cox', 'create', 3],
      ['after', 3, 5, 'cox', 'create', 3],
    ])
    expect(active()).toEqual([[1, 'captain'], [2, 'cox'], [3, 'cox']])
  })

  it('runs the create hooks for a link that it restores from the trash', async () => {
    const calls: unknown[] = []
    await open({
      hooks: {
        memberships: {
          beforeCreate: data => ({ ...data, role: 'again' }),
          afterCreate: record => void calls.push([record.clubId, record.role]),
        },
      },
    })
    await server.link('DELETE', path, { ids: [1] })
    expect((await server.link('POST', path, { ids: [1] })).body).toEqual({ added: 1, removed: 0, total: 1 })
    expect([calls, active()]).toEqual([[[1, 'again']], [[1, 'again']]])
  })

  it('discards the former values of a link that it restores, which the caller might lack permission for', async () => {
    await open({ auth: { memberships: { permissions: OPEN, fields: { role: { write: 'registrar' }, fee: { write: 'registrar' } } } } })
    await server.link('POST', path, { ids: [2], metadata: { fee: 7 } }, { ...ADA, permissions: ['registrar'] })
    await server.link('DELETE', path, { ids: [1, 2] })
    expect(outcome(await server.link('POST', path, { ids: [1, 2], metadata: { role: 'captain' } }))).toBe('403 FIELD_FORBIDDEN')
    expect((await server.link('POST', path, { ids: [1, 2] })).body).toEqual({ added: 2, removed: 0, total: 2 })
    expect(server.rows('club_id, role, fee, organization_id', 'memberships where pupil_id = 1 and deleted_at is null'))
      .toEqual([[1, 'member', null, 1], [2, 'member', null, 1]])
  })

  it('returns an error when a hook changes which records it links', async () => {
    await open({ hooks: { memberships: { beforeCreate: data => ({ ...data, pupilId: 2 }) } } })
    const before = server.dump()
    expect(outcome(await server.link('POST', path, { ids: [2] }))).toBe('403 FIELD_FORBIDDEN')
    expect(server.dump()).toBe(before)
  })
})

describe('the validation of a registered junction', () => {
  const posts = sqliteTable('posts', { id: integer('id').primaryKey() })
  const tags = sqliteTable('tags', { id: integer('id').primaryKey() })
  const postTags = sqliteTable(
    'post_tags',
    {
      postId: integer('post_id')
        .notNull()
        .references(() => posts.id),
      tagId: integer('tag_id')
        .notNull()
        .references(() => tags.id),
      weight: integer('weight').notNull(),
      note: text('note'),
    },
    t => [primaryKey({ columns: [t.postId, t.tagId] })],
  )
  const DDL = `
    create table posts (id integer primary key); create table tags (id integer primary key);
    create table post_tags (post_id integer, tag_id integer, weight integer not null, note text, primary key (post_id, tag_id));
    insert into posts values (1); insert into tags values (1), (2), (3); insert into post_tags values (1, 1, 7, null);`
  const authorization = { permissions: OPEN }
  const start = (create?: z.ZodType): Promise<TablesServer> =>
    serveTables(DDL, [{ posts, tags, postTags }], {
      posts: { schema: posts, authorization },
      tags: { schema: tags, authorization },
      postTags: { schema: postTags, authorization, ...(create && { validation: { create } }) },
    })
  const link = (server: TablesServer, body: unknown, method = 'POST') => server.request(method, '/api/posts/1/relations/tags', { body })

  it.each([
    ['made from its table', undefined],
    ['of its metadata', z.object({ weight: z.number().max(9), note: z.string().optional() })],
    [
      'of all its columns',
      z.strictObject({ postId: z.number(), tagId: z.number(), weight: z.number().max(9), note: z.string().optional() }),
    ],
  ])('validates a new link like a create, with a schema %s', async (_which, schema) => {
    const server = await start(schema)
    expect((await link(server, { ids: [2] })).body.data.code).toBe('VALIDATION_FAILED')
    expect((await link(server, { ids: [2], metadata: { weight: 'x' } })).body.data.code).toBe('VALIDATION_FAILED')
    expect((await link(server, { ids: [2], metadata: { weight: 1, nothing: 1 } })).body.data.code).toBe('VALIDATION_FAILED')
    if (schema) expect((await link(server, { ids: [2], metadata: { weight: 10 } })).body.data.code).toBe('VALIDATION_FAILED')
    expect(server.rows('post_tags')).toEqual([[1, 1, 7, null]])
    expect((await link(server, { ids: [2], metadata: { weight: 3 } })).body).toEqual({ added: 1, removed: 0, total: 2 })
    expect(server.rows('post_tags')).toEqual([
      [1, 1, 7, null],
      [1, 2, 3, null],
    ])
  })

  it('does not validate an existing link', async () => {
    const server = await start()
    expect((await link(server, { ids: [1] }, 'PUT')).body).toEqual({ added: 0, removed: 0, total: 1 })
    expect((await link(server, { ids: [1] })).body).toEqual({ added: 0, removed: 0, total: 1 })
  })

  it('does not name a hidden column that a schema maps another key to', async () => {
    const renamed = z.object({ weight: z.number(), remark: z.string() }).transform(({ remark, ...rest }) => ({ ...rest, note: remark }))
    const server = await serveTables(DDL, [{ posts, tags, postTags }], {
      posts: { schema: posts, authorization }, tags: { schema: tags, authorization },
      postTags: {
        schema: postTags, hiddenFields: ['note'], validation: { create: renamed },
        authorization: { permissions: OPEN, fields: { note: { write: 'admin' } } },
      },
    })
    const refused = await link(server, { ids: [2], metadata: { weight: 1, remark: 'x' } })
    expect([refused.status, refused.body.data.code, JSON.stringify(refused.body).includes('note')]).toEqual([401, 'FIELD_FORBIDDEN', false])
  })

  it('validates the metadata of each link', async () => {
    const server = await start(z.object({ weight: z.number().max(9), note: z.string().optional() }))
    expect((await link(server, { ids: [2, 3], metadata: { weight: 1 }, metadataById: { 3: { weight: 10 } } })).body.data.code).toBe(
      'VALIDATION_FAILED',
    )
    expect((await link(server, { ids: [2, 3], metadata: { weight: 1, note: 'all' }, metadataById: { 3: { weight: 9 } } })).body.added).toBe(
      2,
    )
    expect(server.rows('post_tags')).toEqual([[1, 1, 7, null], [1, 2, 1, 'all'], [1, 3, 9, 'all']])
  })
})

describe('metadataById', () => {
  it('sets the values of single links, on both kinds of junctions', async () => {
    await open()
    await server.link('POST', path, { ids: [2, 3], metadataById: { 3: { role: 'cox' } } })
    expect(active()).toEqual([[1, 'captain'], [2, 'member'], [3, 'cox']])
    await server.link('POST', 'pupils/1/relations/courses', { ids: [3, 4], metadata: { grade: 1 }, metadataById: { 4: { grade: 2 } } })
    expect(server.rows('course_id, grade', 'pupil_courses where pupil_id = 1 and course_id in (3, 4)')).toEqual([[3, 1], [4, 2]])
  })

  it('sets the values of a link restored from the trash', async () => {
    await open()
    await server.link('POST', path, { ids: [2] })
    await server.link('DELETE', path, { ids: [1, 2] })
    expect((await server.link('POST', path, { ids: [1, 2], metadataById: { 1: { role: 'a' }, 2: { role: 'b' } } })).body.added).toBe(2)
    expect(active()).toEqual([[1, 'a'], [2, 'b']])
  })

  it.each([
    [{ ids: [2], metadataById: [] }, '400 INVALID_BODY'],
    [{ ids: [2], metadataById: { 2: 1 } }, '400 INVALID_BODY'],
    [{ ids: [2], metadataById: { 3: { role: 'x' } } }, '400 INVALID_BODY'],
    [{ ids: [2], metadataById: { 2: { clubId: 3 } } }, '400 VALIDATION_FAILED'],
    [{ ids: [2], metadataById: { 2: { nothing: 1 } } }, '400 VALIDATION_FAILED'],
    [{ ids: [], metadata: { nothing: 1 } }, '400 VALIDATION_FAILED'],
  ])('returns 400 and writes nothing for an invalid value: %j', async (body, answer) => {
    await open()
    const before = server.dump()
    expect(outcome(await server.link('POST', path, body))).toBe(answer)
    expect(server.dump()).toBe(before)
  })
})

describe('an objectLevel decision that is outdated at the commit', () => {
  /** Once, as soon as the hooks run: what another request could do after the checks. */
  const during = (run: () => void): ResourceHooks => {
    let done = false
    return { beforeLink: () => {
      if (!done) run()
      done = true
    } }
  }

  it('is made again when the record to link has changed: 404 when it is hidden now, otherwise 200', async () => {
    const rule = { courses: { permissions: OPEN, objectLevel: (row: Record<string, unknown>) => row.title !== 'hidden' } }
    await open({ auth: rule, hooks: { pupils: during(() => void server.client.exec(`update courses set title = 'hidden' where id = 3`)) } })
    expect((await server.link('POST', 'pupils/1/relations/courses', { ids: [3, 4] })).body.data).toEqual({
      code: 'NOT_FOUND',
      relation: 'courses',
      ids: ['3'],
    })
    expect(server.rows('course_id, 0', 'pupil_courses where pupil_id = 1 and course_id in (3, 4)')).toEqual([])
    server.client.close()
    await open({ auth: rule, hooks: { pupils: during(() => void server.client.exec(`update courses set title = 'other' where id = 3`)) } })
    expect((await server.link('POST', 'pupils/1/relations/courses', { ids: [3, 4] })).body.added).toBe(2)
  })

  it('returns 409 when the record changes at every try', async () => {
    let count = 0
    await open({ auth: { courses: { permissions: OPEN, objectLevel: (row: Record<string, unknown>) => {
      server.client.exec(`update courses set title = '${count++}' where id = 3`)
      return row.id !== undefined
    } } } })
    expect(outcome(await server.link('POST', 'pupils/1/relations/courses', { ids: [3] }))).toBe('409 CONFLICT')
    expect(server.rows('course_id, 0', 'pupil_courses where pupil_id = 1 and course_id = 3')).toEqual([])
  })

  it.each(['DELETE', 'PUT'] as const)('does not let %s remove a link that the caller can no longer delete', async (method) => {
    await open({
      auth: { memberships: { permissions: OPEN, objectLevel: (row, ctx) => ctx.operation !== 'delete' || row.role !== 'owner' } },
      hooks: { pupils: during(() => void server.client.exec(`update memberships set role = 'owner' where pupil_id = 1`)) },
    })
    expect(outcome(await server.link(method, path, { ids: method === 'PUT' ? [] : [1] }))).toBe('403 FORBIDDEN')
    expect(active()).toEqual([[1, 'owner']])
  })

  it('lets PUT treat a link that was added meanwhile as if it had been added before', async () => {
    await open({
      hooks: {
        memberships: { beforeDelete: () => undefined },
        pupils: during(() => void server.client.exec('insert into memberships (pupil_id, club_id, organization_id) values (1, 3, 1)')),
      },
    })
    expect((await server.link('PUT', path, { ids: [2] })).body).toEqual({ added: 1, removed: 2, total: 1 })
  })

  it.each([
    ['hidden', 400],
    ['other', 201],
  ] as const)('checks a reference again when the referenced row became %s, and returns %i', async (name, status) => {
    let done = false
    await open({
      auth: {
        pupils: {
          permissions: OPEN,
          objectLevel: (row: Record<string, unknown>) => {
            const accepted = row.name !== 'hidden'
            if (row.id === 3 && !done) server.client.exec(`update pupils set name = '${name}' where id = 3`)
            if (row.id === 3) done = true
            return accepted
          },
        },
      },
    })
    const { status: answered, body } = await server.link('POST', 'pupils', { name: 'New', mentorId: 3 })
    expect(answered).toBe(status)
    if (status === 400) expect(body.data).toEqual({ code: 'INVALID_REFERENCE', field: 'mentorId' })
    expect(server.rows('name, mentor_id', `pupils where name = 'New'`)).toHaveLength(status === 201 ? 1 : 0)
  })
})

describe('concurrent changes of links, with hooks of the junction', () => {
  it('leave one of the sent sets after replacements', async () => {
    await open({ hooks: { memberships: { beforeCreate: () => undefined, beforeDelete: () => undefined } } })
    const sets = [[1, 2], [3], [2, 3], []]
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => server.link('PUT', path, { ids: sets[index % 4] })))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(sets).toContainEqual(active().map(row => (row as number[])[0]))
  })
})
