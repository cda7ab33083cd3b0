/** The cause of a failure as development shows it. */
import { describe, expect, it } from 'vitest'
import { explainCause, withCause, withoutStack } from '../../../../src/runtime/server/http/development'

describe('the cause of a failure in development', () => {
  it('contains every message down to the innermost cause', () => {
    const error = new Error('Failed query', { cause: new TypeError('socket closed', { cause: 'reset' }) })
    expect(explainCause(error)).toBe('Error: Failed query\nCaused by TypeError: socket closed\nCaused by Error: reset')
  })

  it('ends at a circular cause', () => {
    const error: Error & { cause?: unknown } = new Error('again')
    error.cause = error
    expect(explainCause(error).match(/again/g)).toHaveLength(5)
  })

  it.each([
    ['postgres', Object.assign(new Error('database "shop" does not exist'), { code: '3D000' }), 'createdb shop'],
    ['mysql', Object.assign(new Error('Unknown database \'shop\''), { code: 'ER_BAD_DB_ERROR', errno: 1049 }), 'mysqladmin create shop'],
  ])('names the command that creates a missing database: %s', (_, cause, command) => {
    expect(explainCause(new Error('Failed query', { cause }))).toContain(command)
  })
})

describe('outside development', () => {
  it('error responses have no cause, and errors are not changed', () => {
    const error = new Error('no such table: posts')
    expect(withCause(undefined, error)).toBeUndefined()
    expect(withCause({ code: 'BULK_FAILED' }, error)).toEqual({ code: 'BULK_FAILED' })
    expect(withoutStack(error)).toBe(error)
  })
})
