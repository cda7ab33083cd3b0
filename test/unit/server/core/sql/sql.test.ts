/** The SQL of each dialect, compared with texts written by hand. */
import { boolean, integer as pgInteger, pgTable, text as pgText, timestamp } from 'drizzle-orm/pg-core'
import { boolean as mysqlBoolean, int, mysqlTable, timestamp as mysqlTimestamp, varchar } from 'drizzle-orm/mysql-core'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { SQL, Table } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { DIALECTS as ADAPTERS } from '../../../../../src/runtime/server/engines/dialects/index'
import type { Engine } from '../../../../../src/runtime/server/engines/engine.ts'
import type { Call } from '../../../../../src/runtime/server/core/request/session'
import { planFilter, relatedReads } from '../../../../../src/runtime/server/core/plan/filter.ts'
import { after, type Order } from '../../../../../src/runtime/server/core/sql/keyset.ts'
import { allFields } from '../../../../../src/runtime/server/core/access/fields'
import { toFilter } from '../../../../../src/runtime/server/core/parse/filter.ts'
import { whereClause } from '../../../../../src/runtime/server/core/sql/conditions'
import { parameterize } from '../../../../../src/runtime/server/core/sql/parameterize'
import type { Where } from '../../../../../src/runtime/server/core/sql/where'
import { inTuples } from '../../../../../src/runtime/server/core/sql/list/index'
import { createResources } from '../../../../../src/runtime/server/schema/resource.ts'
import { DEFAULT_CONFIG } from '../../../../../src/runtime/shared/defaults.ts'
import { DIALECTS } from '../../../../support/dialects'

const TABLES = {
  sqlite: sqliteTable('t', {
    id: integer('id').primaryKey(),
    n: integer('n'),
    s: text('s').notNull(),
    b: integer('b', { mode: 'boolean' }),
    at: integer('at', { mode: 'timestamp_ms' }),
  }),
  pg: pgTable('t', { id: pgInteger('id').primaryKey(), n: pgInteger('n'), s: pgText('s').notNull(), b: boolean('b'), at: timestamp('at') }),
  mysql: mysqlTable('t', {
    id: int('id').primaryKey(),
    n: int('n'),
    s: varchar('s', { length: 50 }).notNull(),
    b: mysqlBoolean('b'),
    at: mysqlTimestamp('at'),
  }),
}

type Name = keyof typeof TABLES

function open(name: Name) {
  const render = (sql: SQL) => {
    const { sql: text, params } = DIALECTS[name].sqlToQuery(sql)
    return { text, values: params }
  }
  const resource = createResources([{ name: 't', schema: TABLES[name] as Table }], [], DEFAULT_CONFIG).get('t')!
  return { engine: { name, dialect: name, adapter: ADAPTERS[name], render } as unknown as Engine, resource, render }
}

const order = (name: Name, ...fields: string[]): Order[] =>
  fields.map(field => ({ field: open(name).resource.fields.get(field.replace('-', ''))!, descending: field.startsWith('-') }))
const filter = (value: object) => async (name: Name) => {
  const { resource, engine } = open(name)
  const call = {
    resource,
    engine,
    ctx: { operation: 'read' },
    api: { config: DEFAULT_CONFIG },
    memo: new Map([['readable:t', allFields(resource)]]),
  } as unknown as Call
  return (await planFilter(toFilter(value, 'filter', { ...DEFAULT_CONFIG, filters: { extended: true } }), resource, call, relatedReads(call))).where
}
const place = (fields: string[], values: unknown[]) => (name: Name) => [after(open(name).engine, order(name, ...fields), values)]

type Expected = Record<Name, string>
/** In these texts `"` stands for the quote of the dialect and `?` for its parameter, where they are all that differs. */
const same = (text: string): Expected => {
  let place = 0
  return { sqlite: text, pg: text.replace(/\?/g, () => `$${++place}`), mysql: text.replaceAll('"', '`') }
}

const SHAPES: readonly [name: string, clauses: (dialect: Name) => readonly Where[] | Promise<readonly Where[]>, expected: Expected][] = [
  ['a number equals', filter({ n: 1 }), same(' where "t"."n" = ?')],
  ['NULL', filter({ n: null }), same(' where "t"."n" is null')],
  ['not NULL', filter({ n: { $ne: null } }), same(' where "t"."n" is not null')],
  ['not equal leaves NULL out by itself', filter({ n: { $ne: 1 } }), same(' where "t"."n" <> ?')],
  ['a range', filter({ n: { $gte: 1, $lt: 5 } }), same(' where "t"."n" >= ? and "t"."n" < ?')],
  ['greater', filter({ at: { $gt: '2026-01-01T00:00:00Z' } }), same(' where "t"."at" > ?')],
  ['at most', filter({ n: { $lte: 2 } }), same(' where "t"."n" <= ?')],
  [
    'text contains',
    filter({ s: { $like: 'ab' } }),
    {
      sqlite: ' where instr(lower("t"."s"), ?) > 0',
      pg: ' where cast("t"."s" as text) ilike $1',
      mysql: ' where lower(`t`.`s`) like lower(?)',
    },
  ],
  [
    'one of several',
    filter({ n: [1, 2, 3] }),
    {
      sqlite: ' where "t"."n" in (select value from json_each(?))',
      pg: ' where "t"."n" in (select unnest(cast(cast($1 as text) as integer[])))',
      mysql: ' where `t`.`n` in (?, ?, ?, ?)',
    },
  ],
  [
    'none of several',
    filter({ n: { $nin: [1, 2] } }),
    {
      sqlite: ' where "t"."n" not in (select value from json_each(?))',
      pg: ' where "t"."n" not in (select unnest(cast(cast($1 as text) as integer[])))',
      mysql: ' where `t`.`n` not in (?, ?)',
    },
  ],
  ['one of none', filter({ n: { $in: [] } }), same(' where 1 = 0')],
  ['none of none', filter({ n: { $nin: [] } }), same(' where "t"."n" is not null')],
  [
    'or',
    filter({ s: 'x', $or: [{ n: 1, b: true }, { n: null }] }),
    same(' where "t"."s" = ? and (("t"."n" = ? and "t"."b" = ?) or ("t"."n" is null))'),
  ],
  ['after one column', place(['id'], [7]), same(' where "t"."id" > ?')],
  ['after one column, downwards', place(['-id'], [7]), same(' where "t"."id" < ?')],
  [
    'after two columns of one direction',
    place(['s', 'id'], ['x', 7]),
    {
      sqlite: ' where ("t"."s", "t"."id") > (?, ?)',
      pg: ' where ("t"."s", "t"."id") > ($1, $2)',
      mysql: ' where (`t`.`s` >= ? and (`t`.`s` > ? or (`t`.`s` = ? and `t`.`id` > ?)))',
    },
  ],
  [
    'after two columns of two directions',
    place(['s', '-id'], ['x', 7]),
    same(' where ("t"."s" >= ? and ("t"."s" > ? or ("t"."s" = ? and "t"."id" < ?)))'),
  ],
  [
    'after a value where NULLs come first',
    place(['n', 'id'], [3, 7]),
    {
      sqlite: ' where ("t"."n" >= ? and ("t"."n" > ? or ("t"."n" = ? and "t"."id" > ?)))',
      pg: ' where (("t"."n" > $1 or "t"."n" is null) or ("t"."n" = $2 and "t"."id" > $3))',
      mysql: ' where (`t`.`n` >= ? and (`t`.`n` > ? or (`t`.`n` = ? and `t`.`id` > ?)))',
    },
  ],
  [
    'after NULL',
    place(['n', 'id'], [null, 7]),
    {
      sqlite: ' where ("t"."n" is not null or ("t"."n" is null and "t"."id" > ?))',
      pg: ' where (("t"."n" is null and "t"."id" > $1))',
      mysql: ' where (`t`.`n` is not null or (`t`.`n` is null and `t`.`id` > ?))',
    },
  ],
  [
    'after NULL, downwards',
    place(['-n', '-id'], [null, 7]),
    {
      sqlite: ' where (("t"."n" is null and "t"."id" < ?))',
      pg: ' where ("t"."n" is not null or ("t"."n" is null and "t"."id" < $1))',
      mysql: ' where ((`t`.`n` is null and `t`.`id` < ?))',
    },
  ],
  [
    'combinations of two columns without a collation',
    name => [
      inTuples(
        open(name).engine,
        ['id', 'n'].map(column => open(name).resource.fields.get(column)!),
        [
          [1, 3],
          [2, 4],
        ],
      ),
    ],
    {
      sqlite: ' where ("t"."id", "t"."n") in (select value ->> 0, value ->> 1 from json_each(?))',
      pg: ' where ("t"."id", "t"."n") in (select * from unnest(cast(cast($1 as text) as integer[]), cast(cast($2 as text) as integer[])))',
      mysql: ' where (`t`.`id`, `t`.`n`) in ((?, ?), (?, ?))',
    },
  ],
  [
    'combinations of two columns, one of them text, compared by bytes as well',
    name => [
      inTuples(
        open(name).engine,
        [open(name).resource.fields.get('id')!, open(name).resource.fields.get('s')!],
        [
          [1, 'a'],
          [2, 'b'],
        ],
      ),
    ],
    {
      sqlite:
        ' where (("t"."id", "t"."s") in (select value ->> 0, value ->> 1 from json_each(?)) and ("t"."id", "t"."s" collate binary) in (select value ->> 0, value ->> 1 from json_each(?)))',
      pg:
        ' where (("t"."id", "t"."s") in (select * from unnest(cast(cast($1 as text) as integer[]), cast(cast($2 as text) as text[])))'
        + ' and case when ("t"."id", cast("t"."s" as text) collate "C") in (select "v0", cast("v1" as text) collate "C" from unnest(cast(cast($3 as text) as integer[]), cast(cast($4 as text) as text[])) as listed("v0", "v1")) then true else false end)',
      mysql:
        ' where ((`t`.`id`, `t`.`s`) in ((?, ?), (?, ?)) and (`t`.`id`, cast(convert(`t`.`s` using utf8mb4) as binary)) in ((?, cast(convert(? using utf8mb4) as binary)), (?, cast(convert(? using utf8mb4) as binary))))',
    },
  ],
]

describe.each(Object.keys(TABLES) as Name[])('%s', (name) => {
  it.each(SHAPES)('%s', async (_, toClauses, expected) => {
    const clauses = await toClauses(name)
    const { engine, render } = open(name)
    const { text, values } = render(whereClause(clauses).getSQL())
    expect(text).toBe(expected[name])
    // What is sent with a text that is found by its key is what the text was made with.
    expect(values).toEqual(parameterize(engine, whereClause(clauses)).values)
  })
})
