/** The response of a route, independent of the HTTP server. */

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
   * in the database. Present on the generated routes that read records, if a plugin has `around`.
   */
  readonly reads?: readonly string[]
}
