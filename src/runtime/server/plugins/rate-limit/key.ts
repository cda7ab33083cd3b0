/** The key that a request is counted for, once the caller is known. */
import { digest } from 'ohash'
import type { AutoApiContext } from '../../registration'
import type { KeyFunction } from './options'

/** Longer keys are replaced by their digest: a key is stored per caller, and the caller can choose its length. */
const LONGEST = 64

const SOURCES = {
  user: (ctx: AutoApiContext) => ctx.user?.id,
  tenant: (ctx: AutoApiContext) => ctx.tenant?.id,
}

/**
 * The key of a caller; `undefined` for a caller without a key.
 * @throws The error of the app's function, or a `TypeError` when it returns a value that cannot be a key.
 */
export async function keyOf(by: 'user' | 'tenant' | KeyFunction, ctx: AutoApiContext): Promise<string | undefined> {
  const [kind, value]: [string, unknown] = typeof by === 'function' ? ['key', await by(ctx)] : [by, SOURCES[by](ctx)]
  if (value === undefined || value === null || value === '') return undefined
  if (!['string', 'number', 'bigint'].includes(typeof value))
    throw new TypeError(`[auto-api] rateLimit counts by a ${kind} that is neither a string nor a number.`)
  const text = String(value)
  return `${kind}:${text.length > LONGEST ? `#${digest(text)}` : text}`
}
