/** The type of the user in every permission and row filter. */
import type { Role } from './roles'

declare module 'nuxt-auto-api/define' {
  interface AutoApiUser {
    id: number
    organizationId: number
    name: string
    role: Role
  }
}
