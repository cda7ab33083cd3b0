/** Checks the values that a client sends in a cursor. A cursor contains values in the form in which drivers return them. */
import type { Column } from 'drizzle-orm'
import type { Kind } from '../../shared/wire'
import { INFINITY_TEXT, isDateText, isStorableText } from './text-formats'
import { sqlTypeOf, typeOf } from '../drizzle/index'
import { isScalar } from '../engines/driver-scalar'

const WHOLE = /^-?\d{1,40}$/

const NUMBER = /^(?:-?\d{1,200}(?:\.\d{1,200})?(?:e[+-]?\d{1,3})?|NaN|-?Infinity)$/i

const BINARY = /blob|bytea|binary/i

const numeric = (pattern: RegExp) => (raw: unknown) => typeof raw === 'number' || (typeof raw === 'string' && pattern.test(raw))

const BY_KIND: Readonly<Partial<Record<Kind, (raw: unknown) => boolean>>> = {
  integer: numeric(WHOLE),
  bigint: raw => typeof raw === 'bigint' || numeric(WHOLE)(raw),
  number: numeric(NUMBER),
  decimal: numeric(NUMBER),
  boolean: raw => typeof raw === 'boolean' || raw === 0 || raw === 1,
  date: raw => typeof raw === 'number' || (typeof raw === 'string' && (isDateText(raw.replace(/ BC$/, '')) || INFINITY_TEXT.test(raw))),
}

/** Creates the check of a value before it is decoded. `Field.isDriverValue` also checks the decoded value. */
export function createDriverValueTest(column: Column, kind: Kind): (raw: unknown) => boolean {
  const test = BY_KIND[kind] ?? isScalar
  // SQLite has no booleans. Its driver does not return or accept them.
  const acceptsBooleans = !typeOf(column).startsWith('SQLite')
  const acceptsBytes = BINARY.test(sqlTypeOf(column))
  return raw =>
    test(raw)
    && (typeof raw !== 'string' || isStorableText(raw))
    && (typeof raw !== 'boolean' || acceptsBooleans)
    && (!ArrayBuffer.isView(raw) || acceptsBytes)
}

/** Creates the test for numbers that a table can contain although no client can write them: the infinite ones, and NaN on Postgres. */
export function createInfiniteTest(column: Column, kind: Kind): (value: unknown) => boolean {
  const type = typeOf(column)
  if (kind !== 'number' || type.startsWith('MySql')) return () => false
  const acceptsNaN = type.startsWith('Pg')
  return value => value === Infinity || value === -Infinity || (acceptsNaN && Number.isNaN(value))
}
