/** Articles with everything that a commit can change beside them, and a ledger in which a plugin writes every change, in each dialect. */
import { getTableColumns, getTableName, sql, type Table } from 'drizzle-orm'
import * as my from 'drizzle-orm/mysql-core'
import * as pg from 'drizzle-orm/pg-core'
import * as lite from 'drizzle-orm/sqlite-core'
import type { Dialect } from '../../../src/runtime/shared/dialects'
import type { ResourceHooks, ResourceRegistration } from '../../../src/runtime/server/registration'
import { createServer, type TestServer } from '../../support/server'
import { AUDIT_LOGS, auditLogSql } from './audit-log'
import type { EngineCase, Opened, OpenOptions } from './databases'

function sqliteTables() {
  const { sqliteTable: table, integer, text, blob, numeric, primaryKey } = lite
  const trash = () => ({ deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }), deletionId: text('deletion_id') })
  const id = () => integer('id').primaryKey({ autoIncrement: true })
  const articles = table('articles', {
    id: id(),
    organizationId: integer('organization_id').notNull(),
    title: text('title').notNull().unique(),
    data: text('data', { mode: 'json' }),
    price: numeric('price'),
    big: blob('big', { mode: 'bigint' }),
    bytes: blob('bytes', { mode: 'buffer' }),
    at: integer('at', { mode: 'timestamp_ms' }),
    secret: text('secret').default('hush'),
    ...trash(),
  })
  const comments = table('comments', {
    id: id(), organizationId: integer('organization_id').notNull(), articleId: integer('article_id').references(() => articles.id),
    parentId: integer('parent_id').references((): lite.AnySQLiteColumn => comments.id), body: text('body').notNull(), ...trash(),
  })
  const notes = table(
    'notes',
    {
      commentId: integer('comment_id')
        .notNull()
        .references(() => comments.id),
      place: text('place').notNull(),
      ...trash(),
    },
    t => [primaryKey({ columns: [t.commentId, t.place] })],
  )
  const bookmarks = table('bookmarks', {
    id: id(),
    organizationId: integer('organization_id').notNull(),
    articleId: integer('article_id').references(() => articles.id, { onDelete: 'set null' }),
    name: text('name'),
  })
  const tags = table('tags', { id: integer('id').primaryKey(), name: text('name').notNull() })
  const articleTags = table(
    'article_tags',
    {
      articleId: integer('article_id')
        .notNull()
        .references(() => articles.id),
      tagId: integer('tag_id')
        .notNull()
        .references(() => tags.id),
    },
    t => [primaryKey({ columns: [t.articleId, t.tagId] })],
  )
  const labels = table('labels', { id: integer('id').primaryKey(), name: text('name').notNull() })
  const articleLabels = table('article_labels', {
    id: id(),
    articleId: integer('article_id')
      .notNull()
      .references(() => articles.id),
    labelId: integer('label_id')
      .notNull()
      .references(() => labels.id),
    note: text('note'),
    ...trash(),
  })
  const ledger = table('ledger', {
    id: text('id').primaryKey(),
    place: text('place').notNull(),
    kind: text('kind').notNull(),
    recordId: text('record_id').notNull(),
    tenantId: integer('tenant_id'),
    cascaded: integer('cascaded', { mode: 'boolean' }).notNull(),
    columns: text('columns', { mode: 'json' }),
    before: text('before', { mode: 'json' }),
    after: text('after'),
  })
  return { articles, comments, notes, bookmarks, tags, articleTags, labels, articleLabels, ledger }
}

const toBytes = (value: unknown) => typeof value === 'string' ? Buffer.from(value, 'base64') : value

const pgBytes = pg.customType<{ data: Buffer }>({ dataType: () => 'bytea', toDriver: toBytes })

function postgresTables() {
  const { pgTable: table, integer, text, serial, bigint, numeric, timestamp, jsonb, uuid, boolean, primaryKey } = pg
  const trash = () => ({ deletedAt: timestamp('deleted_at', { withTimezone: true }), deletionId: text('deletion_id') })
  const id = () => serial('id').primaryKey()
  const articles = table('articles', {
    id: id(),
    organizationId: integer('organization_id').notNull(),
    title: text('title').notNull().unique(),
    data: jsonb('data'),
    price: numeric('price', { precision: 30, scale: 10 }),
    big: bigint('big', { mode: 'bigint' }),
    bytes: pgBytes('bytes'),
    at: timestamp('at', { withTimezone: true }),
    secret: text('secret').default('hush'),
    ...trash(),
  })
  const comments = table('comments', {
    id: id(), organizationId: integer('organization_id').notNull(), articleId: integer('article_id').references(() => articles.id),
    parentId: integer('parent_id').references((): pg.AnyPgColumn => comments.id), body: text('body').notNull(), ...trash(),
  })
  const notes = table(
    'notes',
    {
      commentId: integer('comment_id')
        .notNull()
        .references(() => comments.id),
      place: text('place').notNull(),
      ...trash(),
    },
    t => [primaryKey({ columns: [t.commentId, t.place] })],
  )
  const bookmarks = table('bookmarks', {
    id: id(),
    organizationId: integer('organization_id').notNull(),
    articleId: integer('article_id').references(() => articles.id, { onDelete: 'set null' }),
    name: text('name'),
  })
  const tags = table('tags', { id: integer('id').primaryKey(), name: text('name').notNull() })
  const articleTags = table(
    'article_tags',
    {
      articleId: integer('article_id')
        .notNull()
        .references(() => articles.id),
      tagId: integer('tag_id')
        .notNull()
        .references(() => tags.id),
    },
    t => [primaryKey({ columns: [t.articleId, t.tagId] })],
  )
  const labels = table('labels', { id: integer('id').primaryKey(), name: text('name').notNull() })
  const articleLabels = table('article_labels', {
    id: id(),
    articleId: integer('article_id')
      .notNull()
      .references(() => articles.id),
    labelId: integer('label_id')
      .notNull()
      .references(() => labels.id),
    note: text('note'),
    ...trash(),
  })
  const ledger = table('ledger', {
    id: uuid('id').primaryKey(),
    place: text('place').notNull(),
    kind: text('kind').notNull(),
    recordId: text('record_id').notNull(),
    tenantId: integer('tenant_id'),
    cascaded: boolean('cascaded').notNull(),
    columns: jsonb('columns'),
    before: jsonb('before'),
    after: text('after'),
  })
  return { articles, comments, notes, bookmarks, tags, articleTags, labels, articleLabels, ledger }
}

const mysqlBytes = my.customType<{ data: Buffer }>({ dataType: () => 'varbinary(100)', toDriver: toBytes })

function mysqlTables() {
  const { mysqlTable: table, int, varchar, bigint, decimal, datetime, json, boolean, text, primaryKey } = my
  const name = (column: string) => varchar(column, { length: 100 })
  const trash = () => ({ deletedAt: datetime('deleted_at', { fsp: 3 }), deletionId: varchar('deletion_id', { length: 36 }) })
  const id = () => int('id').autoincrement().primaryKey()
  const articles = table('articles', {
    id: id(),
    organizationId: int('organization_id').notNull(),
    title: name('title').notNull().unique(),
    data: json('data'),
    price: decimal('price', { precision: 30, scale: 10 }),
    big: bigint('big', { mode: 'bigint' }),
    bytes: mysqlBytes('bytes'),
    at: datetime('at', { fsp: 3 }),
    secret: name('secret').default('hush'),
    ...trash(),
  })
  const comments = table('comments', {
    id: id(), organizationId: int('organization_id').notNull(), articleId: int('article_id').references(() => articles.id),
    parentId: int('parent_id').references((): my.AnyMySqlColumn => comments.id), body: name('body').notNull(), ...trash(),
  })
  const notes = table(
    'notes',
    {
      commentId: int('comment_id')
        .notNull()
        .references(() => comments.id),
      place: name('place').notNull(),
      ...trash(),
    },
    t => [primaryKey({ columns: [t.commentId, t.place] })],
  )
  const bookmarks = table('bookmarks', {
    id: id(),
    organizationId: int('organization_id').notNull(),
    articleId: int('article_id').references(() => articles.id, { onDelete: 'set null' }),
    name: name('name'),
  })
  const tags = table('tags', { id: int('id').primaryKey(), name: name('name').notNull() })
  const articleTags = table(
    'article_tags',
    {
      articleId: int('article_id')
        .notNull()
        .references(() => articles.id),
      tagId: int('tag_id')
        .notNull()
        .references(() => tags.id),
    },
    t => [primaryKey({ columns: [t.articleId, t.tagId] })],
  )
  const labels = table('labels', { id: int('id').primaryKey(), name: name('name').notNull() })
  const articleLabels = table('article_labels', {
    id: id(),
    articleId: int('article_id')
      .notNull()
      .references(() => articles.id),
    labelId: int('label_id')
      .notNull()
      .references(() => labels.id),
    note: name('note'),
    ...trash(),
  })
  const ledger = table('ledger', {
    id: varchar('id', { length: 36 }).primaryKey(),
    place: name('place').notNull(),
    kind: name('kind').notNull(),
    recordId: name('record_id').notNull(),
    tenantId: int('tenant_id'),
    cascaded: boolean('cascaded').notNull(),
    columns: json('columns'),
    before: json('before'),
    after: text('after'),
  })
  return { articles, comments, notes, bookmarks, tags, articleTags, labels, articleLabels, ledger }
}

const TABLES = { sqlite: sqliteTables, pg: postgresTables, mysql: mysqlTables }

/** As far as these tests go the dialects' tables are of one kind. */
export type LedgerTables = ReturnType<typeof sqliteTables>

const TYPES: Readonly<Record<Dialect, Readonly<Record<'id' | 'time' | 'json' | 'price' | 'big' | 'bytes' | 'uuid', string>>>> = {
  sqlite: {
    id: 'integer primary key autoincrement',
    time: 'integer',
    json: 'text',
    price: 'numeric',
    big: 'blob',
    bytes: 'blob',
    uuid: 'text',
  },
  pg: {
    id: 'serial primary key',
    time: 'timestamptz',
    json: 'jsonb',
    price: 'numeric(30, 10)',
    big: 'bigint',
    bytes: 'bytea',
    uuid: 'uuid',
  },
  mysql: {
    id: 'integer auto_increment primary key',
    time: 'datetime(3)',
    json: 'json',
    price: 'decimal(30, 10)',
    big: 'bigint',
    bytes: 'varbinary(100)',
    uuid: 'varchar(36)',
  },
}

function ddl(dialect: Dialect): string {
  const { id, time, json, price, big, bytes, uuid } = TYPES[dialect]
  const trash = `deleted_at ${time}, deletion_id varchar(36)`
  const quoted = (name: string) => dialect === 'mysql' ? `\`${name}\`` : `"${name}"`
  return `
    create table articles (id ${id}, organization_id integer not null, title varchar(100) not null unique, data ${json}, price ${price}, big ${big}, bytes ${bytes}, at ${time}, secret varchar(100) default 'hush', ${trash});
    create table comments (id ${id}, organization_id integer not null, article_id integer, parent_id integer, body varchar(100) not null, ${trash},
      foreign key (article_id) references articles(id), foreign key (parent_id) references comments(id));
    create table notes (comment_id integer not null, place varchar(100) not null, ${trash}, primary key (comment_id, place), foreign key (comment_id) references comments(id));
    create table bookmarks (id ${id}, organization_id integer not null, article_id integer, name varchar(100), foreign key (article_id) references articles(id) on delete set null);
    create table tags (id integer primary key, name varchar(100) not null);
    create table article_tags (article_id integer not null, tag_id integer not null, primary key (article_id, tag_id), foreign key (article_id) references articles(id), foreign key (tag_id) references tags(id));
    create table labels (id integer primary key, name varchar(100) not null);
    create table article_labels (id ${id}, article_id integer not null, label_id integer not null, note varchar(100), ${trash}, foreign key (article_id) references articles(id), foreign key (label_id) references labels(id));
    create table ledger (id ${uuid} primary key, place varchar(100) not null, kind varchar(100) not null, record_id varchar(100) not null, tenant_id integer, cascaded ${dialect === 'pg' ? 'boolean' : 'integer'} not null,
      ${quoted('columns')} ${json}, ${quoted('before')} ${json}, ${quoted('after')} text);
  `
}

const TABLE = { sqlite: lite.sqliteTable, pg: pg.pgTable, mysql: my.mysqlTable } as unknown as Record<Dialect, typeof lite.sqliteTable>
const ID = { sqlite: lite.integer, pg: pg.integer, mysql: my.int } as unknown as Record<Dialect, typeof lite.integer>
const NAME = { sqlite: lite.text, pg: pg.text, mysql: my.text } as unknown as Record<Dialect, typeof lite.text>

/** Further tables, each with a row 1. Half of them have tenants. */
const further = (dialect: Dialect, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    name: `thing${index}`,
    schema: TABLE[dialect](`thing${index}`, {
      id: ID[dialect]('id').primaryKey(),
      name: NAME[dialect]('name'),
      ...(index % 2 === 0 && { organizationId: ID[dialect]('organization_id').notNull() }),
    }),
    ddl: `create table thing${index} (id integer primary key, name varchar(100)${index % 2 === 0 ? ', organization_id integer not null' : ''});
    insert into thing${index} values (1, 'thing'${index % 2 === 0 ? ', 1' : ''});`,
  }))

const CLEAR = ['ledger', 'article_labels', 'labels', 'article_tags', 'tags', 'bookmarks', 'notes', 'comments', 'articles']
const TIMES: Readonly<Record<Dialect, string>> = { sqlite: '1767225600000', pg: `'2026-01-01T00:00:00Z'`, mysql: `'2026-01-01 00:00:00'` }
const BYTES: Readonly<Record<Dialect, string>> = { sqlite: `x'00ff10'`, pg: `'\\x00ff10'`, mysql: `x'00ff10'` }

/**
 * Article 1 has comments, a reply and notes on it, bookmarks, tags and labels, one of the labels in the trash. One request deleted
 * articles 4 and 5 with their comments. Article 9 belongs to another tenant.
 */
export async function reset({ opened, dialect }: Ledger): Promise<void> {
  const time = TIMES[dialect]
  const big = dialect === 'sqlite' ? `cast('9007199254740993' as blob)` : '9007199254740993'
  await opened.exec(`${dialect === 'mysql' ? 'update comments set parent_id = null;' : ''} ${CLEAR.map(name => `delete from ${name};`).join(' ')}
    ${dialect === 'pg' ? ['articles', 'comments', 'bookmarks', 'article_labels'].map(name => `alter sequence ${name}_id_seq restart with 1000;`).join(' ') : ''}
    insert into articles (id, organization_id, title, data, price, big, bytes, at) values (1, 1, 'one', '{"a":[1,"x"],"b":{"c":null}}', 12.5, ${big}, ${BYTES[dialect]}, ${time}), (2, 1, 'two', null, null, null, null, null), (3, 1, 'three', 'null', 3, null, null, null), (9, 2, 'theirs', null, null, null, null, null);
    insert into articles (id, organization_id, title, deleted_at, deletion_id) values (4, 1, 'four', ${time}, 'd4'), (5, 1, 'five', ${time}, 'd4');
    insert into comments (id, organization_id, article_id, parent_id, body) values (11, 1, 1, null, 'c11'), (12, 1, 1, null, 'c12'), (21, 1, 2, null, 'c21'), (111, 1, null, 11, 'c111');
    insert into comments (id, organization_id, article_id, parent_id, body, deleted_at, deletion_id) values (41, 1, 4, null, 'c41', ${time}, 'd4'), (42, 1, 4, null, 'c42', ${time}, 'd42'), (411, 1, null, 41, 'c411', ${time}, 'd4');
    insert into notes (comment_id, place) values (111, 'top, left'), (111, 'ü%/"'), (12, 'end');
    insert into bookmarks (id, organization_id, article_id, name) values (1, 1, 2, 'mine'), (2, 1, 2, null), (3, 1, 2, 'old'), (4, 1, null, 'none');
    insert into tags values (1, 'a'), (2, 'b'), (3, 'c');
    insert into article_tags values (1, 1), (1, 2), (2, 1);
    insert into labels values (1, 'x'), (2, 'y'), (3, 'z');
    insert into article_labels (id, article_id, label_id, note) values (1, 1, 1, 'first'), (2, 1, 2, null), (4, 2, 1, null);
    insert into article_labels (id, article_id, label_id, note, deleted_at, deletion_id) values (3, 1, 3, 'gone', ${time}, 'd9');
  `)
}

export interface Ledger extends TestServer {
  readonly opened: Opened
  readonly dialect: Dialect
  readonly tables: LedgerTables
}

export interface LedgerOptions extends OpenOptions {
  readonly plugins?: (tables: LedgerTables) => readonly unknown[]
  readonly hooks?: ResourceHooks
  readonly transactional?: boolean
  /** Registers the table of an audit log too. */
  readonly auditLog?: boolean
  /** The number of further resources: `thing0`, `thing1` and so on. */
  readonly further?: number
  /** Further resources of plugins, with the SQL of their tables. */
  readonly resources?: Readonly<Record<string, Pick<ResourceRegistration, 'schema' | 'authorization'>>>
  readonly sql?: string
  /** Rules that replace those of a resource. */
  readonly authorization?: Readonly<Record<string, object>>
  readonly endpoints?: (tables: LedgerTables) => Promise<Readonly<Record<string, unknown>>>
}

export async function openLedger(
  { dialect, engine, open }: EngineCase,
  {
    plugins,
    hooks,
    endpoints,
    auditLog = false,
    further: count = 0,
    resources = {},
    sql: resourcesSql = '',
    authorization = {},
    transactional = true,
    ...options
  }: LedgerOptions = {},
): Promise<Ledger> {
  const opened = await open(options)
  await opened.exec(ddl(dialect))
  if (auditLog) await opened.exec(await auditLogSql(dialect))
  if (resourcesSql !== '') await opened.exec(resourcesSql)
  const things = further(dialect, count)
  if (count > 0) await opened.exec(things.map(({ ddl }) => ddl).join(''))
  const tables = TABLES[dialect]() as unknown as LedgerTables
  const { articles, comments, bookmarks, tags, labels, articleLabels } = tables
  const permissions = { read: true, create: true, update: true, delete: true } as const
  const server = await createServer({
    db: opened.db,
    engine,
    modules: [{ ...tables, ...Object.fromEntries(things.map(({ name, schema }) => [name, schema])) }],
    registrations: [...Object.entries(resources).map(([name, registered]) => ({ name, ...registered })), ...Object.entries({
      articles,
      comments,
      bookmarks,
      tags,
      labels,
      articleLabels,
      ...(auditLog && { auditLog: AUDIT_LOGS[dialect] }),
      ...Object.fromEntries(things.map(({ name, schema }) => [name, schema])),
    }).map(([name, schema]) => ({
      name,
      schema: schema as Table,
      authorization: authorization[name] ?? { permissions: name === 'auditLog' ? { read: 'auditor' } : permissions },
      ...(name === 'articles' && { hiddenFields: ['secret'], hooks, nested: { tags: ['link', 'unlink'], labels: ['link', 'unlink'] } as const }),
    }))],
    plugins: plugins?.(tables),
    ...(endpoints && { endpoints: () => endpoints(tables) as never }),
    config: {
      multiTenancy: {
        enabled: true,
        tenantIdField: 'organizationId',
        userTenantField: 'organizationId',
        scopedResources: '*',
        excludedResources: [],
      },
      bulk: { enabled: true, maxBatchSize: 100, transactional },
      m2m: { autoDetect: true, relations: { articleLabels: ['articles', 'labels'] } },
    },
  })
  return { ...server, opened, dialect, tables }
}

type Stored = Record<string, unknown>

/** A stored value as JSON. */
const toJson = (value: unknown): unknown =>
  value instanceof Date
    ? value.toISOString()
    : typeof value === 'bigint'
      ? String(value)
      : ArrayBuffer.isView(value)
        ? Buffer.from(value as Buffer).toString('base64')
        : value

/** All rows of a table, read without the API. */
export async function readTable({ opened }: Pick<Ledger, 'opened'>, table: Table): Promise<Stored[]> {
  const db = opened.db as { select: () => { from: (table: Table) => { orderBy: (by: unknown) => Promise<Stored[]> } } }
  const rows = await db.select().from(table).orderBy(sql`1`)
  return rows.map(row => Object.fromEntries(Object.keys(getTableColumns(table)).map(name => [name, toJson(row[name])])))
}

/** All rows of all tables but the ledger, by table and id. */
export async function dump(ledger: Ledger): Promise<ReadonlyMap<string, Stored>> {
  const rows = new Map<string, Stored>()
  for (const [name, table] of Object.entries(ledger.tables)) {
    if (name === 'ledger') continue
    // The MySQL driver rounds 64-bit integers.
    const exact
      = name === 'articles' && ledger.dialect === 'mysql'
        ? new Map((await ledger.opened.all('select id, cast(big as char) from articles')) as [unknown, unknown][])
        : undefined
    for (const row of await readTable(ledger, table)) {
      if (exact) row.big = exact.get(row.id)
      rows.set(`${getTableName(table)} ${idOf(name, row)}`, row)
    }
  }
  return rows
}

const KEYS: Readonly<Record<string, readonly string[]>> = { notes: ['commentId', 'place'], articleTags: ['articleId', 'tagId'] }

function idOf(name: string, row: Stored): string {
  const key = KEYS[name]
  return key ? key.map(column => encodeURIComponent(String(row[column]))).join(',') : String(row.id)
}
