/** A key of the statement cache takes objects and words of the code: a name that came from somewhere does not become part of one. */
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

test('a key refuses a bare name', () => {
  void shape`read ${table}${column}${symbol}${[column]}${quoted(name)}${1}`
  // @ts-expect-error -- two tables may have this name
  void shape`read ${resource.name}`
  // @ts-expect-error -- two columns may have this name
  void shape`read ${[name]}`
  // @ts-expect-error -- not made by shape
  const clause: Clause = { shape: `${name}=`, values: [], build: () => undefined as never }
  void clause
})
