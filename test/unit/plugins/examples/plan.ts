/** Example of docs/plugins.md: an error with a code of its own. */
import { defineAutoApiPlugin } from 'nuxt-auto-api/define'
import { apiError } from 'nuxt-auto-api/utils'

export default defineAutoApiPlugin({
  name: 'plan',
  hooks: {
    posts: {
      beforeCreate: (_data, ctx) => {
        if (ctx.user?.plan !== 'pro') throw apiError('PLAN_REQUIRED', 'Upgrade to write posts.', { status: 402, details: { plan: 'pro' } })
      },
    },
  },
})
