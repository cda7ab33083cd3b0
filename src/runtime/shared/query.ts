/** Builds the path and the query string of a request. The server's `core/parse` does the reverse. */
import { ROUTES, type Method, type RouteName } from './routes'

type Serializer = (value: unknown) => string

const json: Serializer = value => stringify(value)
/** Names contain no commas. */
const list: Serializer = value => [value].flat().join(',')
/** A comma in an id is encoded in addition to the encoding of the query string. */
const ids: Serializer = value => [value].flat().map(id => encodeURIComponent(String(id))).join(',')

/** Serializers of parameters that are objects or lists. Other parameters are converted with `String`. */
const SERIALIZERS: Readonly<Record<string, Serializer>> = {
  filter: json, include: json, having: json,
  sort: list, fields: list, cursorFields: list, aggregate: list, groupBy: list,
  ids,
}

/** Leaves out parameters without effect. An empty cursor is kept: it requests the first page. */
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

/** JSON with bigints as text. */
export function stringify(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => typeof part === 'bigint' ? String(part) : part)
}

export interface RouteParams {
  readonly resource?: string
  /** A record's id. The id of a composite key is its values, each URL-encoded, joined by commas. */
  readonly id?: string | number
  readonly composite?: boolean
  readonly relation?: string
  /** A parameter of the routes below `/_m2m`. */
  readonly table?: string
  readonly name?: string
}

/** A value that cannot be one segment of a path, because the URL would be another one. */
export class UnaddressableError extends Error {
  constructor(what: string, value: unknown) {
    super(`The \`${what}\` ${JSON.stringify(String(value ?? ''))} cannot be a segment of a URL.`)
    this.name = 'UnaddressableError'
  }
}

/**
 * A route with its parameters filled in, below the prefix.
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
 * The id of a composite key with each value URL-encoded once. The id can come from a route parameter of the app, where it is decoded.
 * `undefined` if a value cannot be encoded.
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

/** A lone surrogate cannot be encoded. */
function encode(text: string): string | undefined {
  try {
    return encodeURIComponent(text)
  }
  catch {
    return undefined
  }
}

/** Which rows of a table with soft delete a request includes. */
export type TrashMode = 'active' | 'trashed' | 'both'
