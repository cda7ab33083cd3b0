import { defineResource, type AutoApiContext } from 'nuxt-auto-api/define'
import { webhooks } from '../database/schema'

const isSignedIn = (ctx: AutoApiContext) => ctx.user !== null

export default defineResource(webhooks, {
  permissions: { read: isSignedIn, create: isSignedIn, update: isSignedIn, delete: isSignedIn },
})
