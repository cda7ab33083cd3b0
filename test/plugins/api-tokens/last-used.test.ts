/** The time at which a token was last used: which requests write it, and which do not. */
import Database from 'better-sqlite3'
import { eq } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ApiEvent } from '../../../src/runtime/server/http/platform/h3'
import type { PluginTable } from '../../../src/runtime/server/plugin/table'
import { createLastUsed } from '../../../src/runtime/plugins/api-tokens/server/last-used'
import type { TokenRow } from '../../../src/runtime/plugins/api-tokens/server/row'
import { apiTokens, settle, TOKENS_SQL } from '../../support/api-tokens'

const NOW = Date.parse('2026-11-01T00:00:00Z')
const event = { context: {} } as ApiEvent

let client: Database.Database
beforeEach(() => {
  client = new Database(':memory:')
  client.exec(TOKENS_SQL)
  vi.useFakeTimers({ toFake: ['Date'], now: NOW })
})
afterEach(() => {
  client.close()
  vi.useRealTimers()
})

/** One server: what it writes goes to the database of the test. */
function openServer() {
  const db = drizzle({ client })
  const access = {
    matches: () => eq(apiTokens.id, current),
    update: async (_event: unknown, values: { lastUsedAt: Date }, where: never) =>
      db.update(apiTokens).set(values).where(where).run().changes,
  } as unknown as PluginTable
  let current = ''
  const markUsed = createLastUsed(access, apiTokens)
  return async (id: string, lastUsedAt: number | null) => {
    current = id
    markUsed({ id, lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt) } as TokenRow, event)
    await settle()
  }
}
const insert = (id: string, lastUsedAt: number | null) =>
  client
    .prepare(
      'insert into api_tokens (id, name, user_id, start, token_hash, last_used_at, created_at, updated_at) values (?, ?, ?, ?, ?, ?, 0, 0)',
    )
    .run(id, 'n', '1', 's', id, lastUsedAt)
const usedAt = (id: string) =>
  (client.prepare('select last_used_at as used from api_tokens where id = ?').get(id) as { used: number | null }).used

describe('the time of the last use', () => {
  it.each([
    ['the first use', null, true],
    ['59.999 seconds after the last one', NOW - 59_999, false],
    ['a minute after the last one', NOW - 60_000, true],
    ['less than a minute before a time in the future, of another clock', NOW + 59_999, false],
  ])('is written, or not, at %s', async (_when, last, isWritten) => {
    insert('a', last)
    await openServer()('a', last)
    expect(usedAt('a')).toBe(isWritten ? NOW : last)
  })

  it('far in the future does not stop the server from trying again, and is never set back', async () => {
    insert('a', NOW + 60_000)
    insert('b', NOW - 60_000)
    const use = openServer()
    await use('a', NOW + 60_000)
    expect(usedAt('a')).toBe(NOW + 60_000)
    // The row of the request is older than the database: another server has written meanwhile.
    await use('b', NOW + 60_000)
    expect(usedAt('b')).toBe(NOW)
  })

  it('is not written again if another server wrote it within the last minute', async () => {
    insert('a', NOW - 59_999)
    await openServer()('a', null)
    expect(usedAt('a')).toBe(NOW - 59_999)
    insert('b', NOW - 60_000)
    await openServer()('b', null)
    expect(usedAt('b')).toBe(NOW)
  })

  it('is remembered by each server, for rows that were read earlier', async () => {
    insert('a', null)
    const use = openServer()
    await use('a', null)
    client.exec('update api_tokens set last_used_at = null')
    vi.setSystemTime(NOW + 59_999)
    await use('a', null)
    expect(usedAt('a')).toBeNull()
    vi.setSystemTime(NOW + 60_000)
    await use('a', null)
    expect(usedAt('a')).toBe(NOW + 60_000)
  })

  it('is forgotten for the token that was used first, above 10 000 tokens', async () => {
    let writes = 0
    const update = async () => writes++
    const access = { matches: () => undefined, update } as unknown as PluginTable
    const markUsed = createLastUsed(access, apiTokens)
    const use = async (...ids: string[]) => {
      for (const id of ids) markUsed({ id, lastUsedAt: null } as TokenRow, event)
      await settle()
      return writes
    }
    expect(await use(...Array.from({ length: 10_000 }, (_, index) => `t${index}`))).toBe(10_000)
    expect(await use('t0', 't1')).toBe(10_000)
    expect(await use('new', 't1', 't2')).toBe(10_001)
    expect(await use('t0')).toBe(10_002)
  })

  it('is forgotten last for the token that was used last', async () => {
    let writes = 0
    const update = async () => writes++
    const markUsed = createLastUsed({ matches: () => undefined, update } as unknown as PluginTable, apiTokens)
    const use = (...ids: string[]) => ids.forEach(id => markUsed({ id, lastUsedAt: null } as TokenRow, event))
    use(...Array.from({ length: 9_999 }, (_, index) => `t${index}`))
    vi.setSystemTime(NOW + 60_000)
    use('t0', 'new', 'newer')
    await settle()
    expect(writes).toBe(10_002)
    use('t0')
    await settle()
    expect(writes).toBe(10_002)
  })
})
