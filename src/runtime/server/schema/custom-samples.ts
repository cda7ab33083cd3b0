/** Samples with which the server finds out, when it starts, what values a custom type has. */
import type { Column } from 'drizzle-orm'
import { sqlTypeOf, typeOf } from '../drizzle/index'

/** What drivers return for a column of this type. */
export function samplesOf(column: Column): readonly unknown[] {
  const ofDialect = typeOf(column).startsWith('SQLite') ? SQLITE_SAMPLES : SAMPLES
  return ofDialect.find(([pattern]) => pattern.test(sqlTypeOf(column)))?.[1] ?? TEXTS
}

const bytes = (text: string) => globalThis.Buffer.from(text)

const TEXTS: readonly unknown[] = ['a', '1', 'a,b', 'a:b', '1;2', '(1,2)', '[1,2]', '{1,2}', '{}', '{"a":1}', 'true',
  '2026-01-28T23:59:58.765Z', '1f', '11111111-1111-4111-8111-111111111111', 'https://example.com/']

/** What drivers return for a type of the database. The first one is the most likely. All other types are {@link TEXTS}. */
const SAMPLES: readonly (readonly [type: RegExp, samples: readonly unknown[]])[] = [
  [/\[\]$/, [['1'], [], '{1}']],
  [/^jsonb?\b/i, [{ a: 1 }, {}, [1], '{"a":1}', '[1]', '{}']],
  [/blob|bytea|binary/i, [bytes('\x01\x02\x03'), bytes('{"a":1}'), bytes('a'), bytes('0123456789abcdef')]],
  [/^bool/i, [true, false]],
  [/^(?:big|small|tiny|medium)?(?:int|serial)|^year/i, [1, '1']],
  [/^(?:numeric|decimal)/i, ['1.5', 1.5]],
  [/^(?:real|float|double)/i, [1.5, '1.5']],
  [/^(?:timestamp|datetime|date)/i, ['2026-01-28 23:59:58.765', '2026-01-28 23:59:58.765+00', '2026-01-28']],
]

/** SQLite has only these types. A number of its drivers is a number, whatever the declared type. */
const SQLITE_SAMPLES: readonly (readonly [type: RegExp, samples: readonly unknown[]])[] = [
  [/int|real|floa|doub|numeric|decimal|bool|date|time/i, [1, 1.5, '1', '2026-01-28 23:59:58.765']],
  [/blob/i, SAMPLES[2]![1]],
]

/** Values of types whose `fromDriver` accepts none of the samples, such as text that it decrypts: `toDriver` makes a sample of each. */
export const VALUES: readonly unknown[] = ['a', 1, true, new Date(0), BigInt(1), bytes('a'), { a: 1 }, ['a']]
