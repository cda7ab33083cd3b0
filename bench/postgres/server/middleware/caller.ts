/** Who is calling: the user named in a header, looked up in memory so that signing in costs every route the same little. */
import { PERMISSIONS } from '../../../app/server/auth/permissions'
import { users } from '../database/schema'

let known: Promise<Map<string, Record<string, unknown>>> | undefined

async function readUsers() {
  const rows = await useDatabase().select().from(users)
  return new Map(rows.map(user => [String(user.id), { ...user, permissions: PERMISSIONS[user.role] }]))
}

export default defineEventHandler(async (event) => {
  const user = (await (known ??= readUsers())).get(getHeader(event, 'x-caller') ?? '')
  if (user) event.context.user = user
})
