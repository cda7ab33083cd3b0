/**
 * Sets the caller. FOR THE DEMO ONLY: it trusts the header `x-demo-user`, or the cookie of the pages.
 * A real app sets the user of its session here. The API reads only `event.context`.
 */
import { eq } from 'drizzle-orm'
import { PERMISSIONS } from '../auth/roles'
import { users } from '../database/schema'
import { useNewsroom } from '../utils/newsroom'

/** Anonymous callers read the Harbour Courier. */
const PUBLIC_ORGANIZATION_ID = 1

export default defineEventHandler((event) => {
  const user = findUser(getHeader(event, 'x-demo-user') ?? getCookie(event, 'newsroom-caller'))
  if (user)
    event.context.user = { ...user, permissions: PERMISSIONS[user.role] }
  else
    event.context.tenantId = PUBLIC_ORGANIZATION_ID
})

function findUser(id: string | undefined) {
  if (!id || !/^\d{1,9}$/.test(id))
    return undefined
  const [user] = useNewsroom()
    .select({ id: users.id, name: users.name, role: users.role, organizationId: users.organizationId, active: users.active })
    .from(users)
    .where(eq(users.id, Number(id)))
    .all()
  return user?.active ? user : undefined
}
