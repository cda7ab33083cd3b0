/** The users of the demo as callers, with the permissions of their role. */
import { eq } from 'drizzle-orm'
import { PERMISSIONS } from '../auth/roles'
import { users } from '../database/schema'
import { useNewsroom } from './newsroom'

export function findCaller(id: string | undefined) {
  if (!id || !/^\d{1,9}$/.test(id))
    return undefined
  const [user] = useNewsroom()
    .select({ id: users.id, name: users.name, role: users.role, organizationId: users.organizationId, active: users.active })
    .from(users)
    .where(eq(users.id, Number(id)))
    .all()
  return user?.active ? { ...user, permissions: PERMISSIONS[user.role] } : undefined
}
