/** Reads the app's secret, `runtimeConfig.autoApi.secret`. The server signs and encrypts with it. */
import type { Resource } from '../schema/model'

/** @param event The request. On some platforms, it contains the environment variables. */
export type FindSecret = (event?: unknown) => string | undefined

/**
 * @param useRuntimeConfig The function of Nitro. It is absent outside a server.
 * @param dev In development, a random secret replaces a missing one. It is valid for this process only.
 */
export function createSecret(useRuntimeConfig: ((event?: unknown) => unknown) | undefined, dev: boolean): FindSecret {
  const random = dev ? crypto.randomUUID() : undefined
  return event => readSecret(useRuntimeConfig, event) ?? random
}

function readSecret(useRuntimeConfig: ((event?: unknown) => unknown) | undefined, event: unknown): string | undefined {
  const { autoApi } = (useRuntimeConfig?.(event) ?? {}) as { autoApi?: { secret?: unknown } }
  return typeof autoApi?.secret === 'string' && autoApi.secret !== '' ? autoApi.secret : undefined
}

/** Read rules that allow every caller. */
const READABLE: ReadonlySet<unknown> = new Set([undefined, true])

/** Warns at startup about lists that need a secret, if the app has not set one. */
export function warnWithoutSecret(resources: Iterable<Resource>, useRuntimeConfig: ((event?: unknown) => unknown) | undefined): void {
  if (!useRuntimeConfig || readSecret(useRuntimeConfig, undefined) !== undefined) return
  for (const { name, primaryKey, hidden, auth } of resources) {
    const key = primaryKey.find(field => hidden.has(field.name) || !READABLE.has(auth?.fields?.[field.name]?.read))
    if (!key) continue
    console.warn(
      `[auto-api] \`${name}\`: some callers cannot read the key column \`${key.name}\`, so the cursors of its lists are encrypted. `
      + 'In production they need a secret: set NUXT_AUTO_API_SECRET (`runtimeConfig.autoApi.secret`). '
      + 'Without it these callers can only use `page`.',
    )
  }
}
