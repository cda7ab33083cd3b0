/** The key of a table without a primary key: a unique constraint over NOT NULL columns, or the `key` of the registration. */
import { sql } from 'drizzle-orm'
import * as mysql from 'drizzle-orm/mysql-core'
import * as pg from 'drizzle-orm/pg-core'
import * as sqlite from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import type { ResourceRegistration } from '../../../../src/runtime/server/registration'
import { resourceOf, resourcesOf } from '../../../support/tables'

type Core = Pick<typeof sqlite, 'sqliteTable' | 'integer' | 'text' | 'unique' | 'uniqueIndex'>

const DIALECTS: readonly { dialect: string, core: Core, json: () => never }[] = [
  { dialect: 'sqlite-core', core: sqlite, json: () => sqlite.text({ mode: 'json' }) as never },
  { dialect: 'pg-core', core: { ...pg, sqliteTable: pg.pgTable } as never, json: () => pg.jsonb() as never },
  {
    dialect: 'mysql-core',
    core: { ...mysql, sqliteTable: mysql.mysqlTable, integer: mysql.int, text: (() => mysql.varchar({ length: 50 })) as never } as never,
    json: () => mysql.json() as never,
  },
]

describe.each(DIALECTS)(
  'the key of a table of $dialect without a primary key',
  ({ core: { sqliteTable: table, integer, text, unique, uniqueIndex }, json }) => {
    const columns = () => ({ code: text().notNull(), region: text().notNull(), nick: text(), amount: integer(), data: json() })
    const keyOf = (of: sqlite.SQLiteTable, parts: Partial<ResourceRegistration> = {}, config = {}) =>
      resourceOf({ schema: of, ...parts }, config).primaryKey.map(({ name }) => name)

    it.each<[string, sqlite.SQLiteTable, Partial<ResourceRegistration>, readonly string[]]>([
      ['a unique column', table('t', { ...columns(), slug: text().notNull().unique() }), {}, ['slug']],
      ['a unique constraint', table('t', columns(), t => [unique().on(t.region, t.code)]), {}, ['region', 'code']],
      ['a unique index', table('t', columns(), t => [uniqueIndex('one').on(t.region, t.code)]), {}, ['region', 'code']],
      [
        'the one with the fewest columns',
        table('t', columns(), t => [unique().on(t.region, t.code), unique('second').on(t.code)]),
        {},
        ['code'],
      ],
      [
        'the first of two with as many columns',
        table('t', columns(), t => [unique('first').on(t.region), unique('second').on(t.code)]),
        {},
        ['region'],
      ],
      [
        'the one without a hidden column',
        table('t', columns(), t => [unique('first').on(t.region), unique('second').on(t.code)]),
        { hiddenFields: ['region'] },
        ['code'],
      ],
      [
        'the one without a nullable column',
        table('t', columns(), t => [unique('first').on(t.nick), unique('second').on(t.code)]),
        {},
        ['code'],
      ],
      ['`key` as a name', table('t', columns()), { key: 'code' }, ['code']],
      ['`key` as a list, in its order', table('t', columns()), { key: ['region', 'code'] }, ['region', 'code']],
      ['`key` before a unique constraint', table('t', columns(), t => [unique().on(t.region)]), { key: 'code' }, ['code']],
    ])('is %s', (_, of, parts, expected) => {
      expect(keyOf(of, parts)).toEqual(expected)
    })

    it('is in no update body, and alone it identifies a row', () => {
      const resource = resourceOf(table('t', columns(), t => [unique().on(t.code)]))
      expect(resource.writable.update.has('code')).toBe(false)
      expect([...resource.fields.values()].filter(({ isKey }) => isKey).map(({ name }) => name)).toEqual(['code'])
    })

    it.each<[string, sqlite.SQLiteTable, Partial<ResourceRegistration>]>([
      ['no constraint', table('t', columns()), {}],
      ['a nullable column', table('t', columns(), t => [unique().on(t.nick, t.code)]), {}],
      ['a hidden column', table('t', columns(), t => [unique().on(t.code)]), { hiddenFields: ['code'] }],
      [
        'a unique index with a condition',
        table('t', columns(), t => [
          uniqueIndex('some')
            .on(t.code)
            .where?.(sql`amount > 1`) ?? unique().on(t.nick),
        ]),
        {},
      ],
    ])('is missing, and the error names the ways to declare one: %s', (_, of, parts) => {
      expect(() => keyOf(of, parts)).toThrow(
        /^\[auto-api\] `it`: table "t" has no primary key.*primary key in the table, or a unique constraint.*`key: 'id'` or `key: \['a', 'b'\]`\.$/,
      )
    })

    it.each<[string, Partial<ResourceRegistration>, string]>([
      [
        'a column that does not exist',
        { key: ['code', 'reigon'] },
        '`it.key` names `reigon`, which is not a column of table "t". Did you mean `region`?',
      ],
      ['a nullable column', { key: 'nick' }, '`it.key` names `nick`, which can be NULL'],
      ['a JSON column', { key: 'data' }, '`it.key` names `data`, which'],
    ])('cannot be %s', (_, parts, message) => {
      expect(() => keyOf(table('t', columns()), parts)).toThrow(message)
    })

    it('cannot replace a primary key', () => {
      expect(() => keyOf(table('t', { id: integer().primaryKey(), code: text().notNull() }), { key: 'code' })).toThrow(
        '`it.key` is set, but table "t" has the primary key `id`. Remove `key`.',
      )
    })

    it('makes a junction table of the table, if it consists of two foreign keys', () => {
      const posts = table('posts', { id: integer().primaryKey() })
      const tags = table('tags', { id: integer().primaryKey() })
      const postTags = table(
        'post_tags',
        {
          postId: integer()
            .notNull()
            .references(() => posts.id),
          tagId: integer()
            .notNull()
            .references(() => tags.id),
        },
        t => [unique().on(t.postId, t.tagId)],
      )
      expect(resourcesOf({ posts, tags, postTags }).get('posts')!.relations.get('tags')).toMatchObject({
        kind: 'manyToMany',
        junction: { registered: true, unique: true },
      })
    })
  },
)

describe('the mistakes of registrations', () => {
  const { sqliteTable, integer, text } = sqlite
  const logs = sqliteTable('logs', { line: text() })
  const posts = sqliteTable('posts', { id: integer().primaryKey(), title: text() })

  function messagesOf(start: () => unknown): unknown {
    try {
      return start()
    }
    catch (error) {
      return (error as Error).message.split('\n')
    }
  }

  it('are all in one error, of one resource and of all resources, each with the name of its resource', () => {
    const messages = messagesOf(() =>
      resourcesOf({
        logs: {
          schema: logs,
          hiddenFields: ['lnie', 'text'],
          authorization: { permissions: { reed: true, update: null as never } } as never,
        },
        posts: { schema: posts, authorization: { fields: { titel: {} } } as never },
        words: { schema: {} as never },
      }),
    )
    expect(messages).toEqual([
      expect.stringContaining('`logs`: table "logs" has no primary key'),
      expect.stringContaining('`logs.authorization.permissions.update` is null'),
      expect.stringContaining('`logs.hiddenFields` names `lnie`'),
      expect.stringContaining('`logs.hiddenFields` names `text`'),
      expect.stringContaining('`logs.authorization.permissions.reed` is not an operation'),
      expect.stringContaining('`posts.authorization.fields` names `titel`'),
      expect.stringContaining('`words.schema` is not a Drizzle table'),
    ])
  })

  it('include every relation without a free name', () => {
    const files = sqliteTable('files', {
      id: integer().primaryKey(),
      name: text(),
      ownerId: integer().references(() => posts.id),
      owner_id: integer().references(() => posts.id),
      post: integer(),
    })
    const comments = sqliteTable('comments', {
      id: integer().primaryKey(),
      fileId: integer().references(() => files.id),
      file_id: integer().references(() => files.id),
    })
    expect(messagesOf(() => resourcesOf({ files, posts, comments }))).toEqual([
      expect.stringMatching(/`files`: two relations.*`owner`/),
      expect.stringMatching(/`files`: two relations.*`commentsByFile`/),
      expect.stringMatching(/`posts`: two relations.*`filesByOwner`/),
      expect.stringMatching(/`comments`: two relations.*`file`/),
    ])
  })
})
