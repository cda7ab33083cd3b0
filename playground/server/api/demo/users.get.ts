/** `GET /api/demo/users`: the callers of the demo. A route of the app, next to the generated routes. */
import { asc, eq } from 'drizzle-orm'
import { organizations, users } from '../../database/schema'
import { useNewsroom } from '../../utils/newsroom'

export default defineEventHandler(() =>
  useNewsroom()
    .select({ id: users.id, name: users.name, role: users.role, organization: organizations.name })
    .from(users)
    .innerJoin(organizations, eq(organizations.id, users.organizationId))
    .where(eq(users.active, true))
    .orderBy(asc(users.id))
    .all(),
)
