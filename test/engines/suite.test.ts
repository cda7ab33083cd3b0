/** Every built-in engine keeps the promises that the API relies on. Engines of an app run the same suite. */
import { createEngine } from 'nuxt-auto-api/database'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { engineSuite } from '../../src/runtime/testing'
import { SUITE_CASES, isAvailable, type Opened } from './support/databases'

describe.each(SUITE_CASES)('$name', (engineCase) => {
  describe.skipIf(!isAvailable(engineCase))('the engine', () => {
    let opened: Opened
    beforeAll(async () => {
      opened = await engineCase.open({ lockTimeout: engineCase.dialect === 'mysql' ? 0 : 10 })
    })
    afterAll(() => opened?.close())

    const suite = engineSuite({
      create: () => ({ engine: createEngine(engineCase.engine, opened.db), db: opened.db, close: () => {} }),
      ...engineCase.pooled && { block: (_engine, sql) => opened.openTransaction(sql) },
    })
    it.each(suite)('$name', async ({ run }) => run())
  })
})
