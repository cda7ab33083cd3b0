/** Example of the docs page `webhooks`: finds the owner of a webhook. */
import type { FindUser } from 'nuxt-auto-api/plugins'
import { loadUser } from './database/users'

export const findUser: FindUser = async (userId) => {
  const user = await loadUser(userId)
  return user && !user.banned ? { id: user.id, permissions: user.permissions } : null
}
