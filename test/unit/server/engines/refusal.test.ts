/** Which errors of a commit say that it has changed nothing. */
import { describe, expect, it } from 'vitest'
import { BusyError, ExpectationError } from '../../../../src/runtime/server/engines/engine'
import { isRefusal } from '../../../../src/runtime/server/engines/refusal'
import type { Dialect } from '../../../../src/runtime/shared/dialects'

const error = (message: string, members: object = {}) => Object.assign(new Error(message), members)
/** As Drizzle wraps it. */
const wrapped = (cause: unknown) => new Error('Failed query: insert into posts', { cause })

const REFUSED: readonly [dialect: Dialect, what: string, error: unknown][] = [
  ['sqlite', 'a constraint', error('UNIQUE constraint failed: posts.slug', { code: 'SQLITE_CONSTRAINT_UNIQUE' })],
  ['sqlite', 'a trigger of the app', wrapped(error('no', { code: 'SQLITE_CONSTRAINT_TRIGGER' }))],
  ['sqlite', 'a statement of a plugin', error('no such table: audit_log', { code: 'SQLITE_ERROR' })],
  ['sqlite', 'a batch of D1', error('D1_ERROR: no such table: audit_log: SQLITE_ERROR')],
  ['sqlite', 'an unmet expectation', new ExpectationError(0, 2)],
  ['sqlite', 'a busy database', new BusyError(error('busy'))],
  ['sqlite', 'a value that the driver cannot bind', wrapped(new TypeError('SQLite3 can only bind numbers, strings, bigints, buffers, and null'))],
  ['pg', 'a constraint', error('duplicate key', { code: '23505' })],
  ['pg', 'an error that a function raises', wrapped(error('no', { code: 'P0001' }))],
  ['mysql', 'a constraint', error('Duplicate entry', { errno: 1062, sqlState: '23000' })],
  ['mysql', 'a signal of a trigger', error('no', { errno: 1644, sqlState: '45000' })],
]

const UNKNOWN: typeof REFUSED = [
  ['sqlite', 'a lost connection of D1', error('D1_ERROR: Network connection lost.')],
  ['sqlite', 'a request to Turso', wrapped(new TypeError('fetch failed', { cause: error('read ECONNRESET', { code: 'ECONNRESET' }) }))],
  ['pg', 'a lost connection', error('Connection terminated unexpectedly')],
  ['pg', 'a server that stops', wrapped(error('terminating connection', { code: '57P01' }))],
  ['pg', 'a commit without an answer', error('statement completion unknown', { code: '40003' })],
  ['mysql', 'a lost connection', error('Connection lost', { code: 'PROTOCOL_CONNECTION_LOST', fatal: true })],
  ['mysql', 'a server that is gone', error('gone', { errno: 2006, sqlState: '08S01' })],
]

describe('a commit has changed nothing after', () => {
  it.each(REFUSED)('%s: %s', (dialect, _, error) => expect(isRefusal(dialect, error)).toBe(true))
})

describe('a commit can have taken effect after', () => {
  it.each(UNKNOWN)('%s: %s', (dialect, _, error) => expect(isRefusal(dialect, error)).toBe(false))
})
