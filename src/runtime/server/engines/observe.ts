/** Lets the API measure the statements of a commit, which only the engine sees. */
import type { Awaitable } from '../../shared/awaitable'

/**
 * Runs the statements that a driver sends together: one, or those of a batch. It returns what `run` returns.
 * @param rowsOf returns the number of rows that the statements returned or changed
 */
export type Observe = <T>(texts: () => readonly string[], run: () => Awaitable<T>, rowsOf: (result: T) => number) => Awaitable<T>

export interface Observed {
  /** Measures each statement of a commit. @default runs it only */
  readonly observe?: Observe
}

/** Measures nothing. */
export const runOnly: Observe = (_, run) => run()

export const lengthOf = ({ length }: readonly unknown[]): number => length
