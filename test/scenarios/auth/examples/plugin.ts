/** Examples of the docs pages `tenancy` and `authorization`: a context extender that sets the tenant, and a permission evaluator. */
import { addContextExtender, registerPermissionEvaluator } from 'nuxt-auto-api/utils'

/** Represents a table of memberships. */
const MEMBERSHIPS: Readonly<Record<number, readonly number[]>> = { 1: [1, 2], 2: [2] }
const membershipsOf = async (userId: unknown) => MEMBERSHIPS[Number(userId)] ?? []

export function addTenants() {
  addContextExtender(async (ctx) => {
    if (ctx.user?.role === 'support') {
      ctx.tenant = { id: null, canAccessAllTenants: true }
    }
    else if (ctx.user) {
      const chosen = Number(ctx.event.headers.get('x-organization'))
      const own = await membershipsOf(ctx.user.id)
      ctx.tenant = { id: own.includes(chosen) ? chosen : null }
    }
  })
}

export function addPlans() {
  registerPermissionEvaluator({
    claims: permission => 'plan' in permission,
    evaluate: (permission, ctx) => ctx.user?.plan === permission.plan,
  })
}
