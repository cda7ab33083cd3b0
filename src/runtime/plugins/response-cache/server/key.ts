/** The key of a request: everything on which its response can depend, besides the rows. */
import { digest } from 'ohash'
import { type AutoApiContext, type CredentialLimits, limitsOf, SESSION } from '../../../server/kit/call'
import type { Statement } from '../../../server/kit/rows'
import { encode, NotPlainError } from './encode'

/** The keys of every context. The key of a request contains their values, except those of the event and the database. */
const OWN_KEYS: ReadonlySet<string | symbol> = new Set([
  'user', 'permissions', 'tenant', 'credential', 'event', 'resource', 'operation', 'params', 'query', 'dryRun', 'body', 'db',
  SESSION,
])

/**
 * The key of the plugin `requestMetadata`. Its values differ for each request, so they are not part of the key. Instead, a response is not
 * stored if something reads them.
 */
export const WATCHED = 'metadata'

/** The keys of the context, or paths in them, on which responses depend. */
export interface Vary {
  readonly paths: readonly (readonly string[])[]
  /** The first name of each path. */
  readonly names: ReadonlySet<string | symbol>
}

export function toVary(vary: readonly string[]): Vary {
  const paths = vary.map(path => path.split('.'))
  return { paths, names: new Set(paths.map(([name]) => name!)) }
}

/** Longer keys are hashed, so that a long query does not use more memory than its response. */
const MAX_LENGTH = 1024

/**
 * @param route the name of the route, which also determines the media type of its responses
 * @param build the build of the app. Another build can have other rules.
 * @returns `undefined` if the response can depend on something that the key would not contain
 */
export function keyOf(ctx: AutoApiContext, route: string, vary: Vary, build: unknown): string | undefined {
  const limits = limitsOf(ctx)
  if (hasOtherKeys(ctx, vary, limits)) return undefined
  const { resource, operation, params, query } = ctx
  const values = callerOf(ctx, vary, limits)
  values.push(route, resource, operation, build, params)
  // The order of the parameters has no effect.
  for (const name of Object.keys(query).sort()) values.push(name, query[name])
  return toText(values)
}

/**
 * The key of the total of a list, for a request that has a key itself. It contains the caller, because an app can have several databases
 * and choose one by the caller.
 * @returns `undefined` if a value of the statement cannot be part of a key
 */
export function totalKeyOf(ctx: AutoApiContext, vary: Vary, build: unknown, { text, values }: Statement): string | undefined {
  return toText(['total', ...callerOf(ctx, vary, limitsOf(ctx)), build, text, ...values])
}

function callerOf(ctx: AutoApiContext, { paths }: Vary, limits: CredentialLimits | undefined): unknown[] {
  const { user, permissions, tenant, credential } = ctx
  const values = [user, permissions, tenant, credential, limits && toPlain(limits)]
  for (const path of paths) values.push(valueAt(ctx, path))
  return values
}

/** @returns `undefined` if a value is not plain */
function toText(values: readonly unknown[]): string | undefined {
  try {
    const key = encode(values)
    return key.length > MAX_LENGTH ? digest(key) : key
  }
  catch (error) {
    if (error instanceof NotPlainError) return undefined
    throw error
  }
}

function hasOtherKeys(ctx: AutoApiContext, { names }: Vary, limits: CredentialLimits | undefined): boolean {
  for (const key of Reflect.ownKeys(ctx)) {
    if (OWN_KEYS.has(key) || key === WATCHED || names.has(key)) continue
    // The limits of a credential are not a key of the app.
    if (typeof key === 'symbol' && limits !== undefined && (ctx as unknown as Record<symbol, unknown>)[key] === limits) continue
    return true
  }
  return false
}

function toPlain({ owner, excluded, scopes }: CredentialLimits): unknown {
  return { owner: [owner.user, owner.permissions], excluded: [...excluded], scopes: scopes && [...scopes] }
}

function valueAt(ctx: AutoApiContext, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (value as Record<string, unknown> | null | undefined)?.[name], ctx)
}

/** Whether the key of a request with metadata lacks them. */
export function isWatched(ctx: AutoApiContext, { names }: Vary): boolean {
  return WATCHED in ctx && !names.has(WATCHED)
}
