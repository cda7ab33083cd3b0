/** Runs the suite on the engine of the docs page `databases`. */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@libsql/client'
import { drizzle } from 'drizzle-orm/libsql'
import { createEngine } from 'nuxt-auto-api/database'
import { afterAll, describe, it } from 'vitest'
import { engineSuite } from '../../../src/runtime/testing'
import { watched } from './watched'

const path = join(tmpdir(), `watched-${randomUUID()}.db`)
const url = `file:${path}`
afterAll(() => {
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
})

const tests = engineSuite({
  create() {
    const client = createClient({ url })
    const db = drizzle({ client })
    return { engine: createEngine(watched, db), db, close: () => client.close() }
  },
})

describe('the engine', () => {
  it.each(tests)('$name', async ({ run }) => run())
})
