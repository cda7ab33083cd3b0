/** Sets the caller from a header and a lookup in memory, so that authentication costs the same on every route. */
import { PERMISSIONS } from '../../../app/server/auth/permissions'
import { users } from '#tables'

let known: Promise<Map<string, Record<string, unknown>>> | undefined

async function readUsers() {
  const rows = await useDatabase().select().from(users)
  return new Map(rows.map(user => [String(user.id), { ...user, permissions: PERMISSIONS[user.role] }]))
}

export default defineEventHandler(async (event) => {
  const user = (await (known ??= readUsers())).get(getHeader(event, 'x-caller') ?? '')
  if (user) event.context.user = user
})
