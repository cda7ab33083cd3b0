/** The response of a route, independent of the HTTP server. */
import { createAttached } from '../process/request-scoped'

export interface ApiResponse {
  readonly status: number
  /** A JSON value, or an async iterable of strings and bytes, which is sent chunk by chunk. */
  readonly body: unknown
  /**
   * The revision of the record in the body. Present on the responses of the generated routes with one record, if entity tags are on and the
   * caller can read the record. The entity tag of the response starts with it.
   */
  readonly revision?: string
  /** The id of the created record, for the `Location` header. */
  readonly created?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Receives the headers that a streamed body sets before its first chunk. A response that keeps the body keeps this object too. */
  readonly streamHeaders?: Readonly<Record<string, string>>
  /**
   * The resources that the response was read from, included and junction tables too. A table without a resource is `table:` and its name
   * in the database. Present on the generated routes that read records, if a plugin has `around`. It is absent if a plugin changes one of
   * these resources without reporting it, because then no plugin learns that the response is outdated.
   */
  readonly reads?: readonly string[]
}

/** The JSON text of a body, and the entity tag of the response. */
export interface Tagged {
  readonly etag: string
  readonly text: string
}

/** The text of each response of {@link createTextResponse}, as long as nothing has read its body. */
const texts = createAttached<() => Tagged | undefined>('text')

/**
 * Creates a response whose body is JSON text. The HTTP adapter sends the text as it is. The body is parsed when something reads it: a copy
 * of the response has a body of its own, which can be changed.
 */
export function createTextResponse(head: Omit<ApiResponse, 'body'>, tagged: Tagged): ApiResponse {
  let parsed: { readonly body: unknown } | undefined
  const response: ApiResponse = {
    ...head,
    get body() {
      return (parsed ??= { body: JSON.parse(tagged.text) as unknown }).body
    },
  }
  // Whoever has the body could have changed it.
  texts.set(response, () => parsed ? undefined : tagged)
  return response
}

/** Returns the response with other properties beside its body. A response of {@link createTextResponse} keeps its text. */
export function withHead(response: ApiResponse, changes: Partial<Omit<ApiResponse, 'body'>>): ApiResponse {
  const tagged = findText(response)
  if (!tagged) return { ...response, ...changes }
  const { status, revision, created, headers, streamHeaders, reads } = response
  return createTextResponse({ status, revision, created, headers, streamHeaders, reads, ...changes }, tagged)
}

/** The revisions of records that handlers receive as values. No property, because a hook can return a frozen record. */
const revisions = new WeakMap<object, string>()

/** Returns the body of a response. A handler that returns this object sends it with the entity tag of the record. */
export function bodyWithRevision({ body, revision }: ApiResponse): unknown {
  if (revision !== undefined && typeof body === 'object' && body !== null) revisions.set(body, revision)
  return body
}

/** Returns the revision of a value of {@link bodyWithRevision}. */
export const findRevision = (body: unknown): string | undefined =>
  typeof body === 'object' && body !== null ? revisions.get(body) : undefined

/** Returns the text of a response of {@link createTextResponse}. `undefined` if its body was read, and for other responses. */
export function findText(response: ApiResponse): Tagged | undefined {
  return texts.get(response)?.()
}

const large = new WeakSet<object>()

/** Makes the HTTP adapter write the text of this body in turns with other requests. */
export const markLarge = (body: object): void => void large.add(body)

export const isLarge = (body: unknown): body is object => typeof body === 'object' && body !== null && large.has(body)
