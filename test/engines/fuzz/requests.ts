/** Random requests: by the grammar of the API, with values that fit, almost fit, or fit nothing. */
import { getTableColumns, type Table } from 'drizzle-orm'
import type { World } from './tables'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

/** Numbers from a seed (mulberry32): the same requests again. */
export function createRandom(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6D2B79F5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (count: number) => Math.floor(next() * count)
  const chance = (part: number) => next() < part
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!
  const some = <T>(list: readonly T[], most: number): T[] => Array.from({ length: 1 + below(most) }, () => pick(list))
  return { next, below, chance, pick, some }
}

export type Random = ReturnType<typeof createRandom>

const TEXTS = [
  '', ' ', 'abc', '0', '1', '-1', '01', '1.5', '.5', '1.', '+1', '1e3', '1e300', '-1e300', '1e-320', '1e-20000', '1e20000', '9'.repeat(30),
  '9'.repeat(400), '9'.repeat(20_000), `0.${'0'.repeat(500)}1`, 'NaN', 'Infinity', '-Infinity', 'infinity', 'nan', 'null', 'true',
  'false', 't',
  '0000-01-01', '0000-00-00', '0001-01-01', '9999-12-31', '9999-12-31T23:59-14:00', '0001-01-01T00:00+14:00', '2024-02-29', '2024-02-30',
  '2023-02-29', '2024-13-01', '2024-01-01T00:00:00Z', '2024-01-01 24:00:00', '2024-01-01T12:30:60Z', '2024-01-01T00:00:00+15:59',
  '10000-01-01', '2024-01-01 BC', '20240101', '2024',
  'now', 'today', 'yesterday', 'epoch', 'allballs', '12:30', '12:30:15.123456', '24:00:00', '25:00', '12:60', '838:59:59', '-838:59:59',
  '12:30+02', '1 day', '1 day 2 hours', 'P1Y2M3DT4H', 'P', '@ 1 week ago', '1', 'day', '99999999999 years', '999999999999999999999 days',
  '1 1 1 1 1', ':',
  '10.0.0.1', '10.0.0.256', '10', '10/8', '10.0.0.1/8', '10.0.0.1/33', '::1', '::1/129', ':::', '::ffff:1.2.3.4', '08:00:2b:01:02:03',
  '08002b010203', '08:00', '0:0:0:0:0:0', 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa', 'AAAAAAAA-AAAA-4AAA-8AAA-AAAAAAAAAAAA', 'aaaaaaaa',
  '{aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa}',
  'ä', '😀', '\u0000', 'a\u0000b', '\uD800', 'a\uDC00', '\uFFFE', '\u202E', '%', '_', '\\', '\\\\', '%\\', 'a%b_c', '\'', '"', '`', '--',
  ';', '$1', '?', '?1', ':a', '{}', '[]', '{1,2}', '{"a"', '(1,2)', '{"a":1}', 'x'.repeat(50), 'x'.repeat(300), 'x'.repeat(5000),
  'ä'.repeat(3000), 'AQID', 'A', '***', '-', 'low', 'it\'s',
]
const NUMBERS = [0, -0, 1, -1, 2, 1.5, 1e-7, 5e-324, 1e-46, 3.5e38, 1e39, 1e300, -1e300, 1.7976931348623157e308, 127, 128, 255, 256, 32768,
  65536, 8388608, 2147483647, 2147483648, 4294967296, 9007199254740991, 9007199254740992, 2 ** 63, 2 ** 64, 1e19, 1e21]
const OTHERS = [true, false, null, [], {}, [1], ['a'], [null], [[1]], [['a\u0000']], ['\u0000'], ['\uD800'], { a: 1 }, { x: 1 }, { x: 1,
  y: 2 }, { x: 'a', y: null }, { name: 'x', role: 'admin' }, { '\u0000': 1 }, { '\uD800': 'a' }, { a: '\u0000' }, { a: { b: ['\uDFFF'] } },
{ toISOString: 1 }, { length: 2 }, { sql: 'x' }, [1, 2, 3], [0, 0, 0], [1e300, 2], { a: 0, b: 0, c: 0 }, { a: 1, b: 2, c: 3 },
{ type: 'Buffer', data: [1] }, { bigint: '1' }]

export interface Shape {
  readonly name: string
  readonly columns: readonly string[]
  /** JSON values that fit, where known. */
  readonly samples: Readonly<Record<string, readonly unknown[]>>
  /** Ids as they stand in a path. */
  readonly ids: readonly string[]
  readonly relations: readonly string[]
}

const columnsOf = (table: Table) => Object.keys(getTableColumns(table))

export function shapesOf(world: World): readonly Shape[] {
  const notes = { note: ['a', 'abcde'] }
  const things = { columns: columnsOf(world.things), samples: world.samples, ids: ['1', '2', '3', '4', '5', '6', '7', '8', '9', '999'],
    relations: ['parts', 'labels'] }
  return [
    { ...things, name: 'things' },
    { ...things, name: 'judged' },
    { name: 'parts', columns: columnsOf(world.parts), samples: { ...notes, thingId: [1, 2, 3, 4], at: ['2024-02-29T12:30:15'],
      id: ['11111111-1111-4111-8111-111111111111', 'bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb'] }, ids: ['11111111-1111-4111-8111-111111111111',
      'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa'], relations: ['thing'] },
    { name: 'labels', columns: columnsOf(world.labels), samples: { name: ['red', 'blue', 'new'], weight: [1, 2.5] }, ids: ['red', 'blue',
      'none'], relations: ['things'] },
    { name: 'pairs', columns: columnsOf(world.pairs), samples: { day: ['2024-02-29', '2024-03-01'], address: ['10.0.0.1', '::1'],
      note: ['a'] }, ids: ['2024-02-29,10.0.0.1', '2024-03-01,10.0.0.2'], relations: [] },
  ]
}

const OPERATORS = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$like', '$in', '$nin', '$null']
const FUNCTIONS = ['count', 'sum', 'avg', 'min', 'max']

/** @param forge a cursor of ours over values of a client's choice */
export function createRequests(random: Random, shapes: readonly Shape[], forge: (resource: string, sort: string,
  value: () => unknown) => string) {
  const { below, chance, pick, some } = random
  /** How much of a request fits: some are all nonsense, some almost right. */
  let shy = 0.5
  const column = (shape: Shape) => chance(0.02 * (1 - shy)) ? pick(['nope', '__proto__', 'toString', '']) : pick(shape.columns)
  const nasty = (): unknown => chance(0.7) ? pick(TEXTS) : chance(0.6) ? pick(NUMBERS) : pick(OTHERS)
  const value = (shape: Shape, name: string): unknown => {
    const samples = shape.samples[name]
    return samples && chance(shy) ? pick(samples) : nasty()
  }
  const id = (shape: Shape): unknown => chance(0.3 + shy / 2) ? pick(shape.ids) : chance(0.8) ? pick(TEXTS) : nasty()
  const spelled = (shape: Shape) => String(id(shape)).slice(0, 2000)
  const path = (text: string) => encodeURIComponent(text.toWellFormed()).replaceAll('%2C', ',')
  const asJson = (content: unknown) => JSON.stringify(content)
  const asText = (content: unknown) => typeof content === 'string' ? content : String(JSON.stringify(content))

  const operators = OPERATORS.filter(operator => operator !== '$like')

  function condition(shape: Shape, name: string): unknown {
    if (chance(0.3)) return value(shape, name)
    return Object.fromEntries(some(operators, chance(shy) ? 1 : 2).map(operator => [operator,
      operator === '$in' || operator === '$nin'
        ? some([0], 3).map(() => value(shape,
            name))
        : operator === '$null' ? chance(0.9) : value(shape, name)]))
  }
  const fields = (shape: Shape) => Object.fromEntries(some([0], 3).map(() => column(shape)).map(name => [name, condition(shape, name)]))
  const conditions = (shape: Shape, depth = 1): object =>
    chance(0.2) ? { ...(chance(0.5) && fields(shape)), ...related(shape, depth) } : fields(shape)

  function related(shape: Shape, depth: number): object {
    const relation = chance(0.9) ? pick([...shape.relations, 'parts', 'thing']) : pick([...TEXTS, 'labels', 'things'])
    const other = shapes.find(({ name }) => name === (relation === 'thing' ? 'things' : relation)) ?? shape
    if (chance(0.2)) return { [relation]: chance(0.5) ? { [pick(OPERATORS)]: chance(0.8) ? chance(0.5) : nasty() } : nasty() }
    return { [relation]: depth < 4 && chance(0.4) ? related(other, depth + 1) : conditions(other, depth + 1) }
  }
  const filter = (shape: Shape): object => chance(0.15)
    ? { ...conditions(shape), $or: some([0],
        3).map(() => conditions(shape)) }
    : chance(0.5) ? (name => ({ [name]: condition(shape, name) }))(column(shape)) : conditions(shape)

  function addFilter(query: URLSearchParams, shape: Shape): void {
    if (chance(0.6)) query.set('filter', asJson(filter(shape)))
    else {
      for (let count = 1 + below(2); count > 0; count--) {
        const relation = chance(0.2) && shape.relations.length > 0 ? pick(shape.relations) : undefined
        const other = shapes.find(({ name }) => name === (relation === 'thing' ? 'things' : relation)) ?? shape
        const name = relation ? `${relation}][${column(other)}` : column(shape)
        const operator = chance(0.5) ? '' : `[${pick(OPERATORS)}]`
        query.append(`filter[${name}]${operator}`, asText(value(shape, name)))
      }
    }
  }

  const sort = (shape: Shape) => some([0], 2).map(() => `${chance(0.5) ? '-' : ''}${column(shape)}`).join(',')

  function include(shape: Shape): string {
    const relation = chance(0.95) ? pick([...shape.relations, 'parts', 'labels', 'thing', 'things']) : pick(TEXTS)
    const other = shapes.find(({ name }) => name === (relation === 'thing' ? 'things' : relation)) ?? shape
    if (chance(0.3)) return relation
    if (chance(0.5)) return asJson({ [relation]: { ...chance(0.6) && { filter: filter(other) },
      ...chance(0.4) && { limit: chance(shy) ? 1 + below(5) : nasty() }, ...chance(0.4) && { sort: sort(other) },
      ...chance(0.3) && { fields: some(other.columns, 3) },
      ...chance(0.3) && { include: { [pick(other.relations.length ? other.relations : ['parts'])]: true } } } })
    return `${relation}{filter:${asJson(filter(other))}}`
  }

  const aggregate = (shape: Shape) => some([0], 3).map(() => chance(0.2) ? 'count' : `${pick(FUNCTIONS)}(${column(shape)})`)

  function addHaving(query: URLSearchParams, shape: Shape, functions: readonly string[]): void {
    const entries = some(functions, 2).map((text) => {
      const alias = text.replace('(', '_').replace(')', '')
      const name = alias.slice(alias.indexOf('_') + 1)
      return [alias, chance(0.2)
        ? value(shape, name)
        : { [pick(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte',
            '$in'])]: chance(0.5) ? pick([...NUMBERS, ...TEXTS]) : value(shape, name) }]
    })
    query.set('having', asJson(Object.fromEntries(entries)))
  }

  function list(shape: Shape): URLSearchParams {
    const query = new URLSearchParams()
    if (chance(0.6)) addFilter(query, shape)
    if (chance(0.25)) query.set('include', include(shape))
    if (chance(0.2)) query.set('fields', some(shape.columns, 4).join(','))
    if (chance(0.2)) query.set('limit', chance(shy) ? pick(['1', '2', '5', '100', '999999999999999']) : asText(pick(TEXTS)))
    if (chance(0.15)) query.set('aggregate', aggregate(shape).join(','))
    if (chance(0.1)) query.set(pick(['includeDeleted', 'onlyDeleted', 'count', 'force', 'cursorFields']), pick(['true', 'false', 'none',
      'id', 'title', '']))
    const order = sort(shape)
    if (chance(0.3)) {
      query.set('sort', order)
      query.set('cursor', chance(0.2)
        ? asText(pick(TEXTS))
        : forge(shape.name, order, () => chance(0.5)
            ? nasty()
            : value(shape,
                pick(shape.columns))))
    }
    else {
      if (chance(0.5)) query.set('sort', order)
      if (chance(0.2)) query.set('page', chance(shy) ? pick(['1', '2', '999999999999999']) : asText(pick(TEXTS)))
    }
    return query
  }

  function groups(shape: Shape): URLSearchParams {
    const query = new URLSearchParams()
    const functions = aggregate(shape)
    query.set('aggregate', functions.join(','))
    const by = chance(0.6) ? some(shape.columns, 2) : []
    if (by.length > 0) query.set('groupBy', by.join(','))
    if (chance(0.5)) addHaving(query, shape, functions)
    if (chance(0.4)) addFilter(query, shape)
    if (chance(0.3)) query.set('sort',
      `${chance(0.5) ? '-' : ''}${pick([...by, ...functions.map(text => text.replace('(', '_').replace(')', ''))])}`)
    if (chance(0.1)) query.set('page', pick(['2', '999999999999999', '0']))
    return query
  }

  const required = (shape: Shape): Record<string, unknown> => shape.name === 'things' || shape.name === 'judged'
    ? { title: 'fresh' }
    : Object.fromEntries(Object.entries(shape.samples).filter(([name]) => ['id', 'name', 'day', 'address'].includes(name)).map(([name,
        samples]) => [name, pick(samples)]))

  function data(shape: Shape, kind: 'create' | 'update'): unknown {
    if (chance(0.02 * (1 - shy))) return nasty()
    const sent = Object.fromEntries(some([0], chance(0.5) ? 1 : 5).map(() => column(shape)).map(name => [name, value(shape, name)]))
    return kind === 'create' && chance(0.9) ? { ...required(shape), ...sent } : sent
  }

  const many = <T>(make: () => T): unknown => chance(0.03 * (1 - shy)) ? nasty() : some([0], 4).map(make)
  const links = (shape: Shape) => ({ ids: many(() => id(shapes.find(({ name }) => name === 'labels') ?? shape)),
    ...chance(0.5) && { metadata: chance(0.9) ? { [pick(['rank', 'note', 'nope', 'thingId'])]: value(shape, 'integer') } : nasty() } })

  const shapeOf = (name: string) => shapes.find(shape => shape.name === name)!

  /** The fields of a unique constraint, or of none. */
  const conflict = (shape: Shape) => path(chance(0.2 + shy * 0.75)
    ? ({ labels: 'name', pairs: 'day,address', parts: 'id' })[shape.name] ?? 'id'
    : chance(0.5) ? column(shape) : asText(pick(TEXTS)).slice(0, 1000))

  const PART = '11111111-1111-4111-8111-111111111111'
  const freshId = () => `aaaaaaaa-aaaa-4aaa-8aaa-${String(below(1e9)).padStart(12, '0')}`
  /** Bodies and steps that are refused seldom, so that several of them can be written together. */
  const fits = () => chance(shy * 0.9)
  const freshPart = () => ({ id: freshId(), note: pick(['a', 'abcde']) })

  /** A body with children. They can have children too, which the resource does not take. */
  function withParts(body: unknown, depth = 0): unknown {
    const parts = shapeOf('parts')
    const child = (kind: 'create' | 'update') => {
      if (fits()) return kind === 'create' ? freshPart() : { note: 'b' }
      const sent = data(parts, kind)
      return depth < 4 && chance(0.03) ? withParts(sent, depth + 1) : sent
    }
    const lists = {
      ...chance(0.7) && { create: many(() => child('create')) },
      ...chance(0.3) && { update: fits()
        ? [{ id: PART, data: child('update') }]
        : many(() => chance(0.05 * (1 - shy)) ? nasty() : { id: id(parts), data: child('update') }) },
      ...chance(0.2) && { delete: fits() ? [PART] : many(() => id(parts)) },
    }
    const isBody = typeof body === 'object' && body !== null && !Array.isArray(body)
    return isBody ? { ...body, parts: chance(0.05 * (1 - shy)) ? nasty() : lists } : body
  }

  const parent = (kind: 'create' | 'update') => withParts(fits() ? { title: 'fresh' } : data(shapeOf('things'), kind))

  const STEPS = ['create', 'create', 'update', 'update', 'delete', 'restore'] as const

  /** Steps with references to earlier ones, and to some that there are not. */
  function steps(): unknown {
    const names: [name: string, shape: Shape][] = []
    const reference = (shape: Shape): unknown => {
      const [name, referred] = names.length > 0 && chance(0.3 + shy * 0.7) ? pick(names) : ['nope', shape]
      const field = chance(0.5) ? pick(['id', 'name', 'day']) : column(referred)
      return { $ref: chance(0.02 * (1 - shy)) ? nasty() : `${name}.${field}` }
    }
    const withReferences = (shape: Shape, body: unknown): unknown => {
      if (typeof body !== 'object' || body === null || Array.isArray(body) || chance(0.6)) return body
      return { ...body, [chance(0.4) ? pick(['thingId', 'title', 'note']) : column(shape)]: reference(shape) }
    }
    const fitting = () => {
      const as = `step${names.length}`
      const thing = names.find(([, { name }]) => name === 'things')
      const thingId = thing ? { $ref: `${thing[0]}.id` } : pick([1, 2, 3, 4])
      const step = pick([
        { resource: 'things', operation: 'create', data: { title: 'fresh' }, as },
        { resource: 'things', operation: 'update', id: thingId, data: { title: 'changed' } },
        { resource: 'things', operation: 'update', id: pick([1, 2, 3, 4]), data: withParts({}), as },
        { resource: 'parts', operation: 'create', data: { ...freshPart(), thingId } },
        { resource: 'parts', operation: 'delete', id: PART },
        { resource: 'judged', operation: 'update', id: pick([1, 2, 4]), data: { title: 'judged' } },
        { resource: 'labels', operation: 'update', id: 'red', data: { weight: 3 } },
      ])
      if ('as' in step) names.push([as, shapeOf('things')])
      return step
    }
    return many(() => {
      if (fits()) return fitting()
      if (chance(0.02 * (1 - shy))) return nasty()
      const shape = pick(shapes)
      const operation = pick(STEPS)
      const body = operation === 'create' || operation === 'update' ? withReferences(shape, data(shape, operation)) : undefined
      const step = {
        resource: chance(0.02 * (1 - shy)) ? nasty() : shape.name,
        operation: chance(0.02 * (1 - shy)) ? nasty() : operation,
        ...operation !== 'create' && { id: chance(0.2) ? reference(shape) : id(shape) },
        ...body !== undefined && { data: hasParts(shape) && chance(0.2) ? withParts(body) : body },
        ...operation !== 'delete' && chance(0.5) && { as: `step${names.length}` },
        ...operation !== 'create' && chance(0.05) && { ifMatch: chance(0.5) ? '*' : nasty() },
      }
      if ('as' in step) names.push([String(step.as), shape])
      return step
    })
  }
  const hasParts = ({ name }: Shape) => name === 'things' || name === 'judged'

  type Make = (shape: Shape) => Asked
  const ROUTES: readonly (readonly [weight: number, make: Make])[] = [
    [30, shape => ({ method: 'GET', path: `${shape.name}?${list(shape)}` })],
    [15, shape => ({ method: 'GET', path: `${shape.name}${chance(0.5) ? '/aggregate' : ''}?${groups(shape)}` })],
    [
      8,
      shape => ({
        method: 'GET',
        path: `${shape.name}/${path(spelled(shape))}?${new URLSearchParams(chance(0.4) ? { include: include(shape) } : {})}`,
      }),
    ],
    [12, shape => ({ method: 'POST', path: shape.name, body: data(shape, 'create') })],
    [12, shape => ({ method: 'PATCH', path: `${shape.name}/${path(spelled(shape))}`, body: data(shape, 'update') })],
    [
      4,
      shape => ({
        method: 'DELETE',
        path: `${shape.name}/${path(spelled(shape))}?${new URLSearchParams({ ...(chance(0.3) && { force: 'true' }), ...(chance(0.4) && { reason: asText(pick(TEXTS)) }) })}`,
      }),
    ],
    [3, shape => ({ method: 'POST', path: `${shape.name}/${path(spelled(shape))}/restore` })],
    [5, shape => ({ method: 'POST', path: `${shape.name}/bulk`, body: { items: many(() => data(shape, 'create')) } })],
    [
      5,
      shape => ({
        method: 'PATCH',
        path: `${shape.name}/bulk`,
        body: { items: many(() => ({ id: id(shape), data: data(shape, 'update') })) },
      }),
    ],
    [
      4,
      shape => ({
        method: 'DELETE',
        path: `${shape.name}/bulk${chance(0.3) ? '?force=true' : ''}`,
        body: chance(0.8) ? { ids: many(() => id(shape)) } : { deletionId: nasty() },
      }),
    ],
    [
      4,
      shape => ({
        method: 'POST',
        path: `${shape.name}/bulk/restore`,
        body: chance(0.5) ? { ids: many(() => id(shape)) } : { deletionId: nasty() },
      }),
    ],
    [
      5,
      shape => ({
        method: 'GET',
        path: `${shape.name}/${path(spelled(shape))}/relations/${pick([...shape.relations, 'labels'])}?${list(shapes.find(({ name }) => name === 'labels') ?? shape)}${chance(0.3) ? '&includeMetadata=true' : ''}`,
      }),
    ],
    [
      6,
      shape => ({
        method: pick(['PUT', 'POST', 'DELETE']),
        path: `${shape.name}/${path(spelled(shape))}/relations/${pick(['labels', 'things', 'parts'])}`,
        body: links(shape),
      }),
    ],
    [
      2,
      shape => ({ method: 'PUT', path: `${shape.name}/${path(spelled(shape))}/relations`, body: { relations: { labels: links(shape) } } }),
    ],
    [
      2,
      shape => ({
        method: 'GET',
        path: `${shape.name}/permissions?ids=${encodeURIComponent(asText(many(() => spelled(shape))).toWellFormed())}`,
      }),
    ],
    [1, shape => ({ method: 'GET', path: `${shape.name}/permissions?ids=${path(spelled(shape))}` })],
    [7, shape => ({ method: 'POST', path: `${shape.name}?onConflict=${conflict(shape)}`, body: data(shape, 'create') })],
    [
      4,
      shape => ({
        method: 'POST',
        path: `${shape.name}/bulk?onConflict=${conflict(shape)}`,
        body: { items: many(() => hasParts(shape) && chance(0.1) ? withParts(data(shape, 'create')) : data(shape, 'create')) },
      }),
    ],
    [5, () => ({ method: 'POST', path: pick(['things', 'judged']), body: parent('create') })],
    [
      5,
      () => ({ method: 'PATCH', path: `${pick(['things', 'judged'])}/${path(spelled(shapeOf('things')))}`, body: parent('update') }),
    ],
    [
      3,
      () => chance(0.5)
        ? { method: 'POST', path: 'things/bulk', body: { items: many(() => parent('create')) } }
        : { method: 'PATCH', path: 'things/bulk', body: { items: many(() => ({ id: id(shapeOf('things')), data: parent('update') })) } },
    ],
    [10, () => ({ method: 'POST', path: 'batch', body: { steps: steps() } })],
    [1, () => ({ method: 'GET', path: `_m2m/detect/${path(asText(pick(TEXTS)).slice(0, 100))}` })],
  ]
  const wheel = ROUTES.flatMap(([weight, make]) => Array.from({ length: weight }, () => make))
  return (): Asked => {
    shy = pick([0.2, 0.6, 0.9, 0.97])
    return pick(wheel)(pick(shapes))
  }
}
