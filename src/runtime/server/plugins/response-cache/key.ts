/** The key of a request: everything on which its response can depend, besides the rows. */
import { digest } from 'ohash'
import { limitsOf } from '../../core/access/limits'
import type { AutoApiContext } from '../../registration'
import { encode, NotPlainError } from './encode'

/** The keys of every context. The key of a request contains their values, except those of the event and the database. */
const OWN_KEYS: ReadonlySet<string | symbol> = new Set([
  'user', 'permissions', 'tenant', 'credential', 'event', 'resource', 'operation', 'params', 'query', 'dryRun', 'body', 'db',
])

/**
 * The key of the plugin `requestMetadata`. Its values differ for each request, so they are not part of the key. Instead, a response is not
 * stored if something reads them.
 */
export const WATCHED = 'metadata'

/**
 * @param route the name of the route, which also determines the media type of its responses
 * @param vary the keys of the context, or paths in them, on which responses depend
 * @param build the build of the app. Another build can have other rules.
 * @returns `undefined` if the response can depend on something that the key would not contain
 */
export function keyOf(ctx: AutoApiContext, route: string, vary: readonly string[], build: unknown): string | undefined {
  const named = new Set(vary.map(path => path.split('.', 1)[0]!))
  const limits = limitsOf(ctx)
  for (const key of Reflect.ownKeys(ctx)) {
    if (OWN_KEYS.has(key) || key === WATCHED || named.has(key as string)) continue
    // The limits of a credential are not a key of the app.
    if (typeof key === 'symbol' && limits !== undefined && (ctx as unknown as Record<symbol, unknown>)[key] === limits) continue
    return undefined
  }
  const { user, permissions, tenant, credential, resource, operation, params, query } = ctx
  const sorted = Object.keys(query).sort().map(name => [name, query[name]])
  const limited = limits && {
    owner: [limits.owner.user, limits.owner.permissions],
    excluded: [...limits.excluded],
    scopes: limits.scopes && [...limits.scopes],
  }
  try {
    return digest(encode([
      build, route, resource, operation, params, sorted, user, permissions, tenant, credential, limited,
      vary.map(path => valueAt(ctx, path)),
    ]))
  }
  catch (error) {
    if (error instanceof NotPlainError) return undefined
    throw error
  }
}

function valueAt(ctx: AutoApiContext, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], ctx)
}

/** Whether the key of a request with metadata lacks them. */
export function isWatched(ctx: AutoApiContext, vary: readonly string[]): boolean {
  return WATCHED in ctx && !vary.some(path => path.split('.', 1)[0] === WATCHED)
}
