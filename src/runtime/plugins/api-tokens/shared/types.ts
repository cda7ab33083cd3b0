/** The types of API tokens in responses. */
import type { ColumnsOf, ResourceName } from '../../../shared/types/resources'

/** The columns by which a table of API tokens is recognized. */
interface TokenColumns {
  readonly tokenHash: unknown
  readonly previousHash: unknown
}

/** The resources whose tables contain API tokens. */
export type TokenResource = { [R in ResourceName]: ColumnsOf<R> extends TokenColumns ? R : never }[ResourceName]

export interface IssuedToken {
  /** The secret. Only the response that issues it has it. */
  token?: string
  /** The response was stored and sent again: the first response had the secret. */
  tokenAlreadyIssued?: true
}

declare module '../../../shared/types/resources' {
  interface CreatedWith<Columns> {
    apiTokens: Columns extends TokenColumns ? IssuedToken : unknown
  }
}

/** What a token can do. Everything that the caller cannot know is `{ active: false }`. */
export type Introspection = { active: false } | {
  active: true
  /** What the token can do now, separated by spaces. */
  scope: string
  token_type: 'Bearer'
  /** The id of the owner. */
  sub: string
  /** In seconds since 1970. */
  iat: number
  /** Absent if the token does not expire. */
  exp?: number
  /** The id of the token. */
  jti: string
  /** The organization. Absent if the token has none. */
  tenant?: string
}
