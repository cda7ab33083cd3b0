/** Who has webhooks, and the owners of webhooks. */
import { eq } from 'drizzle-orm'
import { defineResourceAuth } from 'nuxt-auto-api/define'
import type { FindUser } from 'nuxt-auto-api/plugins'
import { users } from '../database/schema'
import type { webhookDeliveries, webhooks } from '../database/webhooks'
import { PERMISSIONS } from './permissions'

export const webhooksAuth = defineResourceAuth<typeof webhooks>({ permissions: { read: 'posts:read' } })

export const webhookDeliveriesAuth = defineResourceAuth<typeof webhookDeliveries>({ permissions: { read: 'posts:read' } })

export const findUser: FindUser = (id) => {
  const user = useDatabase().select().from(users).where(eq(users.id, Number(id))).get()
  return user ? { ...user, permissions: PERMISSIONS[user.role] } : null
}
