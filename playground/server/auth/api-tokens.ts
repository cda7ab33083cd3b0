/** API tokens: signed-in callers have their own tokens. */
import { defineResourceAuth, type AutoApiContext } from 'nuxt-auto-api/define'
import type { apiTokens } from '../database/schema'

const isSignedIn = (ctx: AutoApiContext) => ctx.user !== null

export const apiTokensAuth = defineResourceAuth<typeof apiTokens>({
  permissions: { read: isSignedIn, create: isSignedIn, update: isSignedIn, delete: isSignedIn },
})
