/**
 * Limits of a credential: its scopes, and the resources that it cannot use. A limited caller can do what both the owner of the credential
 * and its scopes allow. So each rule is asked twice: with the owner, and with the reduced caller. A rule that refuses certain roles would
 * otherwise allow the reduced caller, who has none.
 */
import type { AutoApiContext, AutoApiUser } from '../../registration'
import { createSession, type Session } from './session'

export interface CredentialLimits {
  /** `<resource>:<operation>`, permissions and roles. Without scopes, the caller can do what the owner can do. */
  readonly scopes?: ReadonlySet<string>
  /** The resources that the caller cannot use. */
  readonly excluded: ReadonlySet<string>
  /** The owner, whom no rule and no handler of a limited request receives as its caller. */
  readonly owner: Pick<AutoApiContext, 'user' | 'permissions'>
}

const CREDENTIAL_LIMITS = Symbol('limits')

/** Finds the limits of a context, and of contexts that inherit from it. */
export function limitsOf(ctx: AutoApiContext): CredentialLimits | undefined {
  return (ctx as { readonly [CREDENTIAL_LIMITS]?: CredentialLimits })[CREDENTIAL_LIMITS]
}

export function setLimits(ctx: object, limits: CredentialLimits): void {
  Object.defineProperty(ctx, CREDENTIAL_LIMITS, { value: limits })
}

/** Returns the user without roles, and the permissions of the owner that the scopes name. */
export function reduceCaller({ user, permissions }: CredentialLimits['owner'], scopes: ReadonlySet<string>) {
  const holds = (scope: string) => scope !== SUPER_ADMIN
    && (permissions.includes(SUPER_ADMIN) || permissions.includes(scope) || rolesOf(user).includes(scope))
  const reduced = [...scopes].filter(holds)
  const data = Object.entries(user ?? {}).filter(([key]) => !ROLE.test(key))
  return {
    user: Object.fromEntries(data.map(([key, value]) => [key, key === 'permissions' ? reduced : value])) as AutoApiUser,
    permissions: reduced,
  }
}

export const SUPER_ADMIN = '*'

/** `role` and `roles`, and keys such as `organizationRole`. */
const ROLE = /^roles?$|[a-z]Roles?$|_roles?$/

export function rolesOf(user: AutoApiUser | null): readonly unknown[] {
  return [user?.role, ...Array.isArray(user?.roles) ? user.roles as unknown[] : []]
}

/** The sessions of owners by the context of their limited caller. No property, because plugins compare the properties of contexts. */
const owners = new WeakMap<object, Session>()

/**
 * Returns the session of the owner for a rule. It has decisions of its own: a rule that asks about another resource gets the owner's
 * answer, and the limited session never finds it in its cache.
 */
export function ownerSession({ api, engine }: Session, ctx: AutoApiContext, { owner }: CredentialLimits): Session {
  let session = owners.get(ctx)
  if (!session) {
    const own = Object.create(ctx) as AutoApiContext
    for (const [key, value] of Object.entries(owner))
      Object.defineProperty(own, key, { value, enumerable: true })
    Object.defineProperty(own, CREDENTIAL_LIMITS, { value: undefined })
    session = createSession(api, own, engine)
    owners.set(ctx, session)
  }
  return session
}
