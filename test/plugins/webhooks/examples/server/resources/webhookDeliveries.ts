import { defineResource, type AutoApiContext } from 'nuxt-auto-api/define'
import { webhookDeliveries } from '../database/schema'

const isSignedIn = (ctx: AutoApiContext) => ctx.user !== null

export default defineResource(webhookDeliveries, {
  // `update` is the permission to send a delivery again.
  permissions: { read: isSignedIn, update: isSignedIn, delete: isSignedIn },
})
