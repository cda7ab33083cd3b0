/** Reads the app's secrets, `runtimeConfig.autoApi.secret` and `previousSecret`. The server encrypts and hashes with them. */

/** The first secret makes values. All of them are accepted, so that an app can change its secret while clients have values. */
export type Secrets = readonly [current: string, ...previous: string[]]

/** @param event The request. On some platforms, it contains the environment variables. */
export type FindSecrets = (event?: unknown) => Secrets | undefined

type UseRuntimeConfig = ((event?: unknown) => unknown) | undefined

/** The values as the app has set them, of any type. */
export interface SecretSettings {
  readonly secret?: unknown
  readonly previousSecret?: unknown
}

/**
 * @param useRuntimeConfig The function of Nitro. It is absent outside a server.
 * @param dev In development, a random secret replaces a missing one. It is valid for this process only.
 */
export function createSecrets(useRuntimeConfig: UseRuntimeConfig, dev: boolean): FindSecrets {
  const random = dev ? randomSecrets() : undefined
  return event => readSecrets(useRuntimeConfig, event) ?? random
}

/** Secrets for one process, where no other has to know them. */
export const randomSecrets = (): Secrets => [globalThis.Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')]

/** Returns `undefined` if the app has not set a secret. A previous secret alone is ignored. */
export function readSecrets(useRuntimeConfig: UseRuntimeConfig, event?: unknown): Secrets | undefined {
  const { secret, previousSecret } = readSettings(useRuntimeConfig, event)
  if (!isSecret(secret)) return undefined
  return isSecret(previousSecret) && previousSecret !== secret ? [secret, previousSecret] : [secret]
}

export function readSettings(useRuntimeConfig: UseRuntimeConfig, event?: unknown): SecretSettings {
  const { autoApi } = (useRuntimeConfig?.(event) ?? {}) as { autoApi?: SecretSettings }
  return autoApi ?? {}
}

const isSecret = (value: unknown): value is string => typeof value === 'string' && value !== ''
