/** What the newsroom knows about a caller, told to every permission and filter. */
import type { Role } from './roles'

declare module 'nuxt-auto-api/define' {
  interface AutoApiUser {
    id: number
    organizationId: number
    name: string
    role: Role
  }
}
