/** SQL told apart from its values: a query's text is built once per shape and found by it ever after. */
import { is, sql, SQL } from 'drizzle-orm'
import { postgresType } from '../engines/dialects'
import type { Engine, Statement } from '../engines/engine'
import { outline } from '../engines/parameters'
import { createCache } from '../engines/session'
import type { Field } from '../schema/field'

/** A condition: two of one shape have the same text, whatever their values. */
export interface Clause {
  readonly shape: string
  /** Driver values, in the order in which `build` places them. */
  readonly values: readonly unknown[]
  readonly build: () => SQL
}

/** A column by the name it has in its table. */
export type NamedColumn = Pick<Field, 'name' | 'column' | 'compare'>

/** Compiled once per shape: the text and whatever its answer is decoded with. */
export interface Compiled<Extra> {
  readonly text: string
  readonly extra: Extra
}

export type StatementCache = (key: string, create: () => Compiled<unknown>) => Compiled<unknown>

/** Shapes beyond this many are built again: a client that invents queries cannot fill the memory. */
const SHAPES_AT_MOST = 2000

export function createStatementCache(): StatementCache {
  return createCache<Compiled<unknown>>(SHAPES_AT_MOST)
}

/** The statement for a shape; `build` runs only when the shape is new. Its parameters must be `values`, in their order. */
export function statement<Extra>(cache: StatementCache, engine: Engine, shape: string, values: readonly unknown[], build: () => { sql: SQL, extra: Extra }): Statement & { extra: Extra } {
  const compiled = cache(`${engine.name}|${shape}`, () => {
    const { sql, extra } = build()
    const rendered = engine.render(sql)
    if (rendered.values.length !== values.length) throw new Error(`[auto-api] The shape ${shape} has ${rendered.values.length} places for ${values.length} values.`)
    return { text: rendered.text, extra }
  }) as Compiled<Extra>
  return { text: compiled.text, values, extra: compiled.extra }
}

export function equals(field: Field, value: unknown): Clause {
  const encoded = field.encode(value)
  return { shape: `${field.name}=`, values: [encoded], build: () => sql`${field.column} = ${bound(field, encoded)}` }
}

/** A driver value where it is compared with its column. */
export const bound = (field: NamedColumn, value: unknown): SQL => compared(field, sql`${sql.param(value)}`)

/** What is compared with a column, told its type where the engine would otherwise compare something else. */
export function compared({ compare }: NamedColumn, value: SQL): SQL {
  return compare ? compare(value) : value
}

export function isNull(field: Field): Clause {
  return { shape: `${field.name}:null`, values: [], build: () => sql`${field.column} is null` }
}

export function isNotNull(field: Field): Clause {
  return { shape: `${field.name}:set`, values: [], build: () => sql`${field.column} is not null` }
}

/** Nothing fits: the answer to a caller whose tenant cannot be told, should one come this far. */
export const NOTHING: Clause = { shape: 'nothing', values: [], build: () => sql`1 = 0` }

/** SQL an app wrote: its text joins the shape, its parameters join the values. */
export function fromSql(engine: Engine, condition: SQL): Clause {
  const { shape, values } = outline(condition) ?? rendered(engine, condition)
  return { shape: `sql:${shape}`, values, build: () => sql`(${condition})` }
}

function rendered(engine: Engine, condition: SQL): { shape: string, values: readonly unknown[] } {
  const { text, values } = engine.render(condition)
  return { shape: text, values }
}

export const shapeOf = (clauses: readonly Clause[]) => clauses.map(clause => clause.shape).join('&')
export const valuesOf = (clauses: readonly Clause[]) => clauses.flatMap(clause => clause.values)

/** ` where a and b`, or nothing. */
export function whereAll(clauses: readonly Clause[]): SQL {
  return clauses.length === 0 ? sql`` : sql` where ${all(clauses)}`
}

/** A value in its place. A custom column type may turn a value into SQL: its text then joins the shape. */
export function place(engine: Engine, field: Field, value: unknown): Clause {
  const encoded = field.encode(value)
  return is(encoded, SQL) ? fromSql(engine, encoded) : { shape: '?', values: [encoded], build: () => sql`${sql.param(encoded)}` }
}

/** SQL around conditions of its own: their shape is its shape, in the order in which `build` places them. */
export function fromClauses(name: string, clauses: readonly Clause[], build: () => SQL): Clause {
  return { shape: `${name}(${shapeOf(clauses)})`, values: valuesOf(clauses), build }
}

/** One of several lists of conditions holds. */
export function either(branches: readonly (readonly Clause[])[]): Clause {
  return {
    shape: `or(${branches.map(shapeOf).join('|')})`,
    values: branches.flatMap(valuesOf),
    build: () => sql`(${sql.join(branches.map(branch => sql`(${all(branch)})`), sql` or `)})`,
  }
}

/** Several conditions as one. */
export function together(clauses: readonly Clause[]): Clause {
  return { shape: shapeOf(clauses), values: valuesOf(clauses), build: () => all(clauses) }
}

/** All of several conditions hold. */
export function all(clauses: readonly Clause[]): SQL {
  return clauses.length === 0 ? sql`1 = 1` : conjunction(clauses.map(clause => clause.build()))
}

/** In a row each AND is one level deeper than the one before, and D1 goes a hundred levels deep: many are put into halves of halves. */
function conjunction(conditions: readonly SQL[]): SQL {
  if (conditions.length <= IN_A_ROW) return sql.join([...conditions], sql` and `)
  const half = conditions.length >> 1
  return sql`(${conjunction(conditions.slice(0, half))}) and (${conjunction(conditions.slice(half))})`
}

const IN_A_ROW = 32

/** In a list, or in none of it; NULL is neither. */
export function membership(engine: Engine, field: Field, values: readonly unknown[], inside: boolean): Clause {
  if (values.length === 0) return inside ? NOTHING : isNotNull(field)
  const encoded = values.map(value => [field.encode(value)])
  const ofSql = encoded.some(([value]) => is(value, SQL))
  const { shape, values: bound, build } = ofSql ? listOfSql(engine, field, values) : listOf(engine, [field], encoded)
  const operator = inside ? 'in' : 'not in'
  return { shape: `${field.name} ${operator} ${shape}`, values: bound, build: () => sql`${field.column} ${sql.raw(operator)} ${build()}` }
}

/** The rows whose columns hold one of these combinations, given as driver values. */
export function among(engine: Engine, fields: readonly NamedColumn[], tuples: readonly (readonly unknown[])[]): Clause {
  if (tuples.length === 0) return NOTHING
  const { shape, values, build } = listOf(engine, fields, tuples)
  const columns = fields.map(({ column }) => sql`${column}`)
  return {
    shape: `${fields.map(({ name }) => name).join(',')} in ${shape}`,
    values,
    build: () => columns.length === 1 ? sql`${columns[0]} in ${build()}` : sql`(${sql.join(columns, sql`, `)}) in ${build()}`,
  }
}

/**
 * A list in parentheses. SQLite takes it as one JSON parameter and Postgres as one array for each column, so that no
 * list is too long for them and every length has the same text; on MySQL its length is rounded up by repeating the
 * last value, for few texts.
 */
function listOf(engine: Engine, fields: readonly NamedColumn[], tuples: readonly (readonly unknown[])[]): Clause {
  if (engine.dialect === 'sqlite') return jsonList(fields, tuples)
  if (engine.dialect === 'pg') return arrayList(fields, tuples)
  const length = 2 ** Math.ceil(Math.log2(tuples.length))
  const padded = [...tuples, ...Array.from({ length: length - tuples.length }, () => tuples.at(-1)!)]
  const places = (tuple: readonly unknown[]) => sql.join(tuple.map((value, index) => bound(fields[index]!, value)), sql`, `)
  return {
    shape: `${fields.length}x${length}`,
    values: padded.flat(),
    build: () => sql`(${sql.join(padded.map(tuple => fields.length === 1 ? places(tuple) : sql`(${places(tuple)})`), sql`, `)})`,
  }
}

/** `(point(?), point(?))`: what a custom type makes SQL of. */
function listOfSql(engine: Engine, field: Field, values: readonly unknown[]): Clause {
  const places = values.map(value => place(engine, field, value))
  return fromClauses('list', places, () => sql`(${sql.join(places.map(({ build }) => build()), sql`, `)})`)
}

/** `(select value from json_each(?))` */
function jsonList(fields: readonly NamedColumn[], tuples: readonly (readonly unknown[])[]): Clause {
  const single = fields.length === 1
  const json = JSON.stringify(single ? tuples.map(([value]) => value) : tuples)
  return {
    shape: single ? 'json' : `json${fields.length}`,
    values: [json],
    build: () => single
      ? sql`(select value from json_each(${sql.param(json)}))`
      : sql`(select ${sql.join(fields.map((_, index) => sql.raw(`value ->> ${index}`)), sql`, `)} from json_each(${sql.param(json)}))`,
  }
}

/** `(select unnest(cast(cast(? as text) as integer[])))`: handed over as text, so that every driver writes it alike. */
function arrayList(fields: readonly NamedColumn[], tuples: readonly (readonly unknown[])[]): Clause {
  const arrays = fields.map((_, index) => toArray(tuples.map(tuple => tuple[index])))
  const array = (index: number) => sql`cast(cast(${sql.param(arrays[index])} as text) as ${postgresType(fields[index]!.column)}[])`
  return {
    shape: `array${fields.length}`,
    values: arrays,
    build: () => fields.length === 1
      ? sql`(select unnest(${array(0)}))`
      : sql`(select * from unnest(${sql.join(fields.map((_, index) => array(index)), sql`, `)}))`,
  }
}

/** `{"a","it's"}` */
function toArray(values: readonly unknown[]): string {
  return `{${values.map(value => `"${toElement(value).replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}

function toElement(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  return value instanceof Uint8Array ? `\\x${globalThis.Buffer.from(value).toString('hex')}` : String(value)
}
