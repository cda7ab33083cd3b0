/** Example of the docs page `endpoints`: a plain event handler that resolves the caller and checks a permission. */
import { defineEventHandler } from 'h3'
import { assertPermission, getAutoApiContext } from 'nuxt-auto-api/utils'

export default defineEventHandler(async (event) => {
  const ctx = await getAutoApiContext(event)
  await assertPermission(ctx, 'articles', 'update')
  return { editor: ctx.user?.id ?? null }
})
