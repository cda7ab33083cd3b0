/** Functions that a server plugin calls to extend the API, before the first request. */
import { useRuntime } from '../api/runtime'
import { assertServer } from '../runtime'
import type { ContextExtender, PermissionEvaluator } from '../core/extensions/extensions'
import type { ResourceHooks } from '../registration'

/**
 * Adds hooks for one resource. They run before the hooks of its registration.
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
 * Adds hooks for every resource. They run before the hooks of each resource.
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
 * `ctx.tenant`, or the app's own keys. Extenders run in the order in which they are added.
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
 * Registers an evaluator for permissions that are objects. If no evaluator claims an object, the request is refused.
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
