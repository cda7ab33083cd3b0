/** Lines of the log: text of a client neither starts a line nor controls a terminal, and values of statements are left out. */
import { DrizzleQueryError } from 'drizzle-orm/errors'
import { afterEach, expect, it, vi } from 'vitest'
import { addLogFields, logError } from '../../../../../src/runtime/server/core/process/log'

const log = vi.spyOn(console, 'error').mockImplementation(() => {})
afterEach(() => log.mockClear())

const written = (error: unknown, event?: object) => {
  logError(event && { event }, 'A hook threw.', error)
  return log.mock.calls[0]!.map(String).join(' ')
}

it.each([
  ['the message of an error', new Error('no\n[auto-api] GET /api/posts forged \u001B[2K')],
  ['the cause of an error', new Error('outer', { cause: new Error('inner\r\n[auto-api] forged \u001B[2K') })],
  ['a thrown text', 'no\n[auto-api] forged \u001B[2K'],
])('an error that is logged starts no line of its own: %s', (_, error) => {
  const lines = written(error).split(/\r\n|[\n\r]/)
  expect(lines[0]).toMatch(/^\[auto-api\] A hook threw\. /)
  expect(lines.slice(1).filter(line => !line.startsWith('    '))).toEqual([])
  expect(lines.join('\n')).not.toContain('\u001B')
})

it('has no values of a statement, at any depth', () => {
  const failed = new DrizzleQueryError('select * from tokens where hash = ?', ['hush-value'], new Error('The database is gone.'))
  const text = written(new Error('outer', { cause: failed }))
  expect(text).toContain('Failed query: select * from tokens where hash = ?')
  expect(text).toContain('The database is gone.')
  expect(text).not.toContain('hush-value')
})

it('begins with the fields of its request', () => {
  const event = {}
  addLogFields(event, { requestId: 'r-1' })
  expect(written(new Error('no'), event)).toMatch(/^\[auto-api\] requestId=r-1 A hook threw\. Error: no/)
})
