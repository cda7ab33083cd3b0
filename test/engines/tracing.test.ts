/** On every engine: each statement of a write is published, with its rows and without a value. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { batch } from '../../src/runtime/plugins'
import { collect } from '../scenarios/tracing/events'
import { ENGINE_CASES, isAvailable } from './support/databases'
import { openLedger, reset, type Ledger } from './support/ledger'
import { WRITES } from './support/ledger-writes'

const CALLER = { user: { id: 1, organizationId: 1 } }

/** Texts of bodies, which are too special to be a part of SQL. */
const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return /^[A-Z\d.:ü-]{8,}$/.test(value) ? [value] : []
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('tracing', () => {
    let ledger: Ledger
    beforeAll(async () => {
      ledger = await openLedger(engineCase, { plugins: () => [batch()] })
    })
    beforeEach(() => reset(ledger))
    afterAll(() => ledger?.opened.close())

    it.each(WRITES)('has every statement of %s', async (_what, requests) => {
      for (const [method, path, body] of requests) {
        const { of, events, stop } = collect()
        const { status } = await ledger.request(method, `/api/${path}`, { body, caller: CALLER })
        stop()
        expect(status).toBeLessThan(400)
        const [statements, commits, request] = [of('statement'), of('commit'), of('request')[0]!]
        expect(request.statements).toBe(statements.reduce((sum, { statements }) => sum + statements!, 0))
        for (const { text, rows, duration } of statements)
          expect({ text, rows, duration }).toEqual({ text: expect.stringMatching(/^\s*\(?(?:select|insert|update|delete|with|pragma)\b/i), rows: expect.any(Number), duration: expect.any(Number) })
        // Each entry of a commit is a statement at least.
        const inCommits = commits.reduce((sum, { statements }) => sum + statements!, 0)
        expect(statements.reduce((sum, { statements }) => sum + statements!, 0)).toBeGreaterThanOrEqual(inCommits)
        expect(commits.every(({ duration, rows }) => duration! >= 0 && rows! >= 0)).toBe(true)
        for (const text of textsIn(body)) expect(JSON.stringify(events)).not.toContain(text)
      }
    })
  })
})
