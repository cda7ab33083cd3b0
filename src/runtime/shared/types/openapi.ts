/** How plugins and endpoints describe their routes for the OpenAPI document. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { DescribedResource, JsonSchema } from './description'

/** A parameter of the query string, of the path, or a header. */
export interface ParameterDescription {
  readonly description?: string
  /** @default { type: 'string' } */
  readonly schema?: JsonSchema
  /** @default false */
  readonly required?: boolean
}

export interface ResponseDescription {
  /** @default the reason phrase of the status */
  readonly description?: string
  /** A JSON Schema, or a schema of a library that can convert its schemas. Without it, the response has no JSON body. */
  readonly schema?: JsonSchema | StandardSchemaV1
  /** Media types of a body that is not JSON, such as `text/csv`. */
  readonly types?: readonly string[]
}

export interface RouteDescription {
  /** A short title. */
  readonly summary: string
  readonly description?: string
  /**
   * A unique name of the operation.
   * @default the resource and the name of the route; for an endpoint its method and path
   */
  readonly operationId?: string
  /** The parameters of the path by name. Parameters that are missing here are text. */
  readonly params?: Readonly<Record<string, ParameterDescription>>
  /**
   * The parameters of the query string by name. They replace those of the `query` schema and of a list. `false` leaves a parameter out.
   */
  readonly query?: Readonly<Record<string, ParameterDescription | false>>
  readonly headers?: Readonly<Record<string, ParameterDescription>>
  /** The JSON Schema of the body. It replaces that of the `body` schema. */
  readonly body?: JsonSchema
  /**
   * The successful responses by status.
   * @default { 200: { schema: {} } }
   */
  readonly responses?: Readonly<Record<number, ResponseDescription>>
  /** Codes of errors besides those that every route of its kind has, with their status for codes of the app: `{ QUOTA_EXCEEDED: 402 }`. */
  readonly errors?: Readonly<Record<string, number>>
}

/** The resource of a route, as the document of one caller describes it. */
export interface DescribedRouteResource {
  readonly name: string
  /** Absent if the caller can use the route, but no operation of the resource. */
  readonly described?: DescribedResource
  /** A reference to the schema of a record, or `{}` if the caller can see no record. */
  readonly record: JsonSchema
}

/** A description, or a function that creates it for a resource. */
export type DescribeRoute = RouteDescription | ((resource: DescribedRouteResource) => RouteDescription)
