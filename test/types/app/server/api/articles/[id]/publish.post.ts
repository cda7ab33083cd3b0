/** An endpoint with the gate of a resource. */
import { createEndpoint } from 'nuxt-auto-api/utils'

export default createEndpoint({ resource: 'articles', operation: 'update', handler: async ctx => ({ published: Number(ctx.params.id) }) })
