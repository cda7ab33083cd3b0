/** The closure on SQLite, libSQL and D1. */
import type { ClosureSql } from './closure'
import { singleTermRecursion } from './single-term'
import { standard } from './standard'
import { unionRecursion } from './union'

export const sqlite: ClosureSql = {
  ...standard,
  recursion: closure =>
    closure.dependents.edges.length >= (closure.maxTerms ?? Infinity) ? singleTermRecursion(closure) : unionRecursion(closure),
}
