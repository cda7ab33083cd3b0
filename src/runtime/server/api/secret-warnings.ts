/** Warns at startup about resources that need a secret, if the app has not set one. */
import type { AutoApiConfig } from '../../shared/config'
import type { HookRegistry } from '../core/extensions/hook-registry'
import { hidesTaggedValues } from '../core/plan/record-revision'
import { readSecret } from '../core/process/secret'
import type { Resource } from '../schema/model'

const SET_SECRET = 'set NUXT_AUTO_API_SECRET (`runtimeConfig.autoApi.secret`)'

/** Read rules that allow every caller. */
const READABLE: ReadonlySet<unknown> = new Set([undefined, true])

/** @param useRuntimeConfig The function of Nitro. It is absent outside a server. */
export function warnWithoutSecret(
  resources: Iterable<Resource>, hooks: HookRegistry, { http }: AutoApiConfig, useRuntimeConfig: ((event?: unknown) => unknown) | undefined,
): void {
  if (!useRuntimeConfig || readSecret(useRuntimeConfig) !== undefined) return
  for (const resource of resources) {
    const { name, primaryKey, hidden, auth } = resource
    const key = primaryKey.find(field => hidden.has(field.name) || !READABLE.has(auth?.fields?.[field.name]?.read))
    if (key)
      console.warn(
        `[auto-api] \`${name}\`: some callers cannot read the key column \`${key.name}\`, so the cursors of its lists are encrypted. `
        + `In production they need a secret: ${SET_SECRET}. Without it these callers can only use \`page\`.`,
      )
    if (http.etag && hidesTaggedValues(resource, hooks))
      console.warn(
        `[auto-api] \`${name}\`: an \`afterGet\` hook can hide values that the ETag of a record covers. `
        + `So that no caller can guess them and compare the tag, ${SET_SECRET}.`,
      )
  }
}
