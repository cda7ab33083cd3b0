/** A request as the routes take it: the path of a route, and a query as text. The server's `core/parse` reads it back. */
import { ROUTES, type Method, type RouteName } from './routes'

type Writer = (value: unknown) => string

const json: Writer = value => stringify(value)
/** Names never hold a comma. */
const list: Writer = value => [value].flat().join(',')
/** A comma inside an id is encoded once more than the query string does it. */
const ids: Writer = value => [value].flat().map(id => encodeURIComponent(String(id))).join(',')

/** The parameters that are more than one value; any other is written as it is. */
const WRITERS: Readonly<Record<string, Writer>> = {
  filter: json, include: json, having: json,
  sort: list, fields: list, cursorFields: list, aggregate: list, groupBy: list,
  ids,
}

/** What says nothing is left out, an empty cursor says "from the start". */
export function toQuery(query: object): Record<string, string> {
  return Object.fromEntries(Object.entries(query).flatMap(([name, value]: [string, unknown]) => saysNothing(value) ? [] : [[name, (WRITERS[name] ?? String)(value)]]))
}

function saysNothing(value: unknown): boolean {
  return value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0)
}

/** JSON in the forms of the wire: what is a bigint here is text there. */
export function stringify(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => typeof part === 'bigint' ? String(part) : part)
}

export interface RouteParams {
  readonly resource?: string
  /** As it stands in the path, but not yet encoded. */
  readonly id?: string | number
  /** The values of a composite key are encoded already. */
  readonly composite?: boolean
  readonly relation?: string
}

/** A route with its parameters filled in, below the prefix. */
export function toRequest(route: RouteName, { resource = '', id = '', composite = false, relation = '' }: RouteParams): { method: Method, path: string } {
  const { method, path } = ROUTES.find(({ name }) => name === route)!
  const values: Readonly<Record<string, string>> = { resource, relation: encodeURIComponent(relation), id: composite ? String(id) : encodeURIComponent(id) }
  return { method, path: path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? '') }
}
