/** The counter key of a request: the user, the tenant, the API token, or the value of the app's function. */
import { digest } from 'ohash'
import type { AutoApiContext } from '../../../server/kit/call'
import type { KeyFunction } from '../options'

/** A digest replaces longer keys, because a caller can choose the length of a key that the server stores. */
const MAX_KEY_LENGTH = 64

const SOURCES = {
  user: (ctx: AutoApiContext) => ctx.user?.id,
  tenant: (ctx: AutoApiContext) => ctx.tenant?.id,
  token: (ctx: AutoApiContext) => ctx.credential?.id,
}

/**
 * Returns `undefined` if the caller has no such key.
 * @throws The error of the app's function, or a `TypeError` if the key is neither a string nor a number.
 */
export async function keyOf(by: keyof typeof SOURCES | KeyFunction, ctx: AutoApiContext): Promise<string | undefined> {
  const [kind, value]: [string, unknown] = typeof by === 'function' ? ['key', await by(ctx)] : [by, SOURCES[by](ctx)]
  if (value === undefined || value === null || value === '') return undefined
  if (!['string', 'number', 'bigint'].includes(typeof value))
    throw new TypeError(`[auto-api] \`rateLimit\` received a ${kind} of type ${typeof value}. Use a string or a number.`)
  const text = String(value)
  return `${kind}:${text.length > MAX_KEY_LENGTH ? `#${digest(text)}` : text}`
}
