/** Example of docs/plugins.md: streams every record of a resource, one JSON object per line. */
import { defineAutoApiPlugin, type Scan } from 'nuxt-auto-api/define'

let scan: Scan

export default defineAutoApiPlugin({
  name: 'ndjson',
  setup: (server) => {
    scan = server.scan
  },
  routes: [{
    method: 'GET',
    path: '/:resource/lines',
    operation: 'read',
    handler: async function* (ctx, request) {
      request.setHeader('content-type', 'application/x-ndjson')
      for await (const records of scan(ctx, ctx.resource, request.query)) {
        yield records.map(record => `${JSON.stringify(record)}\n`).join('')
      }
    },
  }],
})
