/** The options for read replicas, and the databases that Drizzle's `withReplicas()` returns, with both major versions of Drizzle. */
import { drizzle as mysql2 } from 'drizzle-orm/mysql2'
import { withReplicas as withMysqlReplicas } from 'drizzle-orm/mysql-core'
import { drizzle } from 'drizzle-orm/node-postgres'
import { drizzle as libsql } from 'drizzle-orm/libsql'
import { withReplicas } from 'drizzle-orm/pg-core'
import { withReplicas as withSqliteReplicas } from 'drizzle-orm/sqlite-core'
import { createPool } from 'mysql2/promise'
import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { createDatabase } from '../../../../src/runtime/server/core/replicas/database'
import { requireCurrentRows } from '../../../../src/runtime/server/core/replicas/replica-engine'
import { isReplicaError, isUnavailable } from '../../../../src/runtime/server/engines/replica-error'
import { InvalidValueError } from '../../../../src/runtime/server/engines/engine'
import type { Secrets } from '../../../../src/runtime/server/core/process/secret'
import { createMarker, findMarkedPosition } from '../../../../src/runtime/server/core/replicas/marker'
import { fromText, hasReached, latest, toText } from '../../../../src/runtime/server/engines/log-position'
import { DIALECTS } from '../../../../src/runtime/server/engines/dialects/index'

/** Pools connect with the first statement, which these tests do not send. */
const open = () => drizzle({ client: new pg.Pool() })
const initialize = (db: unknown, engine: unknown, options?: unknown) => {
  const database = createDatabase()
  database.initialize(db as object, engine as 'postgres', options as object)
  return database
}

describe('initializeDatabase()', () => {
  const db = open()

  it.each<readonly [string, unknown, string]>([
    ['null options', null, 'the options must be an object, such as `{ replica }`.'],
    ['an unknown option', { replicas: db }, 'the option `replicas` is unknown. Did you mean `replica`?'],
    ['no database', { replica: 'postgres://replica' }, '`replica` must be a Drizzle database, or a list of them.'],
    ['an object that is no database', { replica: {} }, 'the value is not a Drizzle database.'],
    ['an empty list', { replica: [] }, '`replica` is an empty list.'],
    ['the database itself', { replica: [open(), db] }, '`replica` is the database itself.'],
    ['a database of another engine', { replica: libsql('file::memory:') }, 'the database uses drizzle-orm/libsql.'],
    ...[0, 99, 1.5, -1, Number.NaN, Infinity, '1000', null].map(maxLag =>
      [`maxLag: ${String(maxLag)}`, { replica: open(), maxLag }, '`maxLag` must be a whole number of milliseconds, 100 or more.'] as const),
  ])('refuses %s', (_, options, message) => {
    expect(() => initialize(db, 'postgres', options)).toThrow(message)
  })

  it('refuses a replica beside a function, and beside a `withReplicas()`', () => {
    expect(() => initialize(() => db, 'postgres', { replica: open() })).toThrow(
      'Let the function return `withReplicas(primary, [replica])` of Drizzle.',
    )
    expect(() => initialize(withReplicas(open(), [open()]), 'postgres', { replica: open() })).toThrow('Remove `replica`.')
  })

  it('refuses replicas of a database that it cannot compare with its primary, and keeps a `withReplicas()` of it on the primary', () => {
    const open = () => libsql('file::memory:')
    expect(() => initialize(libsql('file::memory:'), 'libsql', { replica: libsql('file::memory:') })).toThrow(
      'replicas require Postgres or MariaDB.',
    )
    const database = initialize(withSqliteReplicas(open() as never, [open() as never]), 'libsql')
    expect([database.engine().dialect, database.replicas()]).toEqual(['sqlite', undefined])
  })

  it('accepts replicas of MariaDB, by the option and by a `withReplicas()`', () => {
    const open = () => mysql2({ client: createPool({}) as never })
    expect(initialize(open(), 'mysql', { replica: open() }).replicas()).toMatchObject({ maxLag: 10_000 })
    expect(initialize(withMysqlReplicas(open() as never, [open() as never]), 'mysql').replicas()).toMatchObject({ maxLag: 10_000 })
  })

  it('accepts the `withReplicas()` of a function', () => {
    const both = withReplicas(open(), [open()])
    const database = initialize(() => both, 'postgres')
    expect(database.get()).toBe(both)
    expect(database.replicas()).toMatchObject({ maxLag: 10_000 })
    expect(database.replicas()).toBe(database.replicas())
  })

  it('writes and reads on the primary of a `withReplicas()`, whichever replica Drizzle would choose', async () => {
    const sent: string[] = []
    const opened = (name: string) => drizzle({ client: new pg.Pool({ port: 1 }), logger: { logQuery: () => void sent.push(name) } })
    const engine = initialize(withReplicas(opened('primary'), [opened('replica')], replicas => replicas[0]!), 'postgres').engine()
    await expect(engine.query({ text: 'select 1', values: [] })).rejects.toThrow()
    await expect(Promise.resolve(engine.commit([{ text: 'select 1', values: [] }]))).rejects.toThrow()
    expect(sent).toContain('primary')
    expect(sent).not.toContain('replica')
  })

  it('has no replicas without the option, and no engine that could read from one', () => {
    const database = initialize(db, 'postgres')
    expect(database.replicas()).toBeUndefined()
    requireCurrentRows({ engine: database.engine() })
  })

  it('keeps the process alive when the idle connection of a replica ends', () => {
    const [own, other] = [new pg.Pool(), new pg.Pool()]
    const listen = vi.fn()
    other.on('error', listen)
    initialize(open(), 'postgres', { replica: [drizzle({ client: own }), drizzle({ client: other })] })
    own.emit('error', new Error('ended'), undefined as never)
    other.emit('error', new Error('ended'), undefined as never)
    expect([own.listenerCount('error'), other.listenerCount('error'), listen.mock.calls.length]).toEqual([1, 1, 1])
  })
})

/** An error of mysql2. */
const ofMysql = (code: string, errno: number | undefined, sqlState: string | undefined) =>
  Object.assign(new Error('query'), { cause: Object.assign(new Error('driver'), { code, errno, sqlState }) })

describe('an error of a replica', () => {
  const coded = (code: string) => Object.assign(new Error('query'), { cause: Object.assign(new Error('driver'), { code }) })

  it.each([
    ['the connection failed', Object.assign(new Error('x'), { code: 'ECONNRESET' }), true, true],
    ['the connection failed, with a code in capital letters', coded('EPIPE'), true, true],
    ['the connection ended without a code', new Error('Connection terminated unexpectedly'), true, true],
    ['the server stops', coded('57P01'), true, true],
    ['the server is full', coded('53300'), true, true],
    ['a migration is missing', coded('42703'), true, false],
    ['the replay cancelled the query', coded('40001'), true, false],
    ['a function of the app writes', coded('25006'), true, false],
    ['the query took too long', coded('57014'), false, false],
    ['a server of MariaDB stops', ofMysql('ER_SERVER_SHUTDOWN', 1053, '08S01'), true, true],
    ['a server of MariaDB is full', ofMysql('ER_CON_COUNT_ERROR', 1040, '08004'), true, true],
    ['the connection to MariaDB ended', ofMysql('PROTOCOL_CONNECTION_LOST', undefined, undefined), true, true],
    ['MariaDB lacks a migration', ofMysql('ER_BAD_FIELD_ERROR', 1054, '42S22'), true, false],
    ['the query took too long on MariaDB', ofMysql('ER_STATEMENT_TIMEOUT', 1969, '70100'), false, false],
    ['the query took too long on MySQL', ofMysql('ER_QUERY_TIMEOUT', 3024, 'HY000'), false, false],
    ['a value does not fit', new InvalidValueError(coded('22P02')), false, false],
  ])('because %s', (_, error, onPrimary, unavailable) => {
    expect(isReplicaError(error)).toBe(onPrimary)
    if (onPrimary) expect(isUnavailable(error)).toBe(unavailable)
  })
})

describe('a position of MariaDB', () => {
  const { read, isUnknown } = DIALECTS.mysql.replication!

  it.each<[string, [number, bigint][]]>([
    ['', []],
    ['0-1-42', [[0, 42n]]],
    [
      '0-1-42,7-3-18446744073709551615',
      [
        [0, 42n],
        [7, 2n ** 64n - 1n],
      ],
    ],
    ['4294967295-4294967295-1', [[4294967295, 1n]]],
  ])('%j', (text, position) => {
    expect([...read(text)!]).toEqual(position)
  })

  it.each([null, undefined, 5, '0-1', '0-1-2-3', 'a-b-c', '0-1-1,', '3E11FA47-71CA-11E1-9E33-C80AA9429562:1-5'])('is not %j', (value) => {
    expect(read(value)).toBeUndefined()
  })

  it('does not exist on MySQL', () => {
    expect([
      isUnknown(ofMysql('ER_UNKNOWN_SYSTEM_VARIABLE', 1193, 'HY000')),
      isUnknown(ofMysql('ER_CON_COUNT_ERROR', 1040, '08004')),
    ]).toEqual([true, false])
  })
})

describe('positions in several streams', () => {
  const position = (...numbers: [number, number][]) => new Map(numbers.map(([stream, number]) => [stream, BigInt(number)]))

  it.each([
    [position([0, 5]), position([0, 5]), true],
    [position([0, 6]), position([0, 5]), true],
    [position([0, 4]), position([0, 5]), false],
    [position([0, 9]), position([0, 5], [1, 1]), false],
    [position([0, 5], [1, 1]), position([0, 5]), true],
    [position([0, 9], [1, 0]), position([0, 5], [1, 1]), false],
    [position(), position(), true],
    [position(), position([0, 0]), false],
  ])('%j reaches %j: %s', (reached, wanted, expected) => {
    expect(hasReached(reached, wanted)).toBe(expected)
  })

  it('have a position after all of them, and a text', () => {
    const both = latest(position([0, 5], [1, 9]), position([1, 3], [2, 255]))
    expect(both).toEqual(position([0, 5], [1, 9], [2, 255]))
    expect(toText(both)).toBe('0:5,1:9,2:ff')
    expect([fromText(toText(both)), fromText('')]).toEqual([both, position()])
  })

  it.each([
    ['none', position()],
    ['one', position([0, 5])],
    ['several', position([0, 5], [4294967295, 255], [3, 1])],
  ])('are in a marker: %s', async (_, sent) => {
    const { token } = await createMarker(['secret'], sent, 10_000, false)
    const headers: Record<string, string> = { 'consistency-token': token }
    expect(await findMarkedPosition(name => headers[name], ['secret'], 10_000)).toEqual(sent)
  })

  it('are accepted in a marker of the previous secret, and in none that is made with it once it is removed', async () => {
    const sent = position([0, 5])
    const find = ({ token }: { readonly token: string }, secrets: Secrets) => findMarkedPosition(() => token, secrets, 10_000)
    const before = await createMarker(['old'], sent, 10_000, false)
    expect([await find(before, ['new', 'old']), await find(before, ['new'])]).toEqual([sent, undefined])
    const after = await createMarker(['new', 'old'], sent, 10_000, false)
    expect([await find(after, ['new']), await find(after, ['old'])]).toEqual([sent, undefined])
  })
})

describe('a position of Postgres', () => {
  const { read } = DIALECTS.pg.replication!

  it.each([
    ['0/0', 0n], ['16/B374D848', 0x16B374D848n], ['FFFFFFFF/FFFFFFFF', 2n ** 64n - 1n],
    // After the header of a page, and after that of a segment: nothing has been written there yet.
    ['0/3000028', 0x3000000n], ['0/3002018', 0x3002000n], ['0/3002028', 0x3002028n], ['0/3000018', 0x3000000n], ['0/3000030', 0x3000030n],
  ])('%s', (text, position) => {
    expect(read(text)).toEqual(new Map([[0, position]]))
  })

  it.each([null, undefined, 5, '', '0/', '/0', '0/G', '0/0 ', '000000001/0'])('is not %s', (value) => {
    expect(read(value)).toBeUndefined()
  })
})
