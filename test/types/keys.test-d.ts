/** The key of the statement cache accepts objects and literals of the code, but no names from elsewhere. */
import type { Column, Table } from 'drizzle-orm'
import { test } from 'vitest'
import type { Clause } from '../../src/runtime/server/core/sql/clause'
import { quoted, shape } from '../../src/runtime/server/core/sql/shape'
import type { Resource } from '../../src/runtime/server/schema/model'

declare const table: Table
declare const column: Column
declare const resource: Resource
declare const name: string
declare const symbol: '=' | '<>'

test('a key does not accept the name of a table or column', () => {
  void shape`read ${table}${column}${symbol}${[column]}${quoted(name)}${1}`
  // @ts-expect-error -- two tables may have this name
  void shape`read ${resource.name}`
  // @ts-expect-error -- two columns may have this name
  void shape`read ${[name]}`
  // @ts-expect-error -- not made by shape
  const clause: Clause = { shape: `${name}=`, values: [], build: () => undefined as never }
  void clause
})
