/** Example of the docs page `endpoints`: restores the rows of one delete. */
import { createEndpoint, restoreSoftDeletedBatch } from 'nuxt-auto-api/utils'

export default createEndpoint({
  handler: ctx => restoreSoftDeletedBatch(ctx, 'articles', { deletionId: ctx.params.deletionId! }),
})
