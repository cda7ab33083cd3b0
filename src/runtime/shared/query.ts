/** A request as the routes take it: the path of a route, and a query as text. The server's `core/parse` reads it back. */
import { ROUTES, type Method, type RouteName } from './routes'

type Serializer = (value: unknown) => string

const json: Serializer = value => stringify(value)
/** Names never hold a comma. */
const list: Serializer = value => [value].flat().join(',')
/** A comma inside an id is encoded once more than the query string does it. */
const ids: Serializer = value => [value].flat().map(id => encodeURIComponent(String(id))).join(',')

/** The parameters that are more than one value; any other is written as it is. */
const SERIALIZERS: Readonly<Record<string, Serializer>> = {
  filter: json, include: json, having: json,
  sort: list, fields: list, cursorFields: list, aggregate: list, groupBy: list,
  ids,
}

/** What says nothing is left out, an empty cursor says "from the start". */
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

/** JSON in the forms of the wire: what is a bigint here is text there. */
export function stringify(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => typeof part === 'bigint' ? String(part) : part)
}

export interface RouteParams {
  readonly resource?: string
  /** A record's id; that of a composite key is its values, each encoded, joined by commas. */
  readonly id?: string | number
  readonly composite?: boolean
  readonly relation?: string
  /** Of the routes below `/_m2m`. */
  readonly table?: string
  readonly name?: string
}

/** A value that a path cannot hold as one segment: it would lead to another path. */
export class UnaddressableError extends Error {
  constructor(what: string, value: unknown) {
    super(`There is no path to the ${what} ${JSON.stringify(String(value ?? ''))}.`)
    this.name = 'UnaddressableError'
  }
}

/**
 * A route with its parameters filled in, below the prefix.
 * @throws UnaddressableError
 */
export function toRequest(route: RouteName, params: RouteParams): { method: Method, path: string } {
  const { method, path } = ROUTES.find(({ name }) => name === route)!
  const given: Readonly<Record<string, unknown>> = { ...params }
  return { method, path: path.replace(/:(\w+)/g, (_, name: string) => toSegment(name, given[name], name === 'id' && params.composite)) }
}

/** Empty segments and those of dots are taken out by every URL parser, encoded ones too. */
const DROPPED_SEGMENTS = new Set(['', '.', '..'])

function toSegment(name: string, value: unknown, composite = false): string {
  const segment = composite ? canonicalKey(String(value ?? '')) : encode(String(value ?? ''))
  if (segment === undefined || DROPPED_SEGMENTS.has(segment)) throw new UnaddressableError(name, value)
  return segment
}

/**
 * The id of a composite key with each value encoded, once. Its text may come from a route of the app, which has decoded it;
 * `undefined` where no encoding of a value exists.
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

/** Half of a surrogate pair has no encoding. */
function encode(text: string): string | undefined {
  try {
    return encodeURIComponent(text)
  }
  catch {
    return undefined
  }
}

/** Which rows of a table with soft delete a request is about. */
export type TrashMode = 'active' | 'trashed' | 'both'
