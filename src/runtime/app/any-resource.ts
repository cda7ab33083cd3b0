/** The types of the composables for a resource whose name is known only at run time: each record is an object with unknown values. */

/**
 * The rest parameter of these overloads. A literal name, and thus a misspelled one, lacks an argument that nobody can pass: a wrong number
 * of arguments leaves only the errors of the typed overload in the message. It is a type parameter without a default, so that
 * `ReturnType<typeof useAutoApiList<'posts'>>` means the typed overload.
 */
export type OnlyAtRunTime<N extends string> = string extends N ? [] : [literal: never]

/** A record, or the fields of one. */
export type Row = Readonly<Record<string, unknown>>

/** The parameters of a request, which the server checks. */
export type Query = Readonly<Record<string, unknown>>

export interface Page {
  readonly data: readonly Row[]
  readonly meta: {
    readonly limit: number
    readonly page?: number
    readonly total?: number
    readonly totalIsMore?: true
    readonly totalIsEstimated?: true
    readonly hasMore?: boolean
    readonly nextCursor?: string | null
    readonly aggregates?: Row
  }
}

export interface CursorPage {
  readonly data: readonly Row[]
  readonly meta: { readonly limit: number, readonly hasMore: boolean, readonly nextCursor: string | null, readonly aggregates?: Row }
}

export interface Groups {
  readonly data: readonly (Row & { readonly count?: number })[]
  readonly meta: { readonly total: number }
}

/** The records that requests and responses contain, in place of `RecordTypes`. */
export interface AnyRecord {
  create: Row
  update: Row
  created: Row
  record: Row
}
