/** Example of docs/plugins.md: a history of each record. */
import { defineAutoApiPlugin, type Change } from 'nuxt-auto-api/define'
import { findAuthorizedRow } from 'nuxt-auto-api/utils'

const history: (Change & { by: unknown, at: Date })[] = []

export default defineAutoApiPlugin({
  name: 'history',
  onCommit: (changes, ctx) => {
    history.push(...changes.map(change => ({ ...change, by: ctx.user?.id, at: new Date() })))
  },
  routes: [{
    method: 'GET',
    path: '/:resource/:id/history',
    operation: 'read',
    handler: async (ctx) => {
      await findAuthorizedRow(ctx, ctx.resource, ctx.params.id!)
      return history.filter(({ resource, id }) => resource === ctx.resource && id === ctx.params.id)
    },
  }],
})
