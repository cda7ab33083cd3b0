/** The documentation's example of server code that brings back what one delete took along. */
import { createEndpoint, restoreSoftDeletedBatch } from 'nuxt-auto-api/utils'

export default createEndpoint({
  handler: ctx => restoreSoftDeletedBatch(ctx, 'articles', { deletionId: ctx.params.deletionId! }),
})
