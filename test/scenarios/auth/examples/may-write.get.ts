/** Example of docs/2.guides/12.endpoints.md: a plain event handler that resolves the caller and checks a permission. */
import { defineEventHandler } from 'h3'
import { assertPermission, getAutoApiContext } from 'nuxt-auto-api/utils'

export default defineEventHandler(async (event) => {
  const ctx = await getAutoApiContext(event)
  await assertPermission(ctx, 'articles', 'update')
  return { editor: ctx.user?.id ?? null }
})
