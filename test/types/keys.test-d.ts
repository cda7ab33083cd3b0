/** SQL accepts columns, tables, other SQL and values, and words of the code, but no text from elsewhere. */
import type { Column, Table } from 'drizzle-orm'
import { test } from 'vitest'
import { joined, value, where, word } from '../../src/runtime/server/core/sql/where'

declare const table: Table
declare const column: Column
declare const name: string
declare const symbol: '=' | '<>'

test('SQL does not accept a text as a part', () => {
  void where`select ${column} from ${table} where ${column} ${word(symbol)} ${value(name)} and ${where`1 = 1`}`
  // @ts-expect-error -- a text is a parameter or a word
  void where`select 1 from ${name}`
  // @ts-expect-error -- a number is a parameter
  void where`${column} = ${1}`
  // @ts-expect-error -- not a word of the code
  void word(name)
  // @ts-expect-error -- not a word of the code
  void joined([column], name)
})
