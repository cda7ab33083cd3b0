/** Example of the docs page `rate-limiting`: two limits at once, for bursts and for the hourly requests of a plan. */
import { rateLimit } from 'nuxt-auto-api/plugins'

export default [
  rateLimit({ name: 'burst', limit: 20, window: 1 }),
  rateLimit({
    name: 'plan',
    limit: 1000,
    window: 3600,
    by: ctx => ctx.user?.plan === 'free' ? `free-${ctx.user.id}` : ctx.user?.organizationId as number,
    operations: { create: { limit: 100 }, aggregate: { limit: 10, window: 60 } },
  }),
]
