/** The media types of a request body: which ones a route accepts, and which one a request has. */
import { unsupportedMediaType } from '../error'

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

/**
 * Returns the media type that a request prefers to JSON, or `undefined`. The type must be named: a wildcard means JSON.
 * @param accept the `Accept` header
 * @param produced media types in lower case
 */
export function preferredType(accept: string | undefined, produced: readonly string[]): string | undefined {
  if (accept === undefined || accept.length > MAX_ACCEPT) return undefined
  const ranges = accept.split(',').map(toRange)
  const qualityOf = (type: string) => ranges.find(range => range.type === type)?.quality
  const named = qualityOf(JSON_TYPE)
  const json = named ?? qualityOf('application/*') ?? qualityOf('*/*') ?? 0
  let best: { readonly type: string, readonly quality: number } | undefined
  for (const type of produced) {
    const quality = qualityOf(type) ?? 0
    const beatsJson = named === undefined ? quality >= json : quality > json
    if (quality > 0 && beatsJson && quality > (best?.quality ?? 0)) best = { type, quality }
  }
  return best?.type
}

/** Whether a client wants errors in a media type. The client must name it, and must not prefer JSON. A wildcard means JSON. */
export function wantsErrorsAs(accept: string | undefined, type: string): boolean {
  if (accept === undefined || accept.length > MAX_ACCEPT) return false
  const ranges = accept.split(',').map(toRange)
  const qualityOf = (type: string) => ranges.find(range => range.type === type)?.quality ?? 0
  return qualityOf(type) > 0 && qualityOf(type) >= qualityOf(JSON_TYPE)
}

/** Browsers send less than 300 characters. */
const MAX_ACCEPT = 2000

function toRange(text: string): { readonly type: string, readonly quality: number } {
  const [type = '', ...parameters] = text.split(';').map(part => part.trim().toLowerCase())
  const quality = parameters.find(parameter => parameter.startsWith('q='))
  return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) || 0 }
}

/**
 * Runs when the server starts.
 * @throws When `produces` is no list of media types without wildcards, or the route is no GET route.
 */
export function assertProduces(where: string, { produces, method }: { readonly produces?: unknown, readonly method: string }): void {
  if (produces === undefined) return
  if (!Array.isArray(produces) || produces.length === 0 || !produces.every(type => typeof type === 'string' && TYPE.test(type)))
    throw new TypeError(`${where}: \`produces\` is not a list of media types in lower case, such as \`['text/csv']\`.`)
  if (method !== 'GET') throw new TypeError(`${where} has \`produces\`, which is only for GET routes.`)
}
