/** Builds the path and the query string of a request. On the server, `core/parse` parses them. */
import { ROUTES, type Method, type RouteName } from './routes'

type Serializer = (value: unknown) => string

const json: Serializer = value => stringify(value)
/** Joins names with commas. Names contain no commas, so this needs no encoding. */
const list: Serializer = value => [value].flat().join(',')
/** Joins ids with commas. It encodes each id first, because an id can contain a comma. The query string is encoded once more later. */
const ids: Serializer = value => [value].flat().map(id => encodeURIComponent(String(id))).join(',')

/** Serializers of parameters that are objects or lists. `String` converts the other parameters. */
const SERIALIZERS: Readonly<Record<string, Serializer>> = {
  filter: json, include: json, having: json,
  sort: list, fields: list, counts: list, cursorFields: list, aggregate: list, groupBy: list,
  onConflict: list,
  ids,
}

/** Builds the parameters of a query. It omits parameters without effect, but keeps an empty cursor, which requests the first page. */
export function toQuery(query: object): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]: [string, unknown]) =>
      isOmitted(value) ? [] : [[name, (SERIALIZERS[name] ?? String)(value)]],
    ),
  )
}

function isOmitted(value: unknown): boolean {
  return value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0)
}

/** Converts a value to JSON, with each bigint as text. */
export function stringify(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => typeof part === 'bigint' ? String(part) : part)
}

export interface RouteParams {
  readonly resource?: string
  /** The id of a record. The id of a composite key contains its values, each URL-encoded and joined by commas. */
  readonly id?: string | number
  readonly composite?: boolean
  readonly relation?: string
  /** The parameter of `/_m2m/is-junction/:table`. */
  readonly table?: string
  /** The parameter of `/_m2m/detect/:name`. */
  readonly name?: string
}

/** The error for a value that cannot be a segment of a path. For example, URL parsers remove the segment `..`. */
export class UnaddressableError extends Error {
  constructor(what: string, value: unknown) {
    super(`The \`${what}\` ${JSON.stringify(String(value ?? ''))} cannot be a segment of a URL.`)
    this.name = 'UnaddressableError'
  }
}

/**
 * Returns the method of a route, and its path with the parameter values. The path does not contain the prefix.
 * @throws UnaddressableError
 */
export function toRequest(route: RouteName, params: RouteParams): { method: Method, path: string } {
  const { method, path } = ROUTES.find(({ name }) => name === route)!
  const values: Readonly<Record<string, unknown>> = { ...params }
  return { method, path: path.replace(/:(\w+)/g, (_, name: string) => toSegment(name, values[name], name === 'id' && params.composite)) }
}

/** Segments that URL parsers remove, even if they are encoded. */
const DROPPED_SEGMENTS = new Set(['', '.', '..'])

function toSegment(name: string, value: unknown, composite = false): string {
  const segment = composite ? canonicalKey(String(value ?? '')) : encode(String(value ?? ''))
  if (segment === undefined || DROPPED_SEGMENTS.has(segment)) throw new UnaddressableError(name, value)
  return segment
}

/**
 * Returns the id of a composite key with each value URL-encoded exactly once. The values of the given id can be decoded already, for
 * example if the id comes from a route parameter of the app. The result is `undefined` if a value cannot be encoded.
 */
export function canonicalKey(id: string): string | undefined {
  const values = id.split(',').map(value => encode(decode(value)))
  return values.includes(undefined) ? undefined : values.join(',')
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  }
  catch {
    return text
  }
}

/** URL-encodes a text. It returns `undefined` for text with a lone surrogate, which cannot be encoded. */
function encode(text: string): string | undefined {
  try {
    return encodeURIComponent(text)
  }
  catch {
    return undefined
  }
}

/** Selects the rows of a table with soft delete: active rows, rows in the trash, or both. */
export type TrashMode = 'active' | 'trashed' | 'both'
