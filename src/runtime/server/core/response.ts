/** The response of a route, independent of the HTTP server. */

export interface ApiResponse {
  readonly status: number
  readonly body: unknown
  /** The id of the created record, for the `Location` header. */
  readonly created?: string
  readonly headers?: Readonly<Record<string, string>>
}
