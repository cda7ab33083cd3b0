/** Random queries that know the tables: names a caller can use, operators that fit, values that mostly occur in the rows. */
import fc from 'fast-check'
import { MODEL, readable, type Kind, type ResourceModel, type Viewer } from '../../support/oracle/model'
import {
  aliasOf,
  conditionsIn,
  nameOf,
  type Aggregate,
  type AnyCondition,
  type Combination,
  type Comparison,
  type Condition,
  type Filter,
  type GroupQuery,
  type Include,
  type ListQuery,
  type OperatorName,
  type Sort,
} from '../../support/oracle/query'
import type { Data } from '../../support/oracle/rows'

export const VIEWERS: readonly Viewer[] = [
  { tenant: 1, permissions: [] },
  { tenant: 1, permissions: ['hr', 'drafts', 'trash'] },
  { tenant: 2, permissions: ['drafts', 'trash'] },
]

export type Form = 'json' | 'brackets'

/** How a query is written down, which must not matter. */
export interface Spelling {
  readonly filter: Form
  readonly include: 'json' | 'text'
  /** `field: value` for `$eq`, a list for `$in`, null for `$null`. */
  readonly short: boolean
  readonly repeat: boolean
}

const ANY: readonly OperatorName[] = ['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$null', '$between']
const EQUALITY: readonly OperatorName[] = ['$eq', '$ne', '$in', '$nin', '$null']
const OPERATORS: Readonly<Record<Kind, readonly OperatorName[]>> = {
  text: [...ANY, '$like', '$like', '$notLike', '$startsWith', '$endsWith', '$contains', '$eqi'],
  integer: ANY,
  real: ANY,
  boolean: EQUALITY,
  date: ANY,
  bigint: ANY,
  decimal: ANY,
  json: ['$null'],
  blob: ['$null'],
}

const TEXT: ReadonlySet<OperatorName> = new Set(['$startsWith', '$endsWith', '$contains', '$eqi'])

const NUMERIC = new Set<Kind>(['integer', 'real', 'bigint', 'decimal'])
const UNORDERED = new Set<Kind>(['json', 'blob'])

export const spellings = fc.record<Spelling>({
  filter: fc.constantFrom('json', 'brackets'),
  include: fc.constantFrom('json', 'text'),
  short: fc.boolean(),
  repeat: fc.boolean(),
})
export const viewers = fc.constantFrom(...VIEWERS)
export const resources = fc.constantFrom(
  'articles',
  'articles',
  'articles',
  'authors',
  'authors',
  'entries',
  'entries',
  'tags',
  'tags',
  'sections',
  'credits',
)

const fieldsOf = (resource: string, viewer: Viewer) => Object.entries(readable(MODEL[resource]!, viewer))
const orderedOf = (resource: string, viewer: Viewer) =>
  fieldsOf(resource, viewer)
    .filter(([, kind]) => !UNORDERED.has(kind))
    .map(([name]) => name)

/** Any value of the column's type, for every tenth condition. */
const INVENTED: Readonly<Record<Kind, fc.Arbitrary<unknown>>> = {
  text: fc.string({ unit: 'grapheme', maxLength: 5 }).filter(text => text.isWellFormed() && !text.includes('\0')),
  integer: fc.integer({ min: -200, max: 200 }),
  real: fc.integer({ min: -800, max: 800 }).map(value => value / 8),
  boolean: fc.boolean(),
  date: fc.integer({ min: -1e12, max: 2e12 }).map(time => new Date(time)),
  bigint: fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }),
  decimal: fc.integer({ min: -9999, max: 9999 }).map(value => String(value / 100)),
  json: fc.constant(null),
  blob: fc.constant(null),
}

export interface Subject {
  readonly data: Data
  readonly viewer: Viewer
}

function valueOf({ data }: Subject, resource: string, field: string): fc.Arbitrary<unknown> {
  const kind = MODEL[resource]!.fields[field]!
  const known = data[resource]!.map(row => row[field]).filter(value => value !== null)
  // A column that lists its values takes no other.
  if (field === 'status') return fc.constantFrom(...new Set(known))
  return known.length === 0
    ? INVENTED[kind]
    : fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: INVENTED[kind] })
}

/** Parts of texts that occur, in another case, with wildcards and escapes. */
function patternOf(subject: Subject, resource: string, field: string): fc.Arbitrary<string> {
  const part = fc
    .tuple(valueOf(subject, resource, field) as fc.Arbitrary<string>, fc.nat(6), fc.nat(6), fc.constantFrom('', 'upper', 'escape'))
    .map(([text, from, length, change]) => {
      const piece = [...text].slice(from % 3, (from % 3) + length).join('')
      return change === 'upper' ? piece.toUpperCase() : change === 'escape' ? piece.replace(/[%_\\]/g, '\\$&') : piece
    })
  return fc.tuple(fc.constantFrom('', '', '%', '_'), part, fc.constantFrom('', '', '%', '_', '%_')).map(parts => parts.join(''))
}

/** A part of a text that occurs, in its case or another. Wildcards have no meaning in it. */
const partOf = (subject: Subject, resource: string, field: string): fc.Arbitrary<string> =>
  fc.tuple(valueOf(subject, resource, field) as fc.Arbitrary<string>, fc.constantFrom('whole', 'start', 'end'), fc.nat(6), fc.boolean())
    .map(([text, part, length, upper]) => {
      const all = [...text]
      const piece = (part === 'whole' ? all : part === 'start' ? all.slice(0, length) : all.slice(-length)).join('')
      return upper ? piece.toUpperCase() : piece
    })

function conditions(subject: Subject, resource: string, form: Form, most: number): fc.Arbitrary<Condition[]> {
  const fields = fieldsOf(resource, subject.viewer)
  const one = fc.constantFrom(...fields).chain(([field, kind]) => {
    const operators = OPERATORS[kind]
    const asked = fc
      .uniqueArray(fc.constantFrom(...operators), { minLength: 1, maxLength: 2 })
      .chain(names => fc.tuple(...names.map(name => operand(subject, resource, field, name, form).map(value => [name, value] as const))))
    return asked.map((operators): Condition => ({ field, operators }))
  })
  return fc.uniqueArray(one, { selector: ({ field }) => field, maxLength: most })
}

function operand(subject: Subject, resource: string, field: string, name: OperatorName, form: Form): fc.Arbitrary<unknown> {
  const value = valueOf(subject, resource, field)
  if (name === '$null') return fc.boolean()
  if (name === '$like' || name === '$notLike') return patternOf(subject, resource, field)
  if (TEXT.has(name)) return partOf(subject, resource, field)
  if (name === '$in' || name === '$nin' || name === '$between') {
    // A comma ends a value of a list in brackets.
    const listed = form === 'json' ? value : value.filter(value => !String(value).includes(','))
    if (name === '$between') return fc.tuple(listed, listed)
    return fc.array(listed, { minLength: form === 'json' ? 0 : 1, maxLength: 4 })
  }
  const maybeNull = form === 'json' && (name === '$eq' || name === '$ne')
  return maybeNull ? fc.oneof({ weight: 6, arbitrary: value }, { weight: 1, arbitrary: fc.constant(null) }) : value
}

/** Conditions on fields and, up to `depth` relations deep, on related rows. */
function anyConditions(subject: Subject, resource: string, form: Form, most: number, depth: number): fc.Arbitrary<AnyCondition[]> {
  const relations = Object.entries(MODEL[resource]!.relations).filter(([, { target }]) => !MODEL[target]!.judged)
  const own = conditions(subject, resource, form, most)
  if (depth === 0 || relations.length === 0) return own
  const related = fc.constantFrom(...relations).chain(([relation, { target }]) => fc.oneof(
    { weight: 4, arbitrary: anyConditions(subject, target, form, 1, depth - 1).filter(some => some.length > 0) },
    { weight: 1, arbitrary: fc.constantFrom('any' as const, 'none' as const) },
  ).map((some): AnyCondition => ({ relation, some })))
  const countable = relations.filter(([, { kind }]) => kind !== 'one')
  const anyRelated = countable.length === 0
    ? related
    : fc.oneof({ weight: 3, arbitrary: related }, { weight: 1, arbitrary: countConditions(countable.map(([name]) => name)) })
  const both = fc
    .tuple(own, fc.uniqueArray(anyRelated, { selector: nameOf, minLength: 1, maxLength: 2 }))
    .map(([fields, relations]) => [...fields.slice(1), ...relations])
  return fc.oneof({ weight: 3, arbitrary: own }, { weight: 2, arbitrary: both })
}

/** Numbers of related rows that often occur. */
const countConditions = (relations: readonly string[]): fc.Arbitrary<AnyCondition> => fc.record({
  relation: fc.constantFrom(...relations),
  count: fc.uniqueArray(
    fc.tuple(fc.constantFrom<Comparison>('$eq', '$ne', '$gt', '$gte', '$lt', '$lte'), fc.constantFrom(0, 0, 1, 1, 2, 3, 5, 12)),
    { selector: ([name]) => name, minLength: 1, maxLength: 2 },
  ),
})

/** Conditions in `$and`, `$or` and `$not`, up to three deep, some of them behind the name of a field. */
function combinations(subject: Subject, resource: string, form: Form, depth: number, nested = 2): fc.Arbitrary<Combination> {
  const plain = anyConditions(subject, resource, form, 2, depth)
  const branch = (nested === 0
    ? plain
    : fc.oneof(
        { weight: 2, arbitrary: plain },
        { weight: 1, arbitrary: combinations(subject, resource, form, depth, nested - 1).map(one => [one]) },
        {
          weight: 1,
          arbitrary: fc.tuple(anyConditions(subject, resource, form, 1, depth), combinations(subject, resource, form, depth, nested - 1))
            .map(([conditions, one]) => [...conditions.filter(condition => nameOf(condition) !== nameOf(one)), one]),
        },
      )).filter(branch => branch.length > 0)
  const ofField = conditions(subject, resource, form, 1).filter(own => own.length > 0)
    .chain(([first]) => fc.constantFrom<Combination['combine']>('$and', '$or', '$not').map((combine): Combination => ({
      combine,
      of: first!.field,
      branches: combine === '$not' ? [[first!]] : first!.operators.map(operator => [{ ...first!, operators: [operator] }]),
    })))
  return fc.oneof(
    { weight: 2, arbitrary: branch.map((branch): Combination => ({ combine: '$not', branches: [branch] })) },
    {
      weight: 3,
      arbitrary: fc.record<Combination>({
        combine: fc.constantFrom('$and', '$or'), branches: fc.array(branch, { minLength: 1, maxLength: 3 }),
      }),
    },
    { weight: 2, arbitrary: ofField },
  )
}

const NO_FILTER: Filter = { and: [], or: [] }

/** @param depth of relations in conditions */
export function filters(subject: Subject, resource: string, form: Form, depth: number): fc.Arbitrary<Filter> {
  const all = (most: number) => anyConditions(subject, resource, form, most, depth)
  const branch = all(2).filter(branch => branch.length > 0)
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant(NO_FILTER) },
    { weight: 4, arbitrary: all(1).map(and => ({ and, or: [] })) },
    { weight: 1, arbitrary: all(2).map(and => ({ and, or: [] })) },
    { weight: 2, arbitrary: fc.record({ and: all(1), or: fc.array(branch, { minLength: 1, maxLength: 3 }) }) },
    {
      weight: 3,
      arbitrary: fc.tuple(all(1), combinations(subject, resource, form, depth))
        .map(([and, one]) => ({ and: [...and.filter(condition => nameOf(condition) !== nameOf(one)), one], or: [] })),
    },
  )
}

function sorts(names: readonly string[], most: number): fc.Arbitrary<Sort[]> {
  if (names.length === 0) return fc.constant([])
  return fc.uniqueArray(fc.record({ field: fc.constantFrom(...names), descending: fc.boolean() }), {
    selector: ({ field }) => field,
    maxLength: most,
  })
}

/** Paths to values of related rows, up to `depth` to-one relations deep. */
function pathsOf(resource: string, viewer: Viewer, depth = 2): string[] {
  return Object.entries(MODEL[resource]!.relations).flatMap(([name, { kind, target }]) => {
    if (MODEL[target]!.judged) return []
    if (kind !== 'one') return [`${name}.$count`]
    const deeper = depth > 1 ? pathsOf(target, viewer, depth - 1) : []
    return [...orderedOf(target, viewer), ...deeper].map(rest => `${name}.${rest}`)
  })
}

/** Every third order names related rows. */
function anySorts({ viewer }: Subject, resource: string, most: number): fc.Arbitrary<Sort[]> {
  const own = orderedOf(resource, viewer)
  const paths = pathsOf(resource, viewer)
  if (paths.length === 0) return sorts(own, most)
  const one = (field: string) => fc.boolean().map((descending): Sort => ({ field, descending }))
  const related = fc.tuple(fc.constantFrom(...paths).chain(one), sorts([...own, ...paths.slice(0, own.length)], most - 1))
    .map(([first, rest]) => [first, ...rest.filter(({ field }) => field !== first.field)])
  return fc.oneof({ weight: 2, arbitrary: sorts(own, most) }, { weight: 1, arbitrary: related })
}

const some = (names: readonly string[]) =>
  fc.option(fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 4 }), { nil: undefined, freq: 2 })

/** The relations that a query can count: those to several rows that no code checks. */
function counts(resource: string): fc.Arbitrary<readonly string[]> {
  const countable = Object.entries(MODEL[resource]!.relations).filter(([, { kind, target }]) => kind !== 'one' && !MODEL[target]!.judged)
  if (countable.length === 0) return fc.constant([])
  const some = fc.uniqueArray(fc.constantFrom(...countable.map(([name]) => name)), { minLength: 1, maxLength: 3 })
  return fc.oneof<fc.MaybeWeightedArbitrary<readonly string[]>[]>({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: some })
}

export function includes(subject: Subject, resource: string, depth: number): fc.Arbitrary<Include[]> {
  const { relations } = MODEL[resource] as ResourceModel
  if (depth === 0) return fc.constant([])
  const one = fc.constantFrom(...Object.entries(relations)).chain(([relation, { kind, target }]) => {
    const list = kind !== 'one'
    return fc.record<Include>({
      relation: fc.constant(relation),
      fields: some(Object.keys(readable(MODEL[target]!, subject.viewer))),
      limit: list
        ? fc.option(
            fc.integer({ min: 1, max: 30 }).map(limit => (limit > 15 ? limit : Math.ceil(limit / 4))),
            { nil: undefined },
          )
        : fc.constant(undefined),
      sort: list ? anySorts(subject, target, 2) : fc.constant([]),
      filter: list ? fc.option(filters(subject, target, 'json', 1), { nil: undefined }) : fc.constant(undefined),
      counts: counts(target),
      include: includes(subject, target, depth - 1),
    })
  })
  return fc.uniqueArray(one, { selector: ({ relation }) => relation, maxLength: 2 })
}

export function listQueries(subject: Subject, resource: string, form: Form, depth = 2): fc.Arbitrary<ListQuery> {
  const ordered = orderedOf(resource, subject.viewer)
  const trash = subject.viewer.permissions.includes('trash')
    ? fc.constantFrom('active', 'active', 'active', 'both', 'trashed')
    : fc.constant('active')
  return fc.record<ListQuery>({
    filter: filters(subject, resource, form, depth),
    sort: anySorts(subject, resource, 3),
    cursorFields: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: sorts(ordered, 2) }),
    fields: some(Object.keys(readable(MODEL[resource]!, subject.viewer))),
    include: includes(subject, resource, depth),
    counts: counts(resource),
    limit: fc.integer({ min: 3, max: 25 }),
    trash: trash as fc.Arbitrary<ListQuery['trash']>,
  }).filter(query => fits(query) && shownIn(query) <= MOST_RELATIONS)
}

/** The relations that the filters and orders of one query can name, and those that its includes and counts can name. */
const MOST_RELATIONS = 20

const shownIn = ({ counts, include }: Pick<ListQuery, 'counts' | 'include'>): number =>
  counts.length + include.reduce((sum, node) => sum + 1 + shownIn(node), 0)

interface Naming { readonly filter?: Filter, readonly sort?: readonly Sort[], readonly include: readonly Include[] }

const relationsIn = ({ filter, sort = [], include }: Naming): number =>
  namedIn([...filter?.and ?? [], ...filter?.or.flat() ?? []])
  + sort.reduce((sum, { field }) => sum + field.split('.').length - 1, 0) + include.reduce((sum, node) => sum + relationsIn(node), 0)

const namedIn = (conditions: readonly AnyCondition[]): number => conditions.reduce((sum, condition) => sum + (
  'field' in condition
    ? 0
    : 'combine' in condition
      ? namedIn(condition.branches.flat())
      : 1 + ('count' in condition || typeof condition.some === 'string' ? 0 : namedIn(condition.some))
), 0)

/** The text searches that one query can have. */
const MOST_SEARCHES = 8

const searchesIn = ({ filter, include }: Naming): number =>
  conditionsIn([...filter?.and ?? [], ...filter?.or.flat() ?? []]).flatMap(({ operators }) => operators)
    .filter(([name]) => name === '$like' || name === '$notLike' || TEXT.has(name)).length
    + include.reduce((sum, node) => sum + searchesIn(node), 0)

const fits = (query: Naming) =>
  relationsIn(query) <= MOST_RELATIONS && searchesIn(query) <= MOST_SEARCHES

export function aggregates(resource: string, viewer: Viewer): fc.Arbitrary<Aggregate[]> {
  const one = fc.constantFrom(...fieldsOf(resource, viewer)).chain(([field, kind]) => {
    const fitting: Aggregate['function'][] = [
      'count',
      ...(NUMERIC.has(kind) ? (['sum', 'avg'] as const) : []),
      ...(UNORDERED.has(kind) || kind === 'boolean' ? [] : (['min', 'max'] as const)),
    ]
    return fc.constantFrom(...fitting).map((name): Aggregate => ({ function: name, field }))
  })
  return fc.uniqueArray(fc.oneof({ weight: 4, arbitrary: one }, { weight: 1, arbitrary: fc.constant<Aggregate>({ function: 'count' }) }), {
    selector: aliasOf,
    minLength: 1,
    maxLength: 4,
  })
}

/** SQLite adds decimals and divides as doubles: an order by such a result is exact to 15 digits, not to the last. */
function comparable(resource: string, { function: name, field }: Aggregate): boolean {
  const kind = field === undefined ? 'integer' : MODEL[resource]!.fields[field]!
  return name === 'sum' ? kind !== 'decimal' : name !== 'avg' || kind === 'integer' || kind === 'real'
}

export function groupQueries(subject: Subject, resource: string, form: Form): fc.Arbitrary<GroupQuery> {
  const groupable = orderedOf(resource, subject.viewer)
  return fc
    .tuple(aggregates(resource, subject.viewer), fc.uniqueArray(fc.constantFrom(...groupable), { maxLength: 3 }))
    .chain(([aggregates, groupBy]) => {
      const exact = aggregates.filter(aggregate => comparable(resource, aggregate))
      return fc.record<GroupQuery>({
        aggregates: fc.constant(aggregates),
        groupBy: fc.constant(groupBy),
        having:
          exact.length === 0
            ? fc.constant([])
            : fc.oneof(
                { weight: 2, arbitrary: fc.constant([]) },
                { weight: 2, arbitrary: having(subject, resource, exact).map(one => [one]) },
              ),
        filter: filters(subject, resource, form, 2).filter(filter => fits({ filter, include: [] })),
        sort: sorts([...groupBy, ...exact.map(aliasOf)], 2),
        page: fc.constantFrom(1, 1, 1, 2),
        limit: fc.integer({ min: 2, max: 25 }),
      })
    })
}

function having(subject: Subject, resource: string, aggregates: readonly Aggregate[]): fc.Arbitrary<GroupQuery['having'][number]> {
  return fc.constantFrom(...aggregates).chain((aggregate) => {
    const { function: name, field } = aggregate
    const value
      = name === 'count'
        ? fc.integer({ min: 0, max: 12 })
        : name === 'sum' || name === 'avg'
          ? fc.constantFrom(0, 1, 2, 12.5, 100, -3.25, 1000)
          : valueOf(subject, resource, field!)
    return fc.record({
      alias: fc.constant(aliasOf(aggregate)),
      operator: fc.constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte'),
      value,
    })
  })
}
