/** Reads the caller from the session of better-auth. The active organization of the session is the tenant. */
import { type AutoApiUser, isCredentialCaller } from '../../server/kit/call'
import type { ApiEvent } from '../../server/kit/http'
import { defineAutoApiPlugin } from '../../server/plugin/contract'
import { provideFeatures } from '../../server/plugin/features'
import { assertOptions, imported, type Importable } from '../../server/plugin/options'
import type { OptionRules } from '../../shared/option-rule'

interface Member {
  readonly role: string
  readonly organizationId: string
}

interface Session {
  readonly user: Readonly<Record<string, unknown>>
  readonly session: { readonly activeOrganizationId?: string | null }
}

/** The parts of better-auth's instance that the plugin uses. */
export interface BetterAuthInstance {
  readonly api: {
    readonly getSession: (input: { headers: Headers }) => Promise<unknown>
    /** Exists with better-auth's plugin `organization()`. */
    readonly getActiveMember?: (input: { headers: Headers }) => Promise<unknown>
  }
}

export interface BetterAuthOptions {
  /**
   * The app's instance of better-auth. If bindings come with the request, a function creates the instance from the event. In
   * `nuxt.config`, name the export: `createModuleImport('~~/server/auth', 'auth')`.
   */
  readonly auth: Importable<BetterAuthInstance | ((event: ApiEvent) => BetterAuthInstance)>
}

const RULES: OptionRules<BetterAuthOptions> = {
  auth: {
    fits: value => typeof value === 'function' || typeof (value as Partial<BetterAuthInstance> | null)?.api?.getSession === 'function',
    use: 'the instance that `betterAuth()` of better-auth returned, or a function of the event that returns it',
    code: true,
    required: true,
  },
}

/** The default name of the cookie. Over HTTPS, better-auth adds `__Secure-`. */
const SESSION_COOKIE = 'better-auth.session_token'

/**
 * Sets `ctx.user` to the user of the session. Adds `organizationId` and `organizationRole` of the active organization if the user is a
 * member of it.
 * @throws When an option is unknown, or `auth` is not an instance of better-auth.
 * @example
 * // server/api-plugins.ts, listed as `autoApi: { plugins: ['./server/api-plugins'] }`
 * export default betterAuth({ auth })
 */
export const betterAuth = defineAutoApiPlugin({ from: 'nuxt-auto-api/plugins', name: 'betterAuth' }, (options: BetterAuthOptions) => {
  assertOptions(options, RULES, 'betterAuth')
  const find = toFinder(options.auth)
  return {
    name: 'better-auth',
    setup: server => provideFeatures(server, { sessionCookie: SESSION_COOKIE }),
    async extendContext(ctx) {
      // The session cannot replace a caller that came by a credential, so it is not read.
      if (isCredentialCaller(ctx)) return
      const { api } = find(ctx.event)
      const { headers } = ctx.event
      const found = await api.getSession({ headers }) as Session | null
      if (!found) return
      // The membership overrides the user record: the record can have the same keys, and the user could set them.
      const user: Record<string, unknown> = { ...found.user, ...await membershipOf(api, found, headers) }
      // The app declares the type of its user.
      ctx.user = user as AutoApiUser
    },
  }
})

/**
 * Reads the membership for each request. When a membership ends, the session stays valid and still names the organization.
 */
async function membershipOf(
  { getActiveMember }: BetterAuthInstance['api'],
  { session: { activeOrganizationId } }: Session,
  headers: Headers,
): Promise<{ organizationId: string | null, organizationRole?: string }> {
  if (!activeOrganizationId) return { organizationId: null, organizationRole: undefined }
  if (!getActiveMember) return { organizationId: activeOrganizationId, organizationRole: undefined }
  const member = (await getActiveMember({ headers }).catch(toNoMember)) as Member | null
  // Session and membership are two reads: the user can switch to another organization in between.
  return member?.organizationId === activeOrganizationId
    ? { organizationId: activeOrganizationId, organizationRole: member.role }
    : { organizationId: null, organizationRole: undefined }
}

/** Some versions return `null` for a user who is not a member, some throw. */
function toNoMember(error: unknown): null {
  const { statusCode } = error as { statusCode?: number }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return null
  throw error
}

function toFinder(auth: BetterAuthOptions['auth']): (event: ApiEvent) => BetterAuthInstance {
  if (typeof auth === 'function') return auth
  return () => imported(auth, 'betterAuth.auth')
}
