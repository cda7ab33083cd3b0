/** Finds out which writes outdate a response: those to what it was read from, and those to what its rules could have read. */
import type { Api, Permission } from '../../../server/kit/call'
import type { Resource } from '../../../server/kit/rows'
import type { CachePolicy } from '../options'

/** Stands for every table. Each write raises its generation. */
export const ANY = '*'

const READ_HOOKS = ['beforeGet', 'afterGet', 'beforeList', 'afterList'] as const

/**
 * Returns the names whose writes outdate the response, or `undefined` if a hook could depend on something else.
 * @param root the resource of the request
 * @param reads the resources that the response was read from
 */
export function dependenciesOf(
  api: Api, root: string, reads: readonly string[], declared: CachePolicy['reads'],
): readonly string[] | undefined {
  const names = new Set(reads)
  let any = false
  for (const name of reads) {
    const resource = api.resources.get(name)
    const own = Object.hasOwn(declared, name) ? declared[name] : undefined
    for (const dependency of own ?? []) names.add(dependency)
    if (!resource || own) continue
    // A hook can also have an effect of its own, such as counting views.
    if (name === root && READ_HOOKS.some(hook => api.hooks.find(resource, hook).length > 0)) return undefined
    any ||= hasFunctions(resource, api, name === root)
  }
  return any ? [ANY] : [...names]
}

/** Whether the response depends on functions of the app, which can read any table. */
function hasFunctions({ auth, ...resource }: Resource, { rowFilters, rowChecks, resources }: Api, isRoot: boolean): boolean {
  const known = resources.get(resource.name)!
  if (auth?.listFilter || auth?.objectLevel || rowFilters.has(known) || rowChecks.has(known)) return true
  // The permissions on the resource of the request are checked for each request, before the cache.
  const permissions = isRoot ? [] : [auth?.permissions?.read]
  const fields = Object.values(auth?.fields ?? {}).map(rule => rule?.read)
  return [...permissions, ...fields].some(isFunction)
}

/** Whether code decides the permission: a function, or an object for an evaluator. */
function isFunction(permission: Permission | undefined): boolean {
  if (Array.isArray(permission)) return (permission as readonly Permission[]).some(isFunction)
  return typeof permission === 'function' || typeof permission === 'object'
}
