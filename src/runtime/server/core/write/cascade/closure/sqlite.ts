/** The closure on SQLite, libSQL and D1. */
import { sql } from 'drizzle-orm'
import type { ClosureSql } from './closure'
import { singleTermRecursion } from './single-term'
import { standard } from './standard'
import { unionRecursion } from './union'

export const sqlite: ClosureSql = {
  ...standard,
  recursion: closure =>
    closure.dependents.edges.length >= (closure.maxTerms ?? Infinity)
      ? singleTermRecursion(closure, numbersBelow)
      : unionRecursion(closure),
}

/** `json_each('[0,1]')` */
const numbersBelow = (count: number) =>
  sql`json_each(${sql.raw(`'[${Array.from({ length: count }, (_, number) => number)}]'`)})`
