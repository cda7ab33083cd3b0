/** Example of the docs page `plugins`: reads an upload without keeping it in memory. */
import { createHash } from 'node:crypto'
import { defineAutoApiPlugin } from 'nuxt-auto-api/define'
import { findAuthorizedRow } from 'nuxt-auto-api/utils'

export default defineAutoApiPlugin({
  name: 'checksum',
  routes: [{
    method: 'POST',
    path: '/:resource/:id/checksum',
    operation: 'read',
    accepts: ['text/csv', 'image/*'],
    handler: async (ctx, request) => {
      await findAuthorizedRow(ctx, ctx.resource, ctx.params.id!)
      const hash = createHash('sha256')
      for await (const chunk of request.stream({ maxSize: 100_000_000 })) hash.update(chunk)
      return { sha256: hash.digest('hex') }
    },
  }],
})
