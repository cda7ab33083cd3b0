/** The documentation's example of an ordinary event handler that asks the API who is calling. */
import { defineEventHandler } from 'h3'
import { assertPermission, getAutoApiContext } from 'nuxt-auto-api/utils'

export default defineEventHandler(async (event) => {
  const ctx = await getAutoApiContext(event)
  await assertPermission(ctx, 'articles', 'update')
  return { editor: ctx.user?.id ?? null }
})
