/** What a route answers. */

/** An answer without a server around it. */
export interface ApiResponse {
  readonly status: number
  readonly body: unknown
  /** The id of a record that was made, for the `Location` header. */
  readonly created?: string
  readonly headers?: Readonly<Record<string, string>>
}
