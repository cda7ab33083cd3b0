/** Which errors of a database make the engine try a commit again. */
import { describe, expect, it } from 'vitest'
import { BusyError, ExpectationError } from '../../../../src/runtime/server/engines/engine'
import { withRetries } from '../../../../src/runtime/server/engines/retry'

/** As Drizzle passes on the error of a driver. */
const failed = (error: object) => Object.assign(new Error('Failed query'), { cause: Object.assign(new Error('driver'), error) })

const fail = async (error: Error) => {
  let attempts = 0
  const result = await withRetries(async () => {
    attempts++
    throw error
  }, () => false).catch((thrown: unknown) => thrown)
  return [attempts, result instanceof BusyError]
}

describe('an error', () => {
  it.each([
    ['a deadlock, or a certification failure of Galera', { code: 'ER_LOCK_DEADLOCK', errno: 1213 }],
    ['a lock wait timeout', { code: 'ER_LOCK_WAIT_TIMEOUT', errno: 1205 }],
    ['a node of Galera that has not caught up with its cluster', { code: 'ER_UNKNOWN_COM_ERROR', errno: 1047 }],
    ['a commit on a node of Galera that has lost its cluster', { code: 'ER_ERROR_DURING_COMMIT', errno: 1180 }],
    ['a serialization failure', { code: '40001' }],
  ])('is tried again: %s', async (_, error) => {
    expect(await fail(failed(error))).toEqual([8, true])
  })

  it.each([
    ['a unique value that is taken', failed({ code: 'ER_DUP_ENTRY', errno: 1062 })],
    ['a connection that broke, because the commit may have succeeded', failed({ code: 'PROTOCOL_CONNECTION_LOST' })],
    ['an expectation that is not met', new ExpectationError(0, 0)],
  ])('is not tried again: %s', async (_, error) => {
    expect(await fail(error)).toEqual([1, false])
  })
})
