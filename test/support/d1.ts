/** A D1 in this process: Cloudflare's own runtime, with its limits, over a database in memory. */
import { Miniflare } from 'miniflare'

type D1Database = Awaited<ReturnType<Miniflare['getD1Database']>>

export interface LocalD1 {
  readonly d1: D1Database
  /** Runs statements separated by semicolons, none of which stands inside a text. */
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
 * Miniflare's thread stores that an answer is there, then wakes this one, which may have gone on to the next call by then
 * and would look for an answer that has not come: whoever is woken while nothing has changed waits on.
 */
function waitForChange(array: Int32Array, index: number, value: number, timeout?: number): ReturnType<typeof Atomics.wait> {
  for (;;) {
    const result = wait(array, index, value, timeout)
    if (result !== 'ok' || timeout !== undefined || Atomics.load(array, index) !== value) return result
  }
}
