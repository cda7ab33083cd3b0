/** A plugin with a route that scans a resource: it returns the batches, or streams the records as lines. */
import { defineAutoApiPlugin, type AutoApiPlugin, type Scan } from '../../src/runtime/server/define'

/** @param gate the named gate of the scan */
export function scanner(gate?: string): AutoApiPlugin {
  let scan: Scan
  const permitted = gate === undefined ? {} : { gate }
  return defineAutoApiPlugin({
    name: 'scanner',
    setup: (server) => {
      scan = server.scan
    },
    // Without `:resource`, so that only the scan authorizes the caller.
    routes: [{
      method: 'GET',
      path: '/scan/:name',
      handler: async (ctx, { query }) => {
        const batches = []
        for await (const batch of scan(ctx, ctx.params.name!, query, permitted)) batches.push(batch)
        return batches
      },
    }, {
      method: 'GET',
      path: '/lines/:name',
      handler: async function* (ctx, request) {
        request.setHeader('content-type', 'application/x-ndjson')
        for await (const batch of scan(ctx, ctx.params.name!, request.query))
          yield batch.map(record => `${JSON.stringify(record)}\n`).join('')
      },
    }],
  })
}
