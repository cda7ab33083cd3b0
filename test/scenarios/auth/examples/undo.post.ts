/** Example of docs/2.guides/12.endpoints.md: restores the rows of one delete. */
import { createEndpoint, restoreSoftDeletedBatch } from 'nuxt-auto-api/utils'

export default createEndpoint({
  handler: ctx => restoreSoftDeletedBatch(ctx, 'articles', { deletionId: ctx.params.deletionId! }),
})
