/** The media types of a request body: which ones a route accepts, and which one a request has. */
import { unsupportedMediaType } from './error'

export const JSON_TYPE = 'application/json'
export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** The media types of a route that declares none. */
export const DEFAULT_ACCEPTS: readonly string[] = Object.freeze([JSON_TYPE])

/** Returns the media type without its parameters, or `undefined` if the header is absent. */
export function mediaTypeOf(contentType: string | undefined): string | undefined {
  return contentType?.split(';', 1)[0]!.trim().toLowerCase()
}

/** @throws `UNSUPPORTED_MEDIA_TYPE` that lists the accepted types, also if the type is absent */
export function assertMediaType(type: string | undefined, accepted: readonly string[]): asserts type is string {
  if (type === undefined || !accepted.some(pattern => matches(type, pattern))) throw unsupportedMediaType(accepted)
}

function matches(type: string, pattern: string): boolean {
  if (!TYPE.test(type)) return false
  return pattern === '*/*' || pattern === type || (pattern.endsWith('/*') && type.startsWith(pattern.slice(0, -1)))
}

const TOKEN = '[a-z0-9][a-z0-9!#$&^_.+-]*'
const TYPE = new RegExp(`^${TOKEN}/${TOKEN}$`)
const PATTERN = new RegExp(`^(?:\\*/\\*|${TOKEN}/(?:\\*|${TOKEN}))$`)

/** Whether the API can parse a body of this type, so that a schema can validate it. */
export const isJson = (type: string) => type === JSON_TYPE || /^application\/.+\+json$/.test(type)
const isParsed = (type: string) => isJson(type) || type === FORM_TYPE

/**
 * Runs when the server starts.
 * @param where the route, for the message
 * @throws When `accepts` is no list of media types, or lists a type that `body` cannot validate.
 */
export function assertAccepts(where: string, { accepts, body }: { readonly accepts?: unknown, readonly body?: unknown }): void {
  if (accepts === undefined) return
  if (!Array.isArray(accepts) || accepts.length === 0 || !accepts.every(type => typeof type === 'string' && PATTERN.test(type)))
    throw new TypeError(`${where}: \`accepts\` is not a list of media types in lower case, such as \`['text/csv', 'image/*']\`.`)
  const unparsed = body ? accepts.find(type => !isParsed(String(type))) as string | undefined : undefined
  if (unparsed !== undefined)
    throw new TypeError(
      `${where}: \`body\` cannot validate \`${unparsed}\`. It validates ${JSON_TYPE} and ${FORM_TYPE}. `
      + 'Leave out `body`, and read the bytes with `request.stream()`.',
    )
}
