/** The suite for engines accepts a correct engine, and each of its tests refuses an engine that breaks one promise. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { createEngine, ExpectationError, InvalidValueError, type Engine } from 'nuxt-auto-api/database'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { engineSuite } from '../../../src/runtime/testing'

let client: Database.Database
let db: ReturnType<typeof drizzle>
beforeEach(() => {
  client = new Database(':memory:')
  db = drizzle({ client })
})
afterEach(() => void client.close())

type Change = (engine: Engine) => Partial<Engine>
type Entries = Parameters<Engine['commit']>[0]

/** The names of the tests that an engine fails. */
async function failuresOf(change: Change): Promise<string[]> {
  const engine = createEngine('better-sqlite3', db)
  const changed = { ...engine, ...change(engine) }
  const failed: string[] = []
  for (const { name, run } of engineSuite({ create: () => ({ engine: changed, db, close: () => {} }) }))
    await run().catch(() => failed.push(name))
  return failed
}

const withEntries = (map: (entries: Entries) => Entries): Change => ({ commit }) => ({ commit: entries => commit(map(entries)) })
const without = (...keys: string[]) =>
  withEntries(entries => entries.map(entry => Object.fromEntries(Object.entries(entry).filter(([key]) => !keys.includes(key))) as never))
const withRows
  = (map: (value: unknown) => unknown): Change =>
    ({ query }) => ({ query: statement => (query(statement) as unknown[][]).map(row => row.map(map)) })
const withError = (toError: (error: unknown) => unknown): Change => ({ commit }) => ({ commit: (entries) => {
  try {
    return commit(entries)
  }
  catch (error) {
    throw toError(error)
  }
} })

const BROKEN: [promise: string, change: Change, test: string][] = [
  [
    'commits each statement alone',
    ({ commit }) => ({ commit: async entries => (await Promise.all(entries.map(entry => commit([entry])))).flat() }),
    'commit() writes nothing after a unique value that is taken',
  ],
  ['ignores expectations', without('expectedRows'), 'commit() writes nothing after an expectation of a row that does not exist'],
  [
    'ignores expectations of a single statement',
    withEntries(entries => (entries.length > 1 ? entries : entries.map(entry => ({ ...entry, expectedRows: undefined }) as never))),
    'commit() writes nothing after an expectation of the only statement',
  ],
  [
    'takes every statement for atomic',
    withEntries(entries => entries.map(entry => ({ ...entry, atomic: true }) as never)),
    'commit() writes nothing after an expectation of the only statement',
  ],
  [
    'reports another index',
    withError(error => (error instanceof ExpectationError ? new ExpectationError(0, error.affectedRows) : error)),
    'commit() writes nothing after an expectation in the middle',
  ],
  [
    'reports another number of rows',
    withError(error => (error instanceof ExpectationError ? new ExpectationError(error.index, 1) : error)),
    'commit() writes nothing after an expectation of fewer rows',
  ],
  [
    'returns the outcomes in another order',
    ({ commit }) => ({ commit: async entries => [...(await commit(entries))].reverse() }),
    'commit() returns one outcome for each statement, in their order',
  ],
  [
    'returns no rows of writes',
    ({ commit }) => ({ commit: async entries => (await commit(entries)).map(outcome => ({ ...outcome, rows: [] })) }),
    'a write returns the rows that it wrote, with the keys that the database generated',
  ],
  [
    'counts no rows',
    ({ commit }) => ({ commit: async entries => (await commit(entries)).map(outcome => ({ ...outcome, affectedRows: 0 })) }),
    'commit() counts a row that an update finds but does not change',
  ],
  [
    'ignores followUp',
    without('followUp'),
    '`followUp` receives the rows of its statement and runs in the same transaction, if the engine supports it',
  ],
  [
    'runs no derived statement',
    withEntries(entries => entries.map(entry => ('derive' in entry ? { derive: () => [] } : entry))),
    '`derive` receives all earlier outcomes and runs in the same transaction, if the engine supports it',
  ],
  [
    'does not retry',
    () => ({ concurrent: true }),
    '`retry` repeats the whole commit and `followUp` runs again, if commits can run at the same time',
  ],
  [
    'reports an expectation instead of a busy database',
    () => ({ concurrent: true }),
    '`retry` ends with a BusyError if every attempt fails, and nothing is written',
  ],
  [
    'drops the results of built statements',
    ({ commit }) => ({ commit: async entries => (await commit(entries)).map(({ rows, affectedRows }) => ({ rows, affectedRows })) }),
    '`build` runs a query builder of Drizzle in the commit and returns its result',
  ],
  [
    'accepts anything as a builder',
    withEntries(entries =>
      entries.map(entry =>
        'build' in entry && !(entry.build(db as never) as { run?: unknown }).run ? { text: 'select 1', values: [] } : entry,
      ),
    ),
    '`build` refuses a value that is not a query builder, and nothing is written',
  ],
  [
    'leaves out columns with the same name',
    ({ query }) => ({ query: statement => (query(statement) as unknown[][]).map(row => (row.length === 5 ? row.slice(1) : row)) }),
    'query() returns the values by position, also of columns with the same name',
  ],
  [
    'trims text',
    withRows(value => (typeof value === 'string' ? value.trim() : value)),
    'a value of the kind text is stored and returned unchanged',
  ],
  [
    'rounds integers',
    withRows(value => (typeof value === 'string' && /^-?\d{16,}$/.test(value) ? String(Number(value)) : value)),
    'a value of the kind bigint is stored and returned unchanged',
  ],
  [
    'returns bytes as text',
    withRows(value => (value instanceof Uint8Array ? String(value) : value)),
    'a value of the kind bytes is stored and returned unchanged',
  ],
  [
    'rounds numbers',
    withRows(value => (typeof value === 'number' ? Math.round(value) : value)),
    'a value of the kind double is stored and returned unchanged',
  ],
  [
    'returns seconds',
    withRows(value => (typeof value === 'number' && value > 1e11 && value < 1e13 ? Math.floor(value / 1000) * 1000 : value)),
    'a value of the kind date is stored and returned unchanged',
  ],
  [
    'returns parsed JSON',
    withRows(value => (typeof value === 'string' && /^[[{]/.test(value) ? JSON.parse(value) : value)),
    'a value of the kind json is stored and returned unchanged',
  ],
  [
    'takes every error of a query for an invalid value',
    ({ query }) => ({
      query: (statement) => {
        try {
          return query(statement)
        }
        catch (error) {
          throw new InvalidValueError(error)
        }
      },
    }),
    'query() throws another error for a statement that is no SQL',
  ],
  [
    'returns the parameters in another order',
    ({ render }) => ({
      render: (sql) => {
        const { text, values } = render(sql)
        return { text, values: [...values].reverse() }
      },
    }),
    'render() returns the parameters in the order of the text, and the same text for other values',
  ],
  [
    'has other names of columns',
    ({ columnName }) => ({ columnName: column => `c_${columnName(column)}` }),
    'columnName() returns the name that render() uses',
  ],
  [
    'claims too many parameters',
    () => ({ maxParameters: 40_000 }),
    'a statement can have `maxParameters` parameters, in a query and in a commit',
  ],
  [
    'claims too many terms',
    () => ({ limits: { terms: 5_000, pattern: 50 } }),
    'a statement can reach `limits`: the terms of a compound SELECT, and the characters of a LIKE pattern',
  ],
  ['hides constraints', withError(() => new Error('failed')), 'commit() throws an error that names the violated constraint: unique'],
  [
    'lets other statements run between those of a commit',
    ({ commit }) => ({
      commit: async (entries) => {
        const outcomes = []
        for (const entry of entries) outcomes.push(...(await commit([entry])))
        return outcomes
      },
    }),
    'a query sees all rows of a commit or none',
  ],
]

describe('the suite for engines', () => {
  it('accepts a correct engine, and removes its tables', async () => {
    expect(await failuresOf(() => ({}))).toEqual([])
    expect(client.prepare(`select name from sqlite_master where name like 'suite%'`).all()).toEqual([])
  })

  it.each(BROKEN)('refuses an engine that %s', async (_promise, change, test) => {
    expect(await failuresOf(change)).toContain(test)
  })

  it('refuses an engine that does not enforce foreign keys', async () => {
    const failed = await failuresOf(() => {
      client.pragma('foreign_keys = off')
      return {}
    })
    expect(failed).toContain('commit() writes nothing after a missing reference')
  })

  it('tests a locked database only with a function that locks it', () => {
    const create = () => ({ engine: createEngine('better-sqlite3', db), db, close: () => {} })
    const names = (tests: readonly { name: string }[]) => tests.map(({ name }) => name)
    const all = names(engineSuite({ create, block: async () => () => {} }))
    expect(all.filter(name => !names(engineSuite({ create })).includes(name))).toEqual([
      'commit() throws a BusyError if another connection holds a lock, and nothing is written',
    ])
    expect(new Set(all).size).toBe(all.length)
  })

  it('closes the engine after every test, also after a failed one', async () => {
    let open = 0
    const tests = engineSuite({ create: () => {
      open++
      return { engine: { ...createEngine('better-sqlite3', db), query: () => {
        throw new Error('no')
      } }, db, close: () => void open-- }
    } })
    for (const { run } of tests) await expect(run()).rejects.toThrow('no')
    expect(open).toBe(0)
  })
})
