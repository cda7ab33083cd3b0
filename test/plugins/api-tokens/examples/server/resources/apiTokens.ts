/** Example of the docs page `tokens`: every signed-in user can have API tokens. */
import { defineResource, type AutoApiContext } from 'nuxt-auto-api/define'
import { apiTokens } from '../database/schema'

const isSignedIn = (ctx: AutoApiContext) => ctx.user !== null

export default defineResource(apiTokens, {
  permissions: { read: isSignedIn, create: isSignedIn, update: isSignedIn, delete: isSignedIn },
})
