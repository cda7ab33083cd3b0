/** Links in the bodies of writes: the log has the entries that the relation routes make. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { auditLog, batch } from '../../../src/runtime/plugins/index'
import { auditLogSql } from '../../engines/support/audit-log'
import { createServer, type ServerOptions, type TestServer } from '../../support/server'
import auditLogResource from './examples/server/resources/auditLog'
import { auditLog as auditLogTable } from './examples/server/database/schema'

const pupils = sqliteTable('pupils', { id: integer('id').primaryKey(), name: text('name').notNull(), mentorId: integer('mentor_id').references((): never => pupils.id as never) })
const courses = sqliteTable('courses', { id: integer('id').primaryKey(), title: text('title').notNull() })
const pupilCourses = sqliteTable('pupil_courses', {
  pupilId: integer('pupil_id').notNull().references(() => pupils.id), courseId: integer('course_id').notNull().references(() => courses.id),
}, t => [primaryKey({ columns: [t.pupilId, t.courseId] })])
const friends = sqliteTable('friends', {
  pupilId: integer('pupil_id').notNull().references(() => pupils.id), friendId: integer('friend_id').notNull().references(() => pupils.id),
}, t => [primaryKey({ columns: [t.pupilId, t.friendId] })])

const CALLER = { user: { id: 1 }, permissions: ['auditLog:read'] }

let client: Database.Database
let server: TestServer
beforeEach(async () => {
  client = new Database(':memory:')
  client.exec(`create table pupils (id integer primary key, name text not null, mentor_id integer references pupils (id));
    create table courses (id integer primary key, title text not null);
    create table pupil_courses (pupil_id integer not null references pupils, course_id integer not null references courses, primary key (pupil_id, course_id));
    create table friends (pupil_id integer not null references pupils, friend_id integer not null references pupils, primary key (pupil_id, friend_id));
    insert into pupils values (1, 'Ada', null), (2, 'Ben', 1), (3, 'Cas', null); insert into courses values (1, 'Art'), (2, 'Biology'), (3, 'Chess');
    insert into pupil_courses values (1, 1), (2, 1); insert into friends values (1, 2), (3, 1)`)
  client.exec(await auditLogSql('sqlite'))
  const permissions = { read: true, create: true, update: true, delete: true } as const
  const actions = ['link', 'unlink'] as const
  server = await createServer({
    db: drizzle({ client }),
    modules: [{ pupils, courses, pupilCourses, friends }],
    plugins: [auditLog(), batch()],
    registrations: [
      { name: 'pupils', schema: pupils, authorization: { permissions },
        nested: { courses: actions, pupilsByPupil: actions, pupilsByFriend: actions, pupils: ['create', 'update'] } },
      { name: 'courses', schema: courses, authorization: { permissions } },
      { name: 'auditLog', schema: auditLogTable, authorization: auditLogResource.authorization },
    ] as ServerOptions['registrations'],
  })
})
afterEach(() => client.close())

const send = (method: string, path: string, body: object) => server.request(method, `/api/${path}`, { body, caller: CALLER })

/** The entries of links that a request makes, without their ids and times. */
async function entriesOf(method: string, path: string, body: object): Promise<unknown[]> {
  client.exec('delete from audit_log')
  expect((await send(method, path, body)).status).toBeLessThan(300)
  return client.prepare(`select kind, resource, record_id, other_id, columns, root_id from audit_log where kind in ('link', 'unlink') order by 1, 2, 3, 4`).raw().all()
}

it.each([
  ['courses', 'link', 'POST', [2, 3]], ['courses', 'unlink', 'DELETE', [1, 2]], ['pupilsByPupil', 'link', 'POST', [3]], ['pupilsByFriend', 'link', 'POST', [2]],
  ['pupilsByFriend', 'unlink', 'DELETE', [3]],
])('are those of the route: %s %s', async (relation, action, method, ids) => {
  client.exec('savepoint before')
  const byRoute = await entriesOf(method, `pupils/1/relations/${relation}`, { ids })
  client.exec('rollback to before')
  const inBody = await entriesOf('PATCH', 'pupils/1', { [relation]: { [action]: ids } })
  expect([inBody.length > 0, inBody]).toEqual([true, byRoute])
  client.exec('rollback to before')
  expect(await entriesOf('PATCH', 'pupils/bulk', { items: [{ id: 1, data: { [relation]: { [action]: ids } } }] })).toEqual(byRoute)
  client.exec('rollback to before')
  const step = { resource: 'pupils', operation: 'update', id: 1, data: { [relation]: { [action]: ids } } }
  expect(await entriesOf('POST', 'batch', { steps: [step] })).toEqual(byRoute)
})

it('name the record at its level, also a new one', async () => {
  expect(await entriesOf('PATCH', 'pupils/1', { pupils: { update: [{ id: 2, data: { courses: { link: [3] } } }] } }))
    .toEqual([['link', 'pupils', '2', '3', '["courses"]', null]])
  const { body } = await send('POST', 'pupils', { name: 'Dan', courses: { link: [2] }, pupilsByFriend: { link: [1] } })
  const entries = client.prepare(`select record_id, other_id, columns from audit_log where kind = 'link' and record_id = ? order by 3`).raw().all(String(body.id))
  expect(entries).toEqual([[String(body.id), '2', '["courses"]'], [String(body.id), '1', '["pupilsByFriend"]']])
})
