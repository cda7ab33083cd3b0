/** The parts of an OpenAPI document, and what it is created from. */
import type { ApiDescription, DescribedLimits, DescribedResource, JsonSchema } from '../../../../shared/types/description'
import type { DescribeRoute, RouteDescription } from '../../../../shared/types/openapi'
import type { Method } from '../../../../shared/routes'

export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'path' | 'header'
  readonly description?: string
  readonly required?: boolean
  readonly style?: 'form' | 'deepObject'
  readonly explode?: boolean
  readonly schema?: JsonSchema
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>
}

export interface Reference {
  readonly $ref: string
}

export interface Response {
  readonly 'description': string
  readonly 'headers'?: Readonly<Record<string, object>>
  readonly 'content'?: Readonly<Record<string, { readonly schema?: JsonSchema }>>
  /** The codes of errors with this status. */
  readonly 'x-codes'?: readonly string[]
}

export interface Operation {
  readonly operationId: string
  readonly tags?: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly (Parameter | Reference)[]
  readonly requestBody?: { readonly required: boolean, readonly content: Readonly<Record<string, { readonly schema?: JsonSchema }>> }
  readonly responses: Readonly<Record<string, Response | Reference>>
}

/** An operation with its address below the host. The path has parameters such as `{id}`. */
export interface Documented {
  readonly method: Method
  readonly path: string
  readonly operation: Operation
}

/** A route of a plugin or an endpoint that the caller can use. */
export interface GrantedRoute {
  readonly method: Method
  /** The path below the host, with parameters such as `:id`. */
  readonly path: string
  /** The name of the operation, unless the description has one. */
  readonly operationId: string
  readonly resource?: string
  /** The route answers requests of another route that prefer one of these media types. */
  readonly produces?: readonly string[]
  readonly accepts?: readonly string[]
  readonly describe?: DescribeRoute
  /** What its schemas describe. */
  readonly schemas: Pick<RouteDescription, 'query' | 'body'>
  readonly hasListParameters: boolean
  readonly isIdempotent: boolean
  readonly hasDryRun: boolean
}

/** Everything that the document of a caller depends on. */
export interface Grant {
  readonly description: ApiDescription
  readonly isSignedIn: boolean
  readonly routes: readonly GrantedRoute[]
  /** The part of URLs before the prefix. */
  readonly base: string
}

/** What is the same for every caller. */
export interface DocumentFacts {
  readonly prefix: string
  readonly info: object
  readonly servers?: readonly object[]
  readonly securitySchemes: Readonly<Record<string, object>>
  readonly hasIdempotency: boolean
  readonly hasRateLimit: boolean
  /** The key of the secret in the response of a create, by resource. */
  readonly secrets: ReadonlyMap<string, string>
  readonly requiresIfMatch: (resource: string) => boolean
  /** Whether a file of the app replaces a route. The path is below the prefix. */
  readonly isAppRoute: (method: Method, path: string) => boolean
}

/** A resource that the document describes. */
export interface OnResource {
  readonly name: string
  readonly described: DescribedResource
  /** All described resources by name. */
  readonly resources: Readonly<Record<string, DescribedResource>>
  readonly limits: DescribedLimits
  readonly facts: DocumentFacts
}
