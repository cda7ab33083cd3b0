/** A history: what each request wrote, and what its response returned. */

/** A list, a register or a set, such as `items 3`. */
export type Key = string

/**
 * No two operations append, write or add the same value to a key, so that a read names the transaction that wrote what it returns. A list
 * and a set begin empty, and a register with 0.
 */
export type Operation
  = | { readonly kind: 'append' | 'write' | 'add' | 'remove', readonly key: Key, readonly value: number }
    | { readonly kind: 'read list' | 'read set', readonly key: Key, readonly values: readonly number[] }
    | { readonly kind: 'read register', readonly key: Key, readonly value: number }

export type Write = Extract<Operation, { readonly kind: 'append' | 'write' | 'add' | 'remove' }>

/** `refused`: the response has an error, so nothing may be written. `unknown`: no response, so all or nothing may be written. */
export type Outcome = 'done' | 'refused' | 'unknown'

/** A request. It reads what is there before its own writes. */
export interface Transaction {
  readonly name: string
  readonly outcome: Outcome
  /** Before the request was sent. */
  readonly begin: number
  /** After the response arrived; infinite without one. */
  readonly end: number
  readonly operations: readonly Operation[]
}

export interface History {
  readonly transactions: readonly Transaction[]
  /** Reads of all keys after the last transaction. */
  readonly last: readonly Operation[]
  /** The values of registers before and after each write, from a log that is written in the same commit. */
  readonly log?: ReadonlyMap<Key, readonly (readonly [before: number, after: number])[]>
}

export const isWrite = (operation: Operation): operation is Write => !operation.kind.startsWith('read')
