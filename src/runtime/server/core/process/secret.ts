/** Reads the app's secret, `runtimeConfig.autoApi.secret`. The server signs and encrypts with it. */

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

/** Returns `undefined` if the app has not set a secret. */
export function readSecret(useRuntimeConfig: ((event?: unknown) => unknown) | undefined, event?: unknown): string | undefined {
  const { autoApi } = (useRuntimeConfig?.(event) ?? {}) as { autoApi?: { secret?: unknown } }
  return typeof autoApi?.secret === 'string' && autoApi.secret !== '' ? autoApi.secret : undefined
}
