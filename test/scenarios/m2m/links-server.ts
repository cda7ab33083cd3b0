/** A test server with every kind of junction: pupils with courses, clubs, rooms and other pupils. Each test sets its own rules. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { foreignKey, integer, primaryKey, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core'
import type { ResourceAuth, ResourceRegistration } from '../../../src/runtime/server/registration'
import type { AutoApiConfig } from '../../../src/runtime/shared/config'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { createServer, type Answered, type Caller, type TestServer } from '../../support/server'
import { dumpOf } from '../../support/notebook'

export const pupils = sqliteTable('pupils', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  name: text('name').notNull(),
  mentorId: integer('mentor_id'),
}, t => [foreignKey({ columns: [t.mentorId], foreignColumns: [t.id] })])

export const courses = sqliteTable('courses', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  title: text('title').notNull(),
  level: integer('level').notNull().default(1),
  budget: integer('budget'),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
})

/** An unregistered junction: its primary key is its two foreign keys, other columns are metadata. */
export const pupilCourses = sqliteTable('pupil_courses', {
  pupilId: integer('pupil_id').notNull().references(() => pupils.id),
  courseId: integer('course_id').notNull().references(() => courses.id),
  grade: integer('grade'),
  joinedAt: integer('joined_at', { mode: 'timestamp_ms' }),
}, t => [primaryKey({ columns: [t.pupilId, t.courseId] })])

export const clubs = sqliteTable('clubs', { id: integer('id').primaryKey(), name: text('name').notNull() })

/** A registered junction with a tenant, soft delete and rules of its own. */
export const memberships = sqliteTable('memberships', {
  pupilId: integer('pupil_id').notNull().references(() => pupils.id),
  clubId: integer('club_id').notNull().references(() => clubs.id),
  organizationId: integer('organization_id').notNull(),
  role: text('role').notNull().default('member'),
  fee: integer('fee'),
  createdBy: integer('created_by'),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
  deletionId: text('deletion_id'),
}, t => [primaryKey({ columns: [t.pupilId, t.clubId] })])

/** A junction of a table with itself. */
export const friends = sqliteTable('friends', {
  pupilId: integer('pupil_id').notNull().references(() => pupils.id),
  friendId: integer('friend_id').notNull().references(() => pupils.id),
}, t => [primaryKey({ columns: [t.pupilId, t.friendId] })])

export const rooms = sqliteTable(
  'rooms',
  { house: text('house').notNull(), number: integer('number').notNull(), seats: integer('seats') },
  t => [primaryKey({ columns: [t.house, t.number] })],
)

/** A junction by its unique constraint, with a foreign key to a composite key. */
export const lockers = sqliteTable(
  'lockers',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    pupilId: integer('pupil_id')
      .notNull()
      .references(() => pupils.id),
    house: text('house').notNull(),
    number: integer('number').notNull(),
    code: text('code').unique(),
  },
  t => [
    unique().on(t.pupilId, t.house, t.number),
    foreignKey({ columns: [t.house, t.number], foreignColumns: [rooms.house, rooms.number] }),
  ],
)

export const TABLES = { pupils, courses, pupilCourses, clubs, memberships, friends, rooms, lockers }

const DDL = `
  create table pupils (id integer primary key, organization_id integer not null, name text not null, mentor_id integer references pupils(id));
  create table courses (id integer primary key, organization_id integer not null, title text not null, level integer not null default 1, budget integer, deleted_at integer);
  create table pupil_courses (pupil_id integer not null references pupils(id), course_id integer not null references courses(id), grade integer check (grade <= 6), joined_at integer, primary key (pupil_id, course_id));
  create table clubs (id integer primary key, name text not null);
  create table memberships (
    pupil_id integer not null references pupils(id), club_id integer not null references clubs(id), organization_id integer not null, role text not null default 'member',
    fee integer, created_by integer, deleted_at integer, deletion_id text, primary key (pupil_id, club_id)
  );
  create table friends (pupil_id integer not null references pupils(id), friend_id integer not null references pupils(id), primary key (pupil_id, friend_id));
  create table rooms (house text not null, number integer not null, seats integer, primary key (house, number));
  create table lockers (
    id integer primary key autoincrement, pupil_id integer not null references pupils(id), house text not null, number integer not null, code text unique,
    unique (pupil_id, house, number), foreign key (house, number) references rooms(house, number)
  );
`

/** Organization 1 has pupils 1–3 and courses 1–5, the last one in the trash; organization 2 has pupil 11 and course 11. */
const ROWS = `
  insert into pupils values (1, 1, 'Ada', null), (2, 1, 'Ben', 1), (3, 1, 'Cas', 1), (11, 2, 'Zoe', null);
  insert into courses values (1, 1, 'Art', 1, 10, null), (2, 1, 'Biology', 2, 20, null), (3, 1, 'Chess', 1, 30, null), (4, 1, 'Drama', 3, 40, null), (5, 1, 'Egyptian', 1, 50, 1000), (11, 2, 'Zoology', 1, 60, null);
  insert into pupil_courses values (1, 1, 2, 86400000), (1, 2, null, null), (1, 5, 1, null), (1, 11, 5, null), (2, 1, 3, null), (11, 11, 1, null);
  insert into clubs values (1, 'Rowing'), (2, 'Sailing'), (3, 'Tennis');
  insert into memberships (pupil_id, club_id, organization_id, role, fee) values (1, 1, 1, 'captain', 9), (2, 1, 1, 'member', 8), (11, 1, 2, 'member', 7);
  insert into friends values (1, 2), (3, 1);
  insert into rooms values ('north', 1, 20), ('north', 2, 10), ('a,b', 1, 5);
  insert into lockers (pupil_id, house, number, code) values (1, 'north', 1, 'x1'), (2, 'north', 1, 'x2');
`

export const OPEN = Object.freeze({ read: true, create: true, update: true, delete: true })

type Name = Exclude<keyof typeof TABLES, 'pupilCourses' | 'friends' | 'lockers'>

export interface LinksServerOptions {
  /** By resource; everything is allowed where there is no entry. */
  readonly auth?: Partial<Record<Name, ResourceAuth>>
  readonly hooks?: Partial<Record<Name, ResourceRegistration['hooks']>>
  readonly registration?: Partial<Record<Name, Partial<ResourceRegistration>>>
  readonly config?: Partial<AutoApiConfig>
  readonly plugins?: readonly unknown[]
  /** Every statement as it runs. */
  readonly log?: (statement: string) => void
}

export interface LinksServer extends TestServer {
  readonly client: Database.Database
  /** Everything the database holds. */
  readonly dump: () => string
  /** `select … order by 1, 2` of one table, as rows of values. */
  readonly rows: (columns: string, rest: string) => unknown[]
  readonly get: (path: string, caller?: Caller) => Promise<Answered>
  readonly link: (method: 'PUT' | 'POST' | 'DELETE', path: string, body: unknown, caller?: Caller) => Promise<Answered>
}

export const ADA: Caller = { user: { id: 1, organizationId: 1 } }
export const ZOE: Caller = { user: { id: 11, organizationId: 2 } }
/** An anonymous caller with a tenant. */
export const ANONYMOUS: Caller = { tenantId: 1 }

export async function openServer(
  { auth = {}, hooks = {}, registration = {}, config, plugins, log }: LinksServerOptions = {},
): Promise<LinksServer> {
  const client = new Database(':memory:')
  client.exec(DDL + ROWS)
  const { pupilCourses: _p, friends: _f, lockers: _l, ...registered } = TABLES
  const server = await createServer({
    registrations: Object.entries(registered).map(
      ([name, schema]) =>
        ({
          name,
          schema,
          hooks: hooks[name as Name],
          authorization: auth[name as Name] ?? { permissions: OPEN },
          ...(name === 'courses' && { hiddenFields: ['budget'] }),
          ...registration[name as Name],
        }) as ResourceRegistration,
    ),
    modules: [TABLES],
    db: drizzle({ client, ...(log && { logger: { logQuery: log } }) }),
    config: { multiTenancy: DEFAULT_MULTI_TENANCY, ...config },
    ...plugins && { plugins },
  })
  return {
    ...server,
    client,
    dump: () => dumpOf(client),
    rows: (columns, rest) => client.prepare(`select ${columns} from ${rest} order by 1, 2`).raw().all(),
    get: (path, caller = ADA) => server.request('GET', `/api/${path}`, { caller }),
    link: (method, path, body, caller = ADA) => server.request(method, `/api/${path}`, { caller, body }),
  }
}

/** `200`, or `403 FORBIDDEN`. */
export const outcome = ({ status, body }: Answered) => status < 400 ? String(status) : `${status} ${body?.data?.code ?? ''}`.trim()
