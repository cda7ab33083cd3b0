/** A D1 database for tests: Cloudflare's runtime with its limits, in memory. */
import { Miniflare } from 'miniflare'

type D1Database = Awaited<ReturnType<Miniflare['getD1Database']>>

export interface LocalD1 {
  readonly d1: D1Database
  /** Runs statements separated by semicolons; no text contains a semicolon. */
  readonly exec: (script: string) => Promise<void>
  readonly rows: (text: string) => Promise<unknown[][]>
  readonly close: () => Promise<void>
}

export async function openD1(): Promise<LocalD1> {
  Atomics.wait = waitForChange as typeof Atomics.wait
  const miniflare = new Miniflare({ modules: true, script: 'export default { fetch: () => new Response() }', d1Databases: { DB: 'test' } })
  const d1 = await miniflare.getD1Database('DB')
  return {
    d1,
    async exec(script) {
      await d1.batch(script.split(';').filter(text => text.trim() !== '').map(text => d1.prepare(text)))
    },
    rows: text => d1.prepare(text).raw() as Promise<unknown[][]>,
    close: () => miniflare.dispose(),
  }
}

const { wait } = Atomics

/**
 * Miniflare's thread stores its response, then wakes this thread. This thread can have read the response already and wait for
 * the next one: a wake-up without a change must not end that wait.
 */
function waitForChange(array: Int32Array, index: number, value: number, timeout?: number): ReturnType<typeof Atomics.wait> {
  for (;;) {
    const result = wait(array, index, value, timeout)
    if (result !== 'ok' || timeout !== undefined || Atomics.load(array, index) !== value) return result
  }
}
