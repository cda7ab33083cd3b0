/** Guards the keys of the statement cache: whoever asks whatever, statements of one key have one text. */
import fc from 'fast-check'
import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { after } from '../../../../../src/runtime/server/core/sql/keyset'
import {
  and,
  equals,
  equalsRaw,
  fromSql,
  isNotNull,
  isNull,
  manyRows,
  not,
  NO_ROWS,
  or,
} from '../../../../../src/runtime/server/core/sql/conditions'
import { like } from '../../../../../src/runtime/server/core/sql/like/index'
import { inList, inTuples } from '../../../../../src/runtime/server/core/sql/list/index'
import { DIALECTS as ADAPTERS } from '../../../../../src/runtime/server/engines/dialects/index'
import type { Engine } from '../../../../../src/runtime/server/engines/engine'
import { parameterize, statement, template } from '../../../../../src/runtime/server/core/sql/parameterize'
import { value, ValueRows, where, type Where } from '../../../../../src/runtime/server/core/sql/where'
import { createField } from '../../../../../src/runtime/server/schema/field'
import { describeTable } from '../../../../../src/runtime/server/schema/drizzle/table'
import { columnSchemas } from '../../../../../src/runtime/server/schema/validation'
import type { TestServer } from '../../../../support/server'
import { collisions, createCheckingCache } from '../../../../support/statements'
import { DIALECTS, FILTER_COUNT, openLookAlikes, SCHEMAS, tablesOf, type Rules } from './look-alikes'

/** `CASES=10000` looks longer. */
const cases = Number(process.env.CASES ?? 400)

const schemas = fc.constantFrom(...SCHEMAS)
const tables = fc.constantFrom('items', 'parts', 'notes', 'labels')
/** Mostly those that name no table: they look alike on every table. */
const filters = fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: FILTER_COUNT - 1 }))
/** Two callers with the same filters on different tables. */
const rules: fc.Arbitrary<readonly [Rules, Rules]> = fc.tuple(filters, filters).chain(([first, second]) => {
  const names = fc.constantFrom('items', 'parts', 'notes', 'labels', 'itemLabels')
  const own = fc.oneof(
    names.map((name): Rules => ({ filters: { [name]: first } })),
    fc.tuple(names, names).map(([one, other]): Rules => ({ filters: { [one]: first, [other]: second } })),
  )
  return fc.tuple(own, own)
})

const OPERATORS = [
  '{"name":"x"}',
  '{"name":{"$ne":"x"}}',
  '{"name":null}',
  '{"id":{"$in":[1,2,3]}}',
  '{"id":{"$nin":[1]}}',
  '{"id":{"$gt":1,"$lte":5}}',
  '{"name":{"$like":"x"}}',
  '{"$or":[{"id":1},{"name":"x"}]}',
  '{"$or":[{"id":1,"name":"x"}]}',
]
const SORTS = ['id', '-id', 'name', '-name,id', 'name,-id']
const includesOf = (schema: string): Record<string, readonly string[]> => ({
  items: [
    'parent',
    `${schema}_parts`,
    `${schema}_labels`,
    `${schema}_notes`,
    `parent,${schema}_parts.${schema}_notes`,
    `${schema}_parts{limit:1,sort:-name}`,
  ],
  parts: ['item', `${schema}_notes`, 'item.parent'],
  notes: ['item', 'part', 'item,part', 'part.item'],
  labels: [`${schema}_items`, `${schema}_items.${schema}_labels`],
})
const GROUPS = [
  'aggregate=count',
  'aggregate=count,sum(id)&groupBy=name',
  'aggregate=count,sum(id)&groupBy=name&sort=-sum_id',
  'aggregate=max(id)&having={"max_id":{"$gt":1}}',
  'aggregate=count(name),min(name)&groupBy=id,name',
]

interface Asked { readonly method: string, readonly path: string, readonly body?: unknown }

const LINKED: readonly string[] = ['items', 'labels']
const linkRequest = (schema: string, table: string): fc.Arbitrary<Asked> =>
  fc
    .constantFrom('POST', 'PUT', 'DELETE')
    .map(method => ({
      method,
      path: `${schema}_${table}/1/relations/${schema}_${table === 'labels' ? 'items' : 'labels'}`,
      body: { ids: [1] },
    }))

const requestOf = (schema: string, table: string): fc.Arbitrary<Asked> => {
  const resource = `${schema}_${table}`
  const option = (name: string, values: readonly string[]) =>
    fc
      .option(fc.constantFrom(...values), { nil: undefined })
      .map(value => (value === undefined ? '' : `&${name}=${encodeURIComponent(value)}`))
  const linked = LINKED.includes(table)
  const other = table === 'labels' ? 'items' : 'labels'
  const queryOf = (table: string) =>
    fc
      .tuple(
        option('filter', OPERATORS),
        option('sort', SORTS),
        option('fields', ['id', 'name', 'name,id']),
        option('include', includesOf(schema)[table]!),
        fc.constantFrom('', '&count=none', '&cursor=', '&page=2', '&includeDeleted=true'),
      )
      .map(parts => parts.join(''))
  const relation = `${resource}/1/relations/${schema}_${other}`
  const read = (address: string, table: string) => queryOf(table).map(text => ({ method: 'GET', path: `${address}?${text}` }))
  return fc.oneof(
    { weight: 6, arbitrary: read(resource, table) },
    { weight: 2, arbitrary: fc.constantFrom(...GROUPS).map(text => ({ method: 'GET', path: `${resource}/aggregate?${text}` })) },
    { weight: 4, arbitrary: fc.constantFrom<Asked>(
      { method: 'GET', path: `${resource}/1` },
      { method: 'POST', path: resource, body: { id: 5, name: 'x' } }, { method: 'POST', path: resource, body: { id: 5 } },
      { method: 'POST', path: `${resource}/bulk`, body: { items: [{ id: 5, name: 'x' }, { id: 6, name: 'y' }] } },
      { method: 'PATCH', path: `${resource}/1`, body: { name: 'x' } },
      { method: 'DELETE', path: `${resource}/1` }, { method: 'DELETE', path: `${resource}/1?force=true` },
      { method: 'DELETE', path: `${resource}/bulk`, body: { ids: [1] } },
      { method: 'POST', path: `${resource}/1/restore` }, { method: 'POST', path: `${resource}/bulk/restore`, body: { deletionId: '1' } },
    ) },
    ...linked
      ? [{ weight: 6, arbitrary: linkRequest(schema, table) }, { weight: 2, arbitrary: read(relation, other) }]
      : [],
  )
}

/** The same request by two callers, in one schema and its like in another, or two requests. */
const pairs = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(schemas, tables)
      .chain(([schema, table]) => requestOf(schema, table))
      .map(request => [request, request] as const),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(schemas, fc.constantFrom(...LINKED))
      .chain(([schema, table]) => linkRequest(schema, table))
      .map(request => [request, request] as const),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(schemas, schemas, tables)
      .chain(([schema, other, table]) =>
        requestOf(schema, table).map(
          request => [request, { ...request, path: request.path.replaceAll(`${schema}_`, `${other}_`) }] as const,
        ),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(schemas, tables, tables)
      .chain(([schema, table, other]) => fc.tuple(requestOf(schema, table), requestOf(schema, other))),
  },
)

describe.each([['sqlite', false], ['pg', true], ['mysql', true]] as const)('over %s', (dialect, concurrent) => {
  let server: TestServer
  const answered = new Map<number, number>()
  beforeAll(async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    server = await openLookAlikes(dialect, concurrent)
  })

  it('shares a statement key between requests only if their SQL is the same, for similar tables and similar filters', async () => {
    await fc.assert(fc.asyncProperty(pairs, rules, async (requests, rules) => {
      for (const [index, { method, path, body }] of requests.entries()) {
        const { status } = await server.request(method, `/api/${path}`, {
          caller: { user: { id: 1, rules: rules[index] } },
          ...(body !== undefined && { body }),
        })
        answered.set(status, (answered.get(status) ?? 0) + 1)
      }
      expect(collisions).toEqual([])
    }), { numRuns: cases })
    const share = ((answered.get(200) ?? 0) + (answered.get(201) ?? 0)) / [...answered.values()].reduce((sum, count) => sum + count, 0)
    expect(share).toBeGreaterThan(0.8)
  }, 60_000 + cases * 50)
})

describe.each(['sqlite', 'pg', 'mysql'] as const)('conditions over %s', (dialect) => {
  const engine = { dialect, adapter: ADAPTERS[dialect], render: (statement: Parameters<Engine['render']>[0]) => {
    const { sql: text, params } = DIALECTS[dialect].render.sqlToQuery(statement)
    return { text, values: params }
  } } as unknown as Engine
  const fields = (['shop', 'bank'] as const).flatMap((schema) => {
    const { items } = tablesOf(dialect, schema)
    const facts = describeTable(items!)
    const schemaOf = columnSchemas(items!, facts.columns)
    return facts.columns
      .filter(({ name }) => ['id', 'name', 'a,b'].includes(name))
      .map((column, index) => createField(column, index, () => schemaOf(column.name)))
  })
  const field = fc.constantFrom(...fields)
  const fieldList = fc.array(field, { minLength: 1, maxLength: 3 })
  // Text that tries to be taken for the keys of other conditions.
  const text = fc
    .constantFrom('1 = 1', '?', '\u0001?', '\u00031;', '', ')', '(1)', '"3:1=1', '\u00023:a', ' or ', '#1', ',')
    .map(text => sql.raw(text))
  const chunk = fc.oneof(
    text,
    field.map(({ column }) => sql`${column}`),
    fc.integer().map(value => sql`${value}`),
    fc.array(fc.oneof(fc.integer(), text), { maxLength: 3 }).map(values => sql`${values}`),
  )
  const raw = fc.array(chunk, { minLength: 1, maxLength: 3 }).map(chunks => () => fromSql(sql.join(chunks)))
  const around = template(hole => sql`coalesce(${hole}, ${hole}) is null`)
  /** A condition that can be built again with other values of the same kind. The number says which. */
  type Build = (round: number) => Where
  const { condition } = fc.letrec<{ condition: Build, conditions: Build[] }>(tie => ({
    conditions: fc.array(tie('condition'), { maxLength: 3 }),
    condition: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constant(() => NO_ROWS),
      raw,
      field.map(field => () => isNull(field)),
      field.map(field => () => isNotNull(field)),
      field.map(
        (field): Build =>
          round =>
            manyRows(equals(field, round), engine),
      ),
      fc.tuple(field, fc.nat({ max: 2 })).map(
        ([field, extra]): Build =>
          round =>
            equalsRaw(field, extra + round),
      ),
      fc.tuple(field, fc.nat({ max: 4 }), fc.boolean()).map(
        ([field, count, inside]): Build =>
          round =>
            inList(engine, field, Array(count).fill(round), inside),
      ),
      fc.tuple(fieldList, fc.nat({ max: 4 })).map(
        ([fields, count]): Build =>
          round =>
            inTuples(
              engine,
              fields,
              Array.from({ length: count }, () => fields.map(() => round)),
            ),
      ),
      field.map(
        (field): Build =>
          round =>
            like(engine, field, `%part ${round}%`, 'filter'),
      ),
      fc.array(fc.record({ field, descending: fc.boolean() }), { minLength: 1, maxLength: 3 }).chain(order =>
        fc.tuple(...order.map(() => fc.boolean())).map(
          (nulls): Build =>
            round =>
              after(
                engine,
                order,
                nulls.map(isNull => (isNull ? null : round)),
              ),
        ),
      ),
      tie('conditions').map(
        (list): Build =>
          round =>
            and(list.map(build => build(round))),
      ),
      fc.array(tie('conditions'), { maxLength: 3 }).map(
        (branches): Build =>
          round =>
            or(branches.map(list => list.map(build => build(round)))),
      ),
      tie('condition').map(
        (build): Build =>
          round =>
            not(build(round)),
      ),
      fc.tuple(field, tie('conditions')).map(
        ([{ column }, list]): Build =>
          round =>
            where`${column} = ${value(round)} and (${and(list.map(build => build(round)))})`,
      ),
      fc.tuple(field, fc.nat({ max: 3 })).map(
        ([{ column }, count]): Build =>
          round =>
            where`${column} in ${new ValueRows([Array(count + 1).fill(round)])}`,
      ),
      fc.tuple(field, fc.boolean()).map(
        ([{ column }, twice]): Build =>
          round =>
            twice ? around(value(round)) : where`${column} < ${around(column)}`,
      ),
    ),
  }))
  const render = (part: Where) => engine.render(part.getSQL())

  it('share a key exactly with the same condition of other values, and have the values of the text, in its order', () => {
    const cache = createCheckingCache()
    fc.assert(fc.property(condition, (build) => {
      const [one, other] = [build(1), build(2)].map(part => ({ ...parameterize(engine, part), ...{ text: render(part).text } })) as [
        Known,
        Known,
      ]
      expect(other.key).toBe(one.key)
      expect(other.text).toBe(one.text)
      expect(one.values).toEqual(render(build(1)).values)
      cache(one.key, () => ({ text: one.text }))
    }), { numRuns: cases * 25 })
    expect(cache.texts.size).toBeGreaterThan(cases)
  })

  interface Known { readonly key: string, readonly text: string, readonly values: readonly unknown[] }

  it('have no key in common with those that earlier versions mixed up', () => {
    const [id, name] = ['id', 'name'].map(name => fields.find(field => field.name === name)!) as [typeof fields[0], typeof fields[0]]
    const pairs: readonly (readonly [Where, Where])[] = [
      // Names in a key: two tables of one name in two schemas, and a name with a comma.
      [isNull(fields[0]!), isNull(fields.find(({ column, name }) => name === fields[0]!.name && column !== fields[0]!.column)!)],
      [where`${id.column}${name.column}`, where`${fields.find(({ name }) => name === 'a,b')!.column}`],
      // SQL of the app that looks like a mark of the key.
      [fromSql(sql`${id.column} = ${1}`), fromSql(sql`${id.column} = ?`)],
      [or([[equals(id, 1)], [equals(name, 1)]]), or([[equals(id, 1), equals(name, 1)]])],
    ]
    for (const [one, other] of pairs) expect(parameterize(engine, one).key).not.toBe(parameterize(engine, other).key)
  })

  it('are rendered once for each key, with the parameters in the order of the values', () => {
    const statements = createCheckingCache()
    const [field] = fields
    const find = (round: number) =>
      statement(
        { api: { statements }, engine, memo: new Map() },
        where`select 1 where ${equals(field!, round)} and ${where`${value('x')} = ${value(round)}`}`,
      )
    expect([find(1).text, find(1).compiled]).toEqual([find(2).text, find(2).compiled])
    expect(find(7).values.slice(-2)).toEqual(['x', 7])
  })
})

it('detects a key that two different texts share', () => {
  const cache = createCheckingCache()
  cache('key', () => ({ text: 'select 1' }))
  expect(() => cache('key', () => ({ text: 'select 2' }))).toThrow('Two statements have the key key')
  expect(collisions.splice(0)).toHaveLength(1)
})
