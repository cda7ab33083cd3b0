/** Webhooks: signed-in callers have their own, and see what these have sent. */
import { defineResourceAuth, type AutoApiContext } from 'nuxt-auto-api/define'
import type { webhookDeliveries, webhooks } from '../database/schema'

const isSignedIn = (ctx: AutoApiContext) => ctx.user !== null

export const webhooksAuth = defineResourceAuth<typeof webhooks>({
  permissions: { read: isSignedIn, create: isSignedIn, update: isSignedIn, delete: isSignedIn },
})

/** The permission `update` is that of sending a delivery again. */
export const webhookDeliveriesAuth = defineResourceAuth<typeof webhookDeliveries>({
  permissions: { read: isSignedIn, update: isSignedIn },
})
