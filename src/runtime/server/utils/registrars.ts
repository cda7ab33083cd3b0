/** What a server plugin may add to the API, before the first request. */
import { assertServer } from '../runtime'
import { addExtender, type ContextExtender } from '../core/context'
import { addEvaluator, type PermissionEvaluator } from '../core/access/authorize'
import { addHooks } from '../core/hooks'
import type { ResourceHooks } from '../registration'

/**
 * Adds hooks for one resource, run before the registration's own.
 * @throws When it is called outside the server.
 * @example
 * export default defineNitroPlugin(() => {
 *   addResourceHook('posts', { beforeDelete: (id, ctx) => assertUnlocked(id, ctx) })
 * })
 */
export function addResourceHook(resource: string, hooks: ResourceHooks): void {
  assertServer('addResourceHook')
  addHooks(hooks, resource)
}

/**
 * Adds hooks for every resource, run before those of each one.
 * @throws When it is called outside the server.
 * @example
 * addGlobalHook({ afterCreate: (record, ctx) => { console.log(ctx.resource, record.id) } })
 */
export function addGlobalHook(hooks: ResourceHooks): void {
  assertServer('addGlobalHook')
  addHooks(hooks)
}

/**
 * Adds to the context of every request, before its permissions are asked about: `ctx.user`, `ctx.permissions`,
 * `ctx.tenant`, or keys of the app's own. Extenders run in the order in which they are added.
 * @throws When it is called outside the server.
 * @example
 * addContextExtender(async (ctx) => {
 *   ctx.tenant = { id: await tenantOfHost(ctx.event), canAccessAllTenants: ctx.user?.role === 'staff' }
 * })
 */
export function addContextExtender(extender: ContextExtender): void {
  assertServer('addContextExtender')
  addExtender(extender)
}

/**
 * Decides permissions that are objects; one that no evaluator claims is refused.
 * @throws When it is called outside the server.
 * @example
 * registerPermissionEvaluator({
 *   claims: permission => 'plan' in permission,
 *   evaluate: (permission, ctx) => ctx.user?.plan === permission.plan,
 * })
 */
export function registerPermissionEvaluator(evaluator: PermissionEvaluator): void {
  assertServer('registerPermissionEvaluator')
  addEvaluator(evaluator)
}
