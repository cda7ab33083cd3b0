/**
 * A D1 database for tests: Cloudflare's runtime with its limits, in memory. A worker runs the statements on the real binding. Miniflare's
 * own
 * proxy of a binding asks the runtime for each `prepare` and `bind`, which takes longer than the statements themselves.
 */
import { Miniflare } from 'miniflare'

type D1Database = Awaited<ReturnType<Miniflare['getD1Database']>>

export interface LocalD1 {
  readonly d1: D1Database
  /** Runs statements separated by semicolons; no text contains a semicolon. */
  readonly exec: (script: string) => Promise<void>
  readonly rows: (text: string) => Promise<unknown[][]>
  readonly close: () => Promise<void>
}

/** What JSON cannot hold travels as `[type, text]`. The other values are scalars. */
type Sent = string | number | boolean | null | readonly [type: string, text: string]

interface Statement { readonly text: string, readonly values: readonly Sent[] }
type Method = 'all' | 'run' | 'raw' | 'first' | 'batch'

const WORKER = `
  const FROM_TEXT = {
    bytes: text => Uint8Array.from(atob(text), char => char.charCodeAt(0)),
    bigint: text => BigInt(text), number: text => Number(text), undefined: () => undefined, object: () => ({}),
  }
  const received = value => Array.isArray(value) ? FROM_TEXT[value[0]](value[1]) : value
  export default {
    async fetch(request, { DB }) {
      try {
        const { method, statements, options } = await request.json()
        const prepared = statements.map(({ text, values }) => DB.prepare(text).bind(...values.map(received)))
        const result = method === 'batch' ? await DB.batch(prepared) : await prepared[0][method](options)
        return Response.json({ result })
      } catch (error) {
        return Response.json({ error: error.message, cause: error.cause?.message })
      }
    },
  }
`

function toSend(value: unknown): Sent {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : ['number', String(value)]
  if (value instanceof ArrayBuffer) return ['bytes', Buffer.from(value).toString('base64')]
  if (ArrayBuffer.isView(value)) return ['bytes', Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')]
  return [typeof value, String(value)]
}

export async function openD1(): Promise<LocalD1> {
  const miniflare = new Miniflare({ modules: true, script: WORKER, d1Databases: { DB: 'test' } })
  await miniflare.ready

  async function send(method: Method, statements: readonly Statement[], options?: object): Promise<unknown> {
    const response = await miniflare.dispatchFetch('http://localhost', {
      method: 'POST',
      body: JSON.stringify({ method, statements, options }),
    })
    const { result, error, cause } = await response.json() as { result?: unknown, error?: string, cause?: string }
    if (error !== undefined) throw new Error(error, cause === undefined ? undefined : { cause: new Error(cause) })
    return result
  }

  const sent = new WeakMap<object, Statement>()
  function prepare(text: string, values: readonly Sent[] = []): object {
    const statement = { text, values }
    const run = (method: Method) => (options?: object) => send(method, [statement], options)
    const prepared = {
      bind: (...bound: unknown[]) => prepare(text, bound.map(toSend)),
      all: run('all'), run: run('run'), raw: run('raw'), first: run('first'),
    }
    sent.set(prepared, statement)
    return prepared
  }
  const d1 = {
    prepare: (text: string) => prepare(text),
    batch: (statements: object[]) =>
      send(
        'batch',
        statements.map(each => sent.get(each)!),
      ),
  }

  return {
    d1: d1 as unknown as D1Database,
    exec: async script =>
      void (await send(
        'batch',
        script
          .split(/;(?=\s|$)/)
          .filter(text => text.trim() !== '')
          .map(text => ({ text, values: [] })),
      )),
    rows: async text => (await send('raw', [{ text, values: [] }])) as unknown[][],
    close: () => miniflare.dispose(),
  }
}
