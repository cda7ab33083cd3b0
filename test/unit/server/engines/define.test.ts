/** An app can define an engine of its own. Its members are checked at startup, and the API uses it for every statement. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { createEngine, defineEngine, type DefinedEngine, type Engine } from 'nuxt-auto-api/database'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDatabase } from '../../../../src/runtime/server/core/replicas/database'
import { createServer } from '../../../support/server'
import { ADA, outcome } from '../../../scenarios/write/world'

const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  title: text('title').notNull().unique(),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
})

let client: Database.Database
let db: ReturnType<typeof drizzle>
beforeEach(() => {
  client = new Database(':memory:')
  client.exec(
    `create table posts (id integer primary key, title text not null unique, deleted_at integer); insert into posts values (1, 'one', null)`,
  )
  db = drizzle({ client })
})
afterEach(() => void client.close())

const open = (change: (engine: Engine) => unknown) => () =>
  createDatabase().initialize(db, {
    name: 'own',
    dialect: 'sqlite',
    create: db => change(createEngine('better-sqlite3', db)) as DefinedEngine,
  })

describe('an engine of the app', () => {
  it('runs every statement of the API', async () => {
    const ran: string[] = []
    const counted = defineEngine({
      name: 'counted',
      dialect: 'sqlite',
      create(db) {
        const engine = createEngine('better-sqlite3', db)
        return {
          ...engine,
          query: (statement) => {
            ran.push('query')
            return engine.query(statement)
          },
          commit: (statements) => {
            ran.push('commit')
            return engine.commit(statements)
          },
        }
      },
    })
    const { request } = await createServer({
      db,
      engine: counted,
      registrations: [
        { name: 'posts', schema: posts, authorization: { permissions: { read: true, create: true, update: true, delete: true } } },
      ] as never,
    })
    const send = async (method: string, path: string, body?: unknown) =>
      outcome(await request(method, `/api/${path}`, { body, caller: ADA }))
    expect(await send('POST', 'posts', { title: 'two' })).toBe('201')
    expect(ran).toEqual(['commit'])
    expect(await send('POST', 'posts', { title: 'two' })).toBe('409 CONFLICT')
    expect(await send('GET', 'posts?filter[title]=two')).toBe('200')
    expect(await send('PATCH', 'posts/2', { title: 'three' })).toBe('200')
    expect(await send('DELETE', 'posts/2')).toBe('200')
    expect(await send('POST', 'posts/2/restore')).toBe('200')
    expect(new Set(ran)).toEqual(new Set(['commit', 'query']))
    expect(client.prepare('select title from posts').pluck().all()).toEqual(['one', 'three'])
  })

  it('is created once for each database', () => {
    const created: object[] = []
    const database = createDatabase()
    const other = drizzle({ client: new Database(':memory:') })
    database.initialize((event: unknown) => event === 'other' ? other : db, { name: 'own', dialect: 'sqlite', create(db) {
      created.push(db)
      return createEngine('better-sqlite3', db)
    } })
    expect(database.engine('other').name).toBe('own')
    database.engine('one')
    database.engine('other')
    expect(created).toEqual([other, db])
  })

  it('replaces the engine that the same database had before', () => {
    const database = createDatabase()
    database.initialize(db, 'better-sqlite3')
    expect(database.engine().name).toBe('better-sqlite3')
    database.initialize(db, { name: 'own', dialect: 'sqlite', create: db => createEngine('better-sqlite3', db) })
    expect(database.engine().name).toBe('own')
  })

  it('has the adapter of its dialect, and does not change', () => {
    const { adapter } = createEngine('better-sqlite3', db)
    const engine = createEngine({ name: 'own', dialect: 'sqlite', create: (db) => {
      const { name: _name, dialect: _dialect, adapter: _adapter, ...engine } = createEngine('better-sqlite3', db)
      return engine
    } }, db)
    expect([engine.name, engine.dialect, engine.adapter]).toEqual(['own', 'sqlite', adapter])
    expect(Object.isFrozen(engine)).toBe(true)
  })
})

describe('an engine of the app is refused at startup', () => {
  const definition = { name: 'own', dialect: 'sqlite', create: (db: object) => createEngine('better-sqlite3', db) }

  it.each([
    ['is null', null, 'is not a supported engine'],
    ['is a number', 5, 'is not a supported engine'],
    ['has no name', { ...definition, name: undefined }, '`name` of the engine must be text of letters'],
    ['has a name with other characters', { ...definition, name: 'own|posts' }, '`name` of the engine must be text of letters'],
    ['has the name of a built-in engine', { ...definition, name: 'libsql' }, 'the name "libsql" belongs to a built-in engine'],
    ['has an unknown dialect', { ...definition, dialect: 'mssql' }, '`dialect` of the engine must be \'sqlite\', \'pg\' or \'mysql\''],
    ['has a dialect that every object has', { ...definition, dialect: 'constructor' }, '`dialect` of the engine must be'],
    ['has no create', { ...definition, create: undefined }, '`create` of the engine must be a function'],
    ['has an unknown member', { ...definition, crate: () => {} }, 'the engine has an unknown member `crate`. Did you mean `create`?'],
  ])('if its definition %s', (_name, engine, message) => {
    expect(() => createDatabase().initialize(db, engine as never)).toThrow(message)
    expect(() => createDatabase().initialize(() => db, engine as never)).toThrow(message)
  })

  it.each<[name: string, change: (engine: Engine) => unknown, message: string]>([
    ['is a promise', engine => Promise.resolve(engine), '`create` of the engine "own" returned a promise'],
    ['is undefined', () => undefined, 'the engine "own" must be an object with `name`, `dialect`'],
    ['has no query', engine => ({ ...engine, query: undefined }), '`query` of the engine "own" must be a function'],
    ['has no commit', ({ commit: _, ...engine }) => engine, '`commit` of the engine "own" must be a function'],
    ['has no render', engine => ({ ...engine, render: 'sql' }), '`render` of the engine "own" must be a function'],
    ['has no columnName', engine => ({ ...engine, columnName: {} }), '`columnName` of the engine "own" must be a function'],
    [
      'has text as maxParameters',
      engine => ({ ...engine, maxParameters: '100' }),
      '`maxParameters` of the engine "own" must be a positive integer',
    ],
    ['has no maxParameters', engine => ({ ...engine, maxParameters: 0 }), '`maxParameters` of the engine "own" must be a positive integer'],
    [
      'does not say whether it is concurrent',
      ({ concurrent: _, ...engine }) => engine,
      '`concurrent` of the engine "own" must be `true` or `false`',
    ],
    [
      'does not say whether it supports followUp',
      engine => ({ ...engine, supportsFollowUp: 1 }),
      '`supportsFollowUp` of the engine "own" must be `true` or `false`',
    ],
    ['has another type of blocking', engine => ({ ...engine, blocking: 'no' }), '`blocking` of the engine "own" must be `true` or `false`'],
    ['has incomplete limits', engine => ({ ...engine, limits: { terms: 5 } }), '`limits` of the engine "own" must be `{ terms, pattern }`'],
    ['has another dialect', engine => ({ ...engine, dialect: 'pg' }), 'returned an engine of another dialect'],
    [
      'has an adapter of its own',
      engine => ({ ...engine, adapter: {} }),
      '`adapter` of the engine "own" must be the adapter of a built-in engine',
    ],
    ['has an unknown member', engine => ({ ...engine, maxParams: 100 }), 'the engine "own" has an unknown member `maxParams`'],
    ['has a misspelled member', engine => ({ ...engine, comit: engine.commit }), 'Did you mean `commit`?'],
  ])('if what it creates %s', (_name, change, message) => {
    expect(open(change)).toThrow(message)
  })
})
