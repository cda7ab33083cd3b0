/** Warns at startup about secrets that do not protect, and about resources that need a secret if the app has not set one. */
import type { AutoApiConfig } from '../../shared/config'
import type { HookRegistry } from '../core/extensions/hook-registry'
import { hidesTaggedValues } from '../core/plan/record-revision'
import { readSecrets, readSettings, type SecretSettings } from '../core/process/secret'
import type { Resource } from '../schema/model'

type UseRuntimeConfig = (event?: unknown) => unknown

const VARIABLES = { secret: 'NUXT_AUTO_API_SECRET', previousSecret: 'NUXT_AUTO_API_PREVIOUS_SECRET' } as const
const SET_SECRET = `set ${VARIABLES.secret} (\`runtimeConfig.autoApi.secret\`)`

const MIN_LENGTH = 32
const RANDOM = `Use at least ${MIN_LENGTH} random characters: \`openssl rand -base64 32\`.`

interface Problem {
  readonly has: (value: unknown, settings: SecretSettings) => boolean
  readonly text: string
  /** Only the previous secret can have the problem. */
  readonly ofPrevious?: true
}

/** The first problem of a value is reported. */
const PROBLEMS: readonly Problem[] = [
  { has: value => typeof value !== 'string', text: `is not a text, so it is ignored. ${RANDOM}` },
  {
    has: (_, settings) => readSecrets(() => ({ autoApi: settings })) === undefined,
    text: `is ignored, because ${VARIABLES.secret} is not set.`,
    ofPrevious: true,
  },
  {
    has: (value, { secret }) => value === secret,
    text: `is equal to ${VARIABLES.secret}, so it has no effect. Remove it.`,
    ofPrevious: true,
  },
  { has: value => (value as string).length < MIN_LENGTH, text: `is so short that it can be guessed. ${RANDOM}` },
]

/** Read rules that allow every caller. */
const READABLE: ReadonlySet<unknown> = new Set([undefined, true])

/** @param useRuntimeConfig The function of Nitro. It is absent outside a server. */
export function warnAboutSecrets(
  resources: Iterable<Resource>, hooks: HookRegistry, config: AutoApiConfig, useRuntimeConfig: UseRuntimeConfig | undefined,
): void {
  if (!useRuntimeConfig) return
  for (const problem of problemsOf(readSettings(useRuntimeConfig))) console.warn(`[auto-api] ${problem}`)
  if (readSecrets(useRuntimeConfig) === undefined) warnWithoutSecret(resources, hooks, config)
}

function problemsOf(settings: SecretSettings): readonly string[] {
  return (['secret', 'previousSecret'] as const).flatMap((name) => {
    const value = settings[name]
    if (value === undefined || value === null || value === '') return []
    const problem = PROBLEMS.find(({ has, ofPrevious }) => (!ofPrevious || name === 'previousSecret') && has(value, settings))
    return problem ? [`${VARIABLES[name]} (\`runtimeConfig.autoApi.${name}\`) ${problem.text}`] : []
  })
}

function warnWithoutSecret(resources: Iterable<Resource>, hooks: HookRegistry, { http }: AutoApiConfig): void {
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
