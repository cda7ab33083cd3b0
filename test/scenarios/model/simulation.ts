/**
 * Two servers on one database, whose statements a {@link Scheduler} orders, and in which statements fail: the database is busy, the
 * connection is lost before a statement, or after a commit, so that its client cannot know that it is done.
 */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { auditLog, batch, idempotency } from '../../../src/runtime/plugins'
import { auditLogTable, idempotencyKeysTable } from '../../../src/runtime/plugins/schema-sqlite'
import type { EngineDefinition } from '../../../src/runtime/server/engines/define'
import { BusyError, type CommitEntry, type Engine, type Outcome, type Row, type Statement } from '../../../src/runtime/server/engines/engine'
import { createEngine } from '../../../src/runtime/server/engines/index'
import { createServer, type TestServer } from '../../support/server'
import type { Scheduler } from './scheduler'

const trash = () => ({ deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }), deletionId: text('deletion_id') })
const tenant = () => ({ organizationId: integer('organization_id').notNull() })
const posts = sqliteTable('posts', {
  id: integer('id').primaryKey({ autoIncrement: true }), ...tenant(), title: text('title').notNull(), ...trash(),
})
const comments = sqliteTable('comments', {
  id: integer('id').primaryKey({ autoIncrement: true }), ...tenant(),
  postId: integer('post_id').references(() => posts.id), parentId: integer('parent_id').references((): AnySQLiteColumn => comments.id),
  body: text('body').notNull(), ...trash(),
})
const tags = sqliteTable('tags', { id: integer('id').primaryKey(), name: text('name').notNull() })
const postTags = sqliteTable('post_tags', {
  postId: integer('post_id').notNull().references(() => posts.id), tagId: integer('tag_id').notNull().references(() => tags.id),
}, table => [primaryKey({ columns: [table.postId, table.tagId] })])
const tables = { posts, comments, tags, postTags, auditLog: auditLogTable(), idempotencyKeys: idempotencyKeysTable() }

const SCHEMA = `
  create table posts (id integer primary key autoincrement, organization_id integer not null, title text not null, deleted_at integer,
    deletion_id text);
  create table comments (id integer primary key autoincrement, organization_id integer not null, post_id integer references posts(id),
    parent_id integer references comments(id), body text not null, deleted_at integer, deletion_id text);
  create table tags (id integer primary key, name text not null);
  create table post_tags (post_id integer not null references posts(id), tag_id integer not null references tags(id),
    primary key (post_id, tag_id));
  create table audit_log (id text primary key, at integer not null, kind text not null, resource text not null, record_id text,
    other_id text, root_id text, user_id text, token_id text, via text, tenant_id text, request_id text, ip text, columns text,
    before text, after text, reason text);
  create table idempotency_keys (id text primary key, parent text, record_id text, fingerprint text not null, access text, status integer,
    body text, created_at integer not null, expires_at integer not null);
  insert into tags values (1, 'a'), (2, 'b'), (3, 'c');
`

/** Post 4 and comments 41 and 411 went to the trash in one request, comment 42 before. Post 9 and comment 91 belong to tenant 2. */
const RESET = `
  delete from post_tags; update comments set parent_id = null; delete from comments; delete from posts; delete from audit_log;
  delete from idempotency_keys; delete from sqlite_sequence;
  insert into posts values (1, 1, 'one', null, null), (2, 1, 'two', null, null), (3, 1, 'three', null, null),
    (4, 1, 'four', 1000, 'd4'), (9, 2, 'nine', null, null);
  insert into comments values (11, 1, 1, null, 'c11', null, null), (12, 1, 1, 11, 'c12', null, null), (21, 1, 2, null, 'c21', null, null),
    (41, 1, 4, null, 'c41', 1000, 'd4'), (411, 1, null, 41, 'c411', 1000, 'd4'), (42, 1, 4, null, 'c42', 900, 'd42'),
    (91, 2, 9, null, 'c91', null, null);
  insert into post_tags values (1, 1), (1, 2), (4, 1), (9, 3);
`

/** The rows of the app's tables. */
export interface Dump {
  readonly posts: readonly Row[]
  readonly comments: readonly Row[]
  readonly links: readonly Row[]
}

export type Fault = 'busy' | 'lost' | 'unknown' | undefined

/** A commit that took effect. */
export interface Commit {
  /** The task whose request it belongs to. */
  readonly task: number
  readonly before: Dump
  readonly after: Dump
  /** The entries that it added to the audit log: kind, resource, record, other record, user, tenant. */
  readonly entries: readonly Row[]
}

export interface Simulation {
  readonly servers: readonly TestServer[]
  /** Without a scheduler, statements run at once and none fails. */
  begin: (scheduler?: Scheduler, fault?: () => Fault) => void
  readonly commits: readonly Commit[]
  /** The tasks in which a statement failed. */
  readonly faults: ReadonlySet<number>
  dump: () => Dump
  close: () => void
}

export async function openSimulation(): Promise<Simulation> {
  const client = new Database(':memory:')
  client.exec(SCHEMA)
  const read = (sql: string) => client.prepare(sql).raw()
  const [allPosts, allComments, allLinks, entriesAfter] = [
    read('select id, organization_id, title, deleted_at, deletion_id from posts order by id'),
    read('select id, organization_id, post_id, parent_id, body, deleted_at, deletion_id from comments order by id'),
    read('select post_id, tag_id from post_tags order by 1, 2'),
    read('select kind, resource, record_id, other_id, user_id, tenant_id from audit_log where rowid > ? order by rowid'),
  ]
  const lastEntry = client.prepare('select coalesce(max(rowid), 0) from audit_log').pluck()
  const dump = (): Dump =>
    ({ posts: allPosts.all() as Row[], comments: allComments.all() as Row[], links: allLinks.all() as Row[] })

  let scheduler: Scheduler | undefined
  let nextFault: () => Fault = () => undefined
  const commits: Commit[] = []
  const faults = new Set<number>()

  /** Waits for the turn of a statement, and fails it if the seed says so. */
  async function before(step: string): Promise<Fault> {
    await scheduler?.step(step)
    const task = scheduler?.task
    const fault = task === undefined ? undefined : nextFault()
    if (fault === undefined) return undefined
    faults.add(task!)
    if (fault === 'busy') throw new BusyError(new Error('simulated'))
    if (fault === 'lost' || step === 'read') throw new Error('The connection is lost.')
    return fault
  }

  async function query(real: Engine, statement: Statement): Promise<readonly Row[]> {
    await before('read')
    const rows = await real.query(statement)
    await scheduler?.step('has read')
    return rows
  }

  async function commit(real: Engine, entries: readonly CommitEntry[]): Promise<readonly Outcome[]> {
    const fault = await before('commit')
    const task = scheduler?.task ?? 0
    const [rows, last] = [dump(), lastEntry.get()]
    const outcomes = await real.commit(entries)
    commits.push({ task, before: rows, after: dump(), entries: entriesAfter.all(last) as Row[] })
    await scheduler?.step('has committed')
    if (fault === 'unknown') throw new Error('The connection is lost.')
    return outcomes
  }

  const engine: EngineDefinition = {
    name: 'simulated',
    dialect: 'sqlite',
    create(db) {
      const real = createEngine('better-sqlite3', db)
      return { ...real, blocking: false, query: statement => query(real, statement), commit: entries => commit(real, entries) }
    },
  }
  const permissions = { read: true as const, create: 'write', update: 'write', delete: 'write' }
  const open = () => createServer({
    db: drizzle({ client }),
    engine,
    modules: [tables],
    plugins: [auditLog(), idempotency(), batch()],
    registrations: [
      ...Object.entries({ posts, comments, tags }).map(([name, schema]) => ({ name, schema, authorization: { permissions } })),
      { name: 'auditLog', schema: tables.auditLog, authorization: { permissions: { read: 'audit' } } },
    ],
    config: {
      multiTenancy: {
        enabled: true, tenantIdField: 'organizationId', userTenantField: 'organizationId', scopedResources: '*',
        excludedResources: [],
      },
    },
  })
  return {
    servers: [await open(), await open()],
    begin(given, fault = () => undefined) {
      scheduler = given
      nextFault = fault
      commits.length = 0
      faults.clear()
      client.exec(RESET)
    },
    commits,
    faults,
    dump,
    close: () => client.close(),
  }
}
