/** A commit is all or nothing when its statements succeed, fail, or affect another number of rows. */
import Database from 'better-sqlite3'
import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { NeonHttpSession } from 'drizzle-orm/neon-http/session'
import { PgDialect } from 'drizzle-orm/pg-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findViolation } from '../../../../src/runtime/server/engines/violation'
import { ExpectationError, type Engine, type WriteStatement } from '../../../../src/runtime/server/engines/engine'
import { createEngine } from '../../../../src/runtime/server/engines/index'
import { dumpOf } from '../../../support/notebook'

let client: Database.Database
let engine: Engine

beforeEach(() => {
  client = new Database(':memory:')
  client.exec(`
    create table parent (id integer primary key, name text not null unique, age integer check (age > 0));
    create table child (id integer primary key, parent_id integer references parent(id));
    insert into parent values (1, 'ada', 36);
    insert into child values (1, 1);
  `)
  engine = createEngine('better-sqlite3', drizzle({ client }))
})

afterEach(() => void client.close())

const insert = (id: number, name: string | null): WriteStatement => ({
  text: 'insert into parent (id, name) values (?, ?)',
  values: [id, name],
})
const rename = (id: number, name: string): WriteStatement => ({
  text: 'update parent set name = ? where id = ?',
  values: [name, id],
  expectedRows: 1,
})

/** Lists whose last statement fails. */
const FAILING: [why: string, statements: WriteStatement[]][] = [
  ['a unique value that is taken', [insert(2, 'bob'), insert(3, 'bob')]],
  ['a missing reference', [insert(2, 'bob'), { text: 'insert into child values (2, 99)', values: [] }]],
  ['a required value', [insert(2, 'bob'), insert(3, null)]],
  ['a statement that is no SQL', [insert(2, 'bob'), { text: 'insert into', values: [] }]],
  ['a guard that found no row', [insert(2, 'bob'), rename(99, 'carol')]],
  ['an expectation that finds too many rows', [insert(2, 'bob'), { text: 'update parent set age = 1', values: [], expectedRows: 1 }]],
  [
    'an expectation about returned rows',
    [insert(2, 'bob'), { text: 'update parent set age = 1 returning id', values: [], returnsRows: true, expectedRows: 1 }],
  ],
  [
    'an expectation about selected rows',
    [insert(2, 'bob'), { text: 'select id from parent', values: [], returnsRows: true, expectedRows: 1 }],
  ],
  ['a guard in the middle', [insert(2, 'bob'), rename(99, 'carol'), insert(3, 'dan')]],
  [
    'a single statement that would affect too many rows',
    [insert(2, 'bob'), insert(3, 'carl'), { text: 'delete from parent where id > 1', values: [], expectedRows: 1 }],
  ],
]

describe('a list of statements', () => {
  it.each(FAILING)('is rolled back completely after %s', async (_why, statements) => {
    const before = dumpOf(client)
    await expect(async () => engine.commit(statements)).rejects.toThrow()
    expect(dumpOf(client)).toBe(before)
    expect(client.inTransaction).toBe(false)
  })

  it('returns one outcome per statement when all succeed', async () => {
    const outcomes = await engine.commit([
      insert(2, 'bob'),
      rename(2, 'bert'),
      { text: 'insert into parent (id, name) values (3, \'cleo\') returning name, id', values: [], returnsRows: true, expectedRows: 1 },
    ])
    expect(outcomes).toEqual([{ rows: [], affectedRows: 1 }, { rows: [], affectedRows: 1 }, { rows: [['cleo', 3]], affectedRows: 1 }])
    expect(client.prepare('select name from parent order by id').pluck().all()).toEqual(['ada', 'bert', 'cleo'])
  })

  it('continues after a statement that expects no row and affects none', async () => {
    await engine.commit([{ ...rename(99, 'x'), expectedRows: 0 }, insert(2, 'bob')])
    expect(client.prepare('select count(*) from parent').pluck().get()).toBe(2)
  })

  it('does not affect the next commit after a rollback', async () => {
    await expect(async () => engine.commit([insert(2, 'bob'), insert(2, 'carol')])).rejects.toThrow()
    await engine.commit([insert(2, 'carol')])
    expect(client.prepare('select name from parent where id = 2').pluck().get()).toBe('carol')
  })

  it('writes nothing without statements', async () => {
    expect(await engine.commit([])).toEqual([])
  })
})

describe('an expectation', () => {
  it('reports the index of its statement and the number of affected rows', async () => {
    const error = await Promise.resolve().then(() => engine.commit([insert(2, 'bob'), rename(99, 'carol')])).catch(error => error)
    expect(error).toBeInstanceOf(ExpectationError)
    expect(error).toMatchObject({ index: 1, affectedRows: 0 })
  })

  it('also rolls back a single statement', async () => {
    const before = dumpOf(client)
    await expect(async () => engine.commit([rename(99, 'carol')])).rejects.toThrow(ExpectationError)
    await expect(async () => engine.commit([{ text: 'delete from child', values: [], expectedRows: 2 }])).rejects.toThrow(ExpectationError)
    await expect(async () =>
      engine.commit([{ text: 'insert into parent (id, name) values (7, \'x\'), (8, \'y\')', values: [], expectedRows: 1 }]),
    ).rejects.toThrow(ExpectationError)
    expect(dumpOf(client)).toBe(before)
  })
})

/** Errors of SQLite, and the violations they mean. */
const VIOLATIONS: [why: string, text: string, violation: object][] = [
  ['a unique value', 'insert into parent values (2, \'ada\', 1)', { kind: 'unique', columns: ['name'], table: 'parent' }],
  ['a primary key', 'insert into parent values (1, \'bob\', 1)', { kind: 'unique', columns: ['id'], table: 'parent' }],
  ['a reference to nothing', 'insert into child values (2, 99)', { kind: 'reference', columns: [] }],
  ['a row that is referred to', 'delete from parent', { kind: 'reference', columns: [] }],
  ['a required value', 'insert into parent values (2, null, 1)', { kind: 'required', columns: ['name'], table: 'parent' }],
  ['a check', 'insert into parent values (2, \'bob\', 0)', { kind: 'check', columns: [], key: 'age > 0' }],
]

describe('an error of the database', () => {
  it.each(VIOLATIONS)('is a violation with a kind and columns: %s', (_why, text, violation) => {
    const error = catchError(() => client.exec(text))
    expect(findViolation('sqlite', error)).toEqual(violation)
    expect(findViolation('sqlite', new Error('wrapped', { cause: error }))).toEqual(violation)
  })

  it.each([new Error('disk full'), Object.assign(new Error('busy'), { code: 'SQLITE_BUSY' }), undefined, 'text', { code: 'SQLITE_FULL' }])(
    'is no violation for another reason: %s',
    (error) => {
      expect(findViolation('sqlite', error)).toBeUndefined()
    },
  )

  it('is read when its causes form a cycle', () => {
    const error = new Error('round')
    error.cause = error
    expect(findViolation('sqlite', error)).toBeUndefined()
  })
})

describe('a new database', () => {
  it('enforces foreign keys, which the driver does not enable', () => {
    const own = new Database(':memory:')
    own.pragma('foreign_keys = off')
    createEngine('better-sqlite3', drizzle({ client: own }))
    expect(own.pragma('foreign_keys', { simple: true })).toBe(1)
    own.close()
  })

  it.each([undefined, null, {}, 'app.db', { session: {} }])('must be a Drizzle database: %s', (value) => {
    expect(() => createEngine('better-sqlite3', value)).toThrow('not a Drizzle database')
  })

  it.each(['neon', 'postgres', 'neon-http', 'd1'])(
    'of Neon over HTTP is refused as %s, with an error that names the alternatives',
    (name) => {
      const dialect = new PgDialect()
      const session = new NeonHttpSession(() => {}, dialect, undefined)
      const sentence
        = 'drizzle-orm/neon-http has no transactions, which writes require. Use drizzle-orm/neon-serverless (Neon over WebSockets) as \'neon\', '
          + 'or drizzle-orm/node-postgres or drizzle-orm/postgres-js as \'postgres\'.'
      expect(() => createEngine(name as never, { dialect, session })).toThrow(sentence)
    },
  )

  it.each(['postgres', 'mysql', 'libsql', 'd1'] as const)(
    'of another engine is refused at startup with the name of the engine to use: better-sqlite3 as %s',
    (name) => {
      expect(() => createEngine(name, drizzle({ client }))).toThrow(
        `initializeDatabase(db, '${name}'): the database uses drizzle-orm/better-sqlite3. Pass 'better-sqlite3' as the engine.`,
      )
    },
  )

  it('of an unknown driver is checked by its dialect', () => {
    expect(() => createEngine('mysql', { dialect: new PgDialect(), session: {} })).toThrow('the database is a Postgres database')
    expect(() => createEngine('postgres', { dialect: new PgDialect(), session: {} })).not.toThrow()
  })

  it.each(['sqlite', 'constructor', '__proto__', ''])('requires a supported engine, and the error lists them: %s', (name) => {
    expect(() => createEngine(name as never, drizzle({ client }))).toThrow(/not a supported engine.*better-sqlite3/)
  })

  it('prepares each text once, without its values', async () => {
    const nasty = '\'); drop table child; --'
    await engine.commit([insert(2, nasty)])
    expect(await engine.query({ text: 'select name from parent where name = ?', values: [nasty] })).toEqual([[nasty]])
    expect(engine.render(sql`select ${nasty}`)).toEqual({ text: 'select ?', values: [nasty] })
  })
})

function catchError(run: () => unknown): unknown {
  try {
    run()
  }
  catch (error) {
    return error
  }
  throw new Error('nothing was refused')
}
