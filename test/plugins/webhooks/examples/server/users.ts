/** Example of docs/4.plugins/8.webhooks.md: finds the owner of a webhook. */
import type { FindUser } from 'nuxt-auto-api/plugins'
import { loadUser } from './database/users'

export const findUser: FindUser = async (userId) => {
  const user = await loadUser(userId)
  return user && !user.banned ? { id: user.id, permissions: user.permissions } : null
}
