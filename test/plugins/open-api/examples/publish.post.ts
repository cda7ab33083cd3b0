import { createEndpoint } from 'nuxt-auto-api/utils'
import { z } from 'zod'

export default createEndpoint({
  resource: 'stories', operation: 'update',
  body: z.object({ at: z.iso.datetime() }),
  describe: {
    summary: 'Publish a story',
    responses: { 200: { schema: z.object({ publishedAt: z.date() }) } },
    errors: { ALREADY_PUBLISHED: 409 },
  },
  handler: ({ body }) => ({ publishedAt: new Date(body.at) }),
})
