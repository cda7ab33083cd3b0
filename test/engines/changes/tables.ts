/**
 * Tables with every way in which a write reaches other rows: cascades, cleared references, cycles and junctions, with and without trash.
 */
import { getTableColumns, type Table } from 'drizzle-orm'
import * as my from 'drizzle-orm/mysql-core'
import * as pg from 'drizzle-orm/pg-core'
import * as lite from 'drizzle-orm/sqlite-core'
import type { Dialect } from '../../../src/runtime/shared/dialects'

interface KeySpec {
  readonly columns: readonly string[]
  readonly to: string
  /** The referenced columns; without it the primary key. */
  readonly foreign?: readonly string[]
  readonly onDelete?: 'cascade' | 'set null'
  readonly onUpdate?: 'cascade'
}

export interface TableSpec {
  /** The primary key. A single `id` is generated. */
  readonly key: readonly string[]
  readonly columns?: Readonly<Record<string, 'integer' | 'text'>>
  readonly unique?: readonly string[]
  readonly references?: readonly KeySpec[]
  /** With a `deletionId`, or only with the time. */
  readonly trash?: true | 'time'
  readonly registered?: false
}

const to = (table: string, column: string, onDelete?: KeySpec['onDelete']): KeySpec => ({
  columns: [column],
  to: table,
  ...(onDelete && { onDelete }),
})

/** Parents precede their children, except in cycles. */
export const SPECS = {
  /** A cycle with people. */
  teams: {
    key: ['id'],
    columns: { name: 'text', slug: 'text', ownerId: 'integer', deputyId: 'integer', updatedAt: 'integer' },
    unique: ['slug'],
    trash: true,
    references: [to('people', 'ownerId'), to('people', 'deputyId', 'set null')],
  },
  people: {
    key: ['id'],
    columns: { name: 'text', teamId: 'integer', bossId: 'integer' },
    trash: true,
    references: [to('teams', 'teamId'), to('people', 'bossId')],
  },
  /** No trash; the database itself removes dependents of its rows. */
  images: { key: ['id'], columns: { name: 'text', parentId: 'integer' }, references: [to('images', 'parentId', 'cascade')] },
  thumbs: { key: ['id'], columns: { name: 'text', imageId: 'integer' }, references: [to('images', 'imageId', 'cascade')] },
  thumbNotes: {
    key: ['id'],
    columns: { name: 'text', thumbId: 'integer' },
    trash: true,
    registered: false,
    references: [to('thumbs', 'thumbId', 'cascade')],
  },
  posts: {
    key: ['id'],
    columns: { name: 'text', teamId: 'integer', personId: 'integer', imageId: 'integer', parentId: 'integer', updatedAt: 'integer' },
    trash: true,
    references: [to('teams', 'teamId'), to('people', 'personId', 'set null'), to('images', 'imageId', 'set null'), to('posts', 'parentId')],
  },
  comments: {
    key: ['id'],
    columns: { name: 'text', postId: 'integer', personId: 'integer', thumbId: 'integer', commentId: 'integer' },
    trash: 'time',
    references: [
      to('posts', 'postId', 'cascade'),
      to('people', 'personId', 'set null'),
      to('thumbs', 'thumbId', 'set null'),
      to('comments', 'commentId', 'set null'),
    ],
  },
  /** Ids that must be encoded. */
  reactions: {
    key: ['commentId', 'mark'],
    columns: { commentId: 'integer', mark: 'text', name: 'text' },
    registered: false,
    references: [to('comments', 'commentId', 'cascade')],
  },
  /** References a key that can change. */
  banners: {
    key: ['id'],
    columns: { name: 'text', teamSlug: 'text' },
    references: [{ columns: ['teamSlug'], to: 'teams', foreign: ['slug'], onDelete: 'cascade', onUpdate: 'cascade' }],
  },
  tags: { key: ['id'], columns: { name: 'text' } },
  postTags: {
    key: ['postId', 'tagId'],
    columns: { postId: 'integer', tagId: 'integer' },
    registered: false,
    references: [to('posts', 'postId'), to('tags', 'tagId', 'cascade')],
  },
  topics: { key: ['id'], columns: { name: 'text' }, trash: true },
  postTopics: {
    key: ['postId', 'topicId'],
    columns: { postId: 'integer', topicId: 'integer' },
    trash: true,
    registered: false,
    references: [to('posts', 'postId'), to('topics', 'topicId')],
  },
  labels: { key: ['id'], columns: { name: 'text' } },
  /** A registered junction with a trash and dependents. */
  postLabels: {
    key: ['postId', 'labelId'],
    columns: { postId: 'integer', labelId: 'integer', name: 'text' },
    trash: true,
    references: [to('posts', 'postId'), to('labels', 'labelId')],
  },
  labelNotes: {
    key: ['id'],
    columns: { name: 'text', postId: 'integer', labelId: 'integer' },
    trash: true,
    references: [{ columns: ['postId', 'labelId'], to: 'postLabels', onDelete: 'cascade' }],
  },
  groups: { key: ['id'], columns: { name: 'text' } },
  /** A registered junction without a trash; the database itself removes its dependents. */
  memberships: {
    key: ['personId', 'groupId'],
    columns: { personId: 'integer', groupId: 'integer', name: 'text' },
    references: [to('people', 'personId', 'cascade'), to('groups', 'groupId', 'cascade')],
  },
  perks: {
    key: ['id'],
    columns: { name: 'text', personId: 'integer', groupId: 'integer' },
    references: [{ columns: ['personId', 'groupId'], to: 'memberships', onDelete: 'cascade' }],
  },
} as const satisfies Readonly<Record<string, TableSpec>>

export type TableName = keyof typeof SPECS
export const TABLES = Object.entries(SPECS) as unknown as readonly (readonly [TableName, TableSpec])[]
export const specOf = (name: TableName): TableSpec => SPECS[name]
export const toSnake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

const isGenerated = ({ key }: TableSpec) => key.length === 1 && key[0] === 'id'

/** The properties of a table's columns, in the order of the database. */
export const propertiesOf = (spec: TableSpec): readonly string[] => [
  ...(isGenerated(spec) ? ['id'] : []),
  ...Object.keys(spec.columns ?? {}),
  ...(spec.trash ? ['deletedAt'] : []),
  ...(spec.trash === true ? ['deletionId'] : []),
]

type Columns = Readonly<Record<string, unknown>>
interface Builder { notNull: () => Builder, unique: () => Builder }
interface Maker {
  readonly table: (name: string, columns: Columns, extra: (own: Columns) => unknown[]) => Table
  readonly primaryKey: (config: { columns: unknown[] }) => unknown
  readonly foreignKey: (config: { columns: unknown[], foreignColumns: unknown[] }) => {
    onDelete: (action: string) => { onUpdate: (action: string) => unknown }
  }
  readonly id: () => unknown
  readonly integer: (name: string) => unknown
  readonly text: (name: string) => unknown
  readonly time: (name: string) => unknown
}

const MAKERS: Readonly<Record<Dialect, Maker>> = {
  sqlite: {
    table: lite.sqliteTable as never,
    primaryKey: lite.primaryKey as never,
    foreignKey: lite.foreignKey as never,
    id: () => lite.integer('id').primaryKey({ autoIncrement: true }),
    integer: name => lite.integer(name),
    text: name => lite.text(name),
    time: name => lite.integer(name, { mode: 'timestamp_ms' }),
  },
  pg: {
    table: pg.pgTable as never,
    primaryKey: pg.primaryKey as never,
    foreignKey: pg.foreignKey as never,
    id: () => pg.serial('id').primaryKey(),
    integer: name => (name === 'updated_at' ? pg.bigint(name, { mode: 'number' }) : pg.integer(name)),
    text: name => pg.text(name),
    time: name => pg.timestamp(name, { withTimezone: true }),
  },
  mysql: {
    table: my.mysqlTable as never,
    primaryKey: my.primaryKey as never,
    foreignKey: my.foreignKey as never,
    id: () => my.int('id').autoincrement().primaryKey(),
    integer: name => (name === 'updated_at' ? my.bigint(name, { mode: 'number' }) : my.int(name)),
    text: name => my.varchar(name, { length: 100 }),
    time: name => my.datetime(name, { fsp: 3 }),
  },
}

export function createTables(dialect: Dialect): Readonly<Record<TableName, Table>> {
  const { table, primaryKey, foreignKey, id, integer, text, time } = MAKERS[dialect]
  const made: Record<string, Table> = {}
  for (const [name, spec] of TABLES) {
    const { key, columns = {}, references = [], trash, unique = [] } = spec
    const build = (property: string, type: 'integer' | 'text') => {
      const column = { integer, text }[type](toSnake(property)) as Builder
      return key.includes(property) ? column.notNull() : unique.includes(property) ? column.unique() : column
    }
    made[name] = table(toSnake(name), {
      ...isGenerated(spec) && { id: id() },
      ...Object.fromEntries(Object.entries(columns).map(([property, type]) => [property, build(property, type)])),
      ...trash && { deletedAt: time('deleted_at') },
      ...trash === true && { deletionId: text('deletion_id') },
    }, own => [
      ...isGenerated(spec) ? [] : [primaryKey({ columns: key.map(property => own[property]) })],
      ...references.map(reference => foreignKey({
        columns: reference.columns.map(property => own[property]),
        // Drizzle resolves the columns of a table that comes later when it reads them.
        get foreignColumns() {
          const foreign = reference.to === name ? own : getTableColumns(made[reference.to]!) as Columns
          return (reference.foreign ?? specOf(reference.to as TableName).key).map(property => foreign[property])
        },
      }).onDelete(reference.onDelete ?? 'no action').onUpdate(reference.onUpdate ?? 'no action')),
    ])
  }
  return made as Readonly<Record<TableName, Table>>
}

/** A plugin writes every change into this table. */
export function createLedger(dialect: Dialect) {
  const text = { mysql: my.text, pg: pg.text, sqlite: lite.text }[dialect] as (name: string) => unknown
  const { table } = MAKERS[dialect]
  return table('ledger', Object.fromEntries(LEDGER.map(name => [name, text(toSnake(name))])), () => [])
}

/** The columns of the ledger. */
export const LEDGER = ['place', 'kind', 'recordId', 'cascaded', 'columnList', 'old', 'current'] as const

export const LEDGER_DDL = `create table ledger (${LEDGER.map(name => `${toSnake(name)} text`).join(', ')})`

const TYPES: Readonly<Record<Dialect, { id: string, time: string, text: string }>> = {
  sqlite: { id: 'integer primary key autoincrement', time: 'integer', text: 'text' },
  pg: { id: 'serial primary key', time: 'timestamptz', text: 'text' },
  mysql: { id: 'integer auto_increment primary key', time: 'datetime(3)', text: 'varchar(100)' },
}

export function ddl(dialect: Dialect): string {
  const { id, time, text } = TYPES[dialect]
  const list = (names: readonly string[]) => names.map(toSnake).join(', ')
  const foreignKey = ({ columns, to: table, foreign, onDelete, onUpdate }: KeySpec) =>
    `foreign key (${list(columns)}) references ${nameIn(dialect, table)} (${list(foreign ?? specOf(table as TableName).key)})${onDelete ? ` on delete ${onDelete}` : ''}${onUpdate ? ` on update ${onUpdate}` : ''}`
  const creates = TABLES.map(([name, spec]) => {
    const { key, columns = {}, references = [], trash, unique = [] } = spec
    const type = (property: string, kind: string) => property === 'updatedAt' ? 'bigint' : kind === 'text' ? text : kind
    return `create table ${nameIn(dialect, name)} (${[
      ...(isGenerated(spec) ? [`id ${id}`] : []),
      ...Object.entries(columns).map(
        ([property, kind]) =>
          `${toSnake(property)} ${type(property, kind)}${key.includes(property) ? ' not null' : ''}${unique.includes(property) ? ' unique' : ''}`,
      ),
      ...(trash ? [`deleted_at ${time}`] : []),
      ...(trash === true ? [`deletion_id ${text}`] : []),
      ...(isGenerated(spec) ? [] : [`primary key (${list(key)})`]),
      ...(dialect === 'sqlite' ? references.map(foreignKey) : []),
    ].join(', ')})`
  })
  const keys
    = dialect === 'sqlite'
      ? []
      : TABLES.flatMap(([name, { references = [] }]) =>
          references.map(reference => `alter table ${nameIn(dialect, name)} add ${foreignKey(reference)}`),
        )
  return [...creates, ...keys].join('; ')
}

/** `groups` is a keyword of MySQL. */
export const nameIn = (dialect: Dialect, name: string) => dialect === 'mysql' ? `\`${toSnake(name)}\`` : toSnake(name)

/** Removes every row: first the references that are no part of a key, then children before parents. */
export function clear(dialect: Dialect): string {
  const updates = TABLES.flatMap(([name, { key, references = [] }]) => {
    const columns = references.flatMap(reference => reference.columns).filter(column => !key.includes(column))
    return columns.length === 0
      ? []
      : [`update ${nameIn(dialect, name)} set ${columns.map(column => `${toSnake(column)} = null`).join(', ')}`]
  })
  return [...updates, ...TABLES.toReversed().map(([name]) => `delete from ${nameIn(dialect, name)}`)].join('; ')
}
