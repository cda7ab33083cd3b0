/** In development, an error about a missing table or column names the command that creates it, on every engine. */
import { describe, expect, it } from 'vitest'
import { explainCause } from '../../src/runtime/server/http/development'
import { createEngine } from '../../src/runtime/server/engines/index'
import { ENGINE_CASES, isAvailable } from './support/databases'

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  const command = engineCase.engine === 'd1' ? 'npx wrangler d1 migrations apply' : 'npx drizzle-kit push'

  it.skipIf(!isAvailable(engineCase))('a missing table or column names the command that creates it', async () => {
    const opened = await engineCase.open()
    try {
      const engine = createEngine(engineCase.engine, opened.db)
      await opened.exec('create table present (id integer primary key)')
      for (const text of ['select id from absent', 'select absent from present']) {
        const error: unknown = await Promise.resolve()
          .then(() => engine.query({ text, values: [] }))
          .then(
            () => expect.fail('it was found'),
            reason => reason,
          )
        expect(explainCause(error)).toMatch(/absent/)
        expect(explainCause(error)).toContain(command)
      }
    }
    finally {
      await opened.close()
    }
  })
})
