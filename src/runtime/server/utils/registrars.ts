/** Functions with which a server plugin extends the API, before the first request. */
import { useRuntime } from '../api/runtime'
import { assertServer } from '../runtime'
import type { ContextExtender, PermissionEvaluator } from '../core/extensions'
import type { ResourceHooks } from '../registration'

/**
 * Adds hooks for one resource, run before the registration's own.
 * @throws When it is called outside the server. The start fails when the resource is not registered.
 * @example
 * export default defineNitroPlugin(() => {
 *   addResourceHook('posts', { beforeDelete: (id, ctx) => assertUnlocked(id, ctx) })
 * })
 */
export function addResourceHook(resource: string, hooks: ResourceHooks): void {
  assertServer('addResourceHook')
  useRuntime().extend(api => api.addResourceHook(resource, hooks))
}

/**
 * Adds hooks for every resource, run before those of each one.
 * @throws When it is called outside the server.
 * @example
 * addGlobalHook({ afterCreate: (record, ctx) => { console.log(ctx.resource, record.id) } })
 */
export function addGlobalHook(hooks: ResourceHooks): void {
  assertServer('addGlobalHook')
  useRuntime().extend(api => api.addGlobalHook(hooks))
}

/**
 * Adds to the context of every request, before its permissions are checked: `ctx.user`, `ctx.permissions`,
 * `ctx.tenant`, or keys of the app's own. Extenders run in the order in which they are added.
 * @throws When it is called outside the server.
 * @example
 * addContextExtender(async (ctx) => {
 *   ctx.tenant = { id: await tenantOfHost(ctx.event), canAccessAllTenants: ctx.user?.role === 'staff' }
 * })
 */
export function addContextExtender(extender: ContextExtender): void {
  assertServer('addContextExtender')
  useRuntime().extend(api => api.addContextExtender(extender))
}

/**
 * Decides permissions that are objects. An object that no evaluator claims refuses the request.
 * @throws When it is called outside the server.
 * @example
 * registerPermissionEvaluator({
 *   claims: permission => 'plan' in permission,
 *   evaluate: (permission, ctx) => ctx.user?.plan === permission.plan,
 * })
 */
export function registerPermissionEvaluator(evaluator: PermissionEvaluator): void {
  assertServer('registerPermissionEvaluator')
  useRuntime().extend(api => api.registerPermissionEvaluator(evaluator))
}
