/** Refuses writes while the environment variable `MAINTENANCE` is set. */
import { defineAutoApiPlugin } from 'nuxt-auto-api/define'
import { apiError } from 'nuxt-auto-api/utils'

export default defineAutoApiPlugin({
  name: 'maintenance',
  onCaller(_ctx, { method }) {
    if (!process.env.MAINTENANCE || ['GET', 'HEAD'].includes(method)) return
    throw apiError('MAINTENANCE', 'Nothing can be changed at the moment. Try again later.', { status: 503 })
  },
})
