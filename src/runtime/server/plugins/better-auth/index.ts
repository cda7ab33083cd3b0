/** Who is calling, by the session of better-auth; the organisation that is active in it is the tenant. */
import type { ApiEvent } from '../../http'
import { defineAutoApiPlugin } from '../../plugin/contract'
import type { AutoApiUser } from '../../registration'

interface Member {
  readonly role: string
  readonly organizationId: string
}

interface Session {
  readonly user: Readonly<Record<string, unknown>>
  readonly session: { readonly activeOrganizationId?: string | null }
}

/** What `betterAuth()` of better-auth returns, as far as it is asked here. */
export interface BetterAuthInstance {
  readonly api: {
    readonly getSession: (input: { headers: Headers }) => Promise<unknown>
    /** Of the plugin `organization()`. */
    readonly getActiveMember?: (input: { headers: Headers }) => Promise<unknown>
  }
}

export interface BetterAuthOptions {
  /**
   * The app's instance, or what makes it from the event where bindings come with the request. In `nuxt.config`, name the
   * export: `createModuleImport('~~/server/auth', 'auth')`.
   */
  readonly auth:
    | BetterAuthInstance
    | ((event: ApiEvent) => BetterAuthInstance)
    | { readonly __moduleImport: true, readonly path: string, readonly name: string }
}

/**
 * Sets `ctx.user` to the user of the session, with `organizationId` and `organizationRole` of the active organisation as long
 * as they are a member of it.
 * @throws When `auth` is no instance of better-auth.
 * @example
 * // server/api-plugins.ts, listed as `autoApi: { plugins: ['./server/api-plugins'] }`
 * export default betterAuth({ auth })
 */
export const betterAuth = defineAutoApiPlugin({ from: 'nuxt-auto-api/plugins', name: 'betterAuth' }, ({ auth }: BetterAuthOptions) => {
  const find = toFinder(auth)
  return {
    name: 'better-auth',
    async extendContext(ctx) {
      const { api } = find(ctx.event)
      const { headers } = ctx.event
      const found = await api.getSession({ headers }) as Session | null
      if (!found) return
      // Whatever of these names the user record holds may be the user's own to set.
      const user: Record<string, unknown> = { ...found.user, ...await membershipOf(api, found, headers) }
      // The app describes its user; that better-auth's fits is the app's to say.
      ctx.user = user as AutoApiUser
    },
  }
})

/**
 * Asked of the database for each request: the session goes on when a membership ends, and goes on naming the organisation.
 */
async function membershipOf(
  { getActiveMember }: BetterAuthInstance['api'],
  { session: { activeOrganizationId } }: Session,
  headers: Headers,
): Promise<{ organizationId: string | null, organizationRole?: string }> {
  if (!activeOrganizationId) return { organizationId: null, organizationRole: undefined }
  if (!getActiveMember) return { organizationId: activeOrganizationId, organizationRole: undefined }
  const member = (await getActiveMember({ headers }).catch(nobodyUnlessBroken)) as Member | null
  // The two were asked one after the other, and somebody may have gone over to another organisation in between.
  return member?.organizationId === activeOrganizationId
    ? { organizationId: activeOrganizationId, organizationRole: member.role }
    : { organizationId: null, organizationRole: undefined }
}

/** Some versions answer `null` for whoever is no member, some throw. */
function nobodyUnlessBroken(error: unknown): null {
  const { statusCode } = error as { statusCode?: number }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return null
  throw error
}

function toFinder(auth: BetterAuthOptions['auth']): (event: ApiEvent) => BetterAuthInstance {
  if (typeof auth === 'function') return auth
  // In `nuxt.config` the instance is only named; the server is given what the name stands for.
  if (isNamed(auth)) return refuseName
  if (typeof auth?.api?.getSession !== 'function')
    throw new TypeError(
      '[auto-api] betterAuth({ auth }) is given no instance of better-auth. Pass what its `betterAuth()` returned; in nuxt.config, `createModuleImport(path, name)` of it.',
    )
  return () => auth
}

function refuseName(): never {
  throw new Error('[auto-api] betterAuth was given the name of an instance, which only the build can look up. Give it the instance.')
}

const isNamed = (auth: BetterAuthOptions['auth']): auth is Extract<BetterAuthOptions['auth'], { __moduleImport: true }> =>
  typeof auth === 'object' && auth !== null && '__moduleImport' in auth
