/** A plugin whose routes stream, and which tells how far each stream got: for the tests of every runtime. */
import { sql, type SQL } from 'drizzle-orm'
import { defineAutoApiPlugin, type AutoApiContext, type RouteRequest, type Scan } from 'nuxt-auto-api/define'

interface Run {
  /** Records or bytes so far. */
  done: number
  ended: boolean
  error?: string
}

const runs = new Map<string, Run>()

function start(ctx: AutoApiContext): Run {
  const run = { done: 0, ended: false }
  runs.set(ctx.params.run!, run)
  return run
}

/** Makes a line longer, so that few lines fill the buffers between the server and the client. */
const PADDING = 'x'.repeat(300)

async function upload(ctx: AutoApiContext, request: RouteRequest): Promise<{ length: number }> {
  const run = start(ctx)
  try {
    for await (const chunk of request.stream({ maxSize: 300_000_000 })) run.done += chunk.byteLength
    return { length: run.done }
  }
  catch (error) {
    run.error = (error as { data?: { code?: string } }).data?.code
    throw error
  }
  finally {
    run.ended = true
  }
}

let scan: Scan

export default defineAutoApiPlugin({
  name: 'streams',
  setup: (server) => {
    scan = server.scan
  },
  routes: [
    {
      method: 'GET',
      path: '/streams/lines/:name/:run',
      handler: (ctx, request) => {
        const run = start(ctx)
        request.setHeader('content-type', 'application/x-ndjson')
        const lines = (async function* () {
          for await (const records of scan(ctx, ctx.params.name!, request.query)) {
            run.done += records.length
            yield records.map(record => `${JSON.stringify({ ...record, padding: PADDING })}\n`).join('')
          }
          run.ended = true
        })()
        return { [Symbol.asyncIterator]: () => ({
          next: () => lines.next(),
          return: () => {
            run.ended = true
            return lines.return()
          },
        }) }
      },
    },
    {
      // The second chunk never comes.
      method: 'GET',
      path: '/streams/slow/:run',
      handler: (ctx) => {
        const run = start(ctx)
        return { [Symbol.asyncIterator]: () => ({
          next: async () => run.done++ === 0 ? { done: false, value: 'first\n' } : new Promise<never>(() => {}),
          return: async () => {
            run.ended = true
            return { done: true, value: undefined }
          },
        }) }
      },
    },
    {
      method: 'GET',
      path: '/streams/ticks/:run',
      handler: async function* (ctx) {
        const run = start(ctx)
        try {
          for (;;) {
            await new Promise(resolve => setTimeout(resolve, 100))
            run.done++
            yield 'tick\n'
          }
        }
        finally {
          run.ended = true
        }
      },
    },
    {
      method: 'GET',
      path: '/streams/broken/:run',
      handler: async function* (ctx) {
        start(ctx)
        yield 'first\n'
        await new Promise(resolve => setTimeout(resolve, 50))
        throw new Error('The second half is missing.')
      },
    },
    { method: 'POST', path: '/streams/upload/:run', accepts: ['application/octet-stream'], handler: upload },
    { method: 'DELETE', path: '/streams/upload/:run', accepts: ['application/octet-stream'], handler: upload },
    {
      method: 'GET',
      path: '/streams/runs/:run',
      handler: ctx => ({ ...runs.get(ctx.params.run!), rss: globalThis.process?.memoryUsage?.().rss }),
    },
    {
      method: 'POST',
      path: '/streams/sql',
      body: {
        '~standard': { version: 1, vendor: 'none', validate: value => ({ value }) },
      },
      handler: async (ctx) => {
        await (ctx.db as { run: (statement: SQL) => unknown }).run(sql.raw((ctx.body as { sql: string }).sql))
      },
    },
  ],
})
