import { defineAutoApiPlugin, type PluginServer } from 'nuxt-auto-api/define'

const SPACE = 0x20
let authorizeUpdate: PluginServer['authorizeUpdate']

/** Stores how long a text takes to read. Clients send the text, and cannot set the time. */
export default defineAutoApiPlugin({
  name: 'reading-time',
  setup: server => void ({ authorizeUpdate } = server),
  routes: [{
    method: 'POST',
    path: '/:resource/:id/reading-time',
    resources: ['posts'],
    operation: 'update',
    accepts: ['text/plain'],
    handler: async (ctx, request) => {
      const update = await authorizeUpdate(ctx, ctx.resource, ctx.params.id!, ['readingTime'])
      let words = 0
      for await (const chunk of request.stream({ maxSize: 1_000_000 })) words += chunk.filter(byte => byte === SPACE).length
      return update.write(() => ({ readingTime: `${Math.ceil(words / 200)} min` }))
    },
  }],
})
