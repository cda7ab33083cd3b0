/** Creates the computed fields of a resource. They differ from the fields of columns only in where their values come from: SQL. */
import { is, SQL, Table } from 'drizzle-orm'
import { COMPUTED_TYPES } from '../../shared/computed-types'
import { COUNT_PROPERTY } from '../../shared/relation-counts'
import { didYouMean } from '../../shared/suggest'
import type { ComputedField, ComputedOptions } from '../computed'
import type { ResourceRegistration } from '../registration'
import { createComputedColumns, type ComputedSource } from './drizzle/computed'
import { describeColumn } from './drizzle/column'
import { expressionOf, ScopeReference, type Expression } from './drizzle/expression'
import { sourceName, type TableFacts } from './drizzle/table'
import { createField, type Field } from './field'
import type { Resource } from './model'
import { inField, runChecks } from './mistakes'
import { columnSchemas } from './validation'

const OPTIONS: Readonly<Record<keyof ComputedOptions, (value: unknown) => boolean>> = {
  lazy: value => typeof value === 'boolean',
  volatile: value => typeof value === 'boolean',
  tracks: value => Array.isArray(value) && value.length > 0 && value.every(name => typeof name === 'string'),
}

/** @throws An error with every computed field that the resource cannot have. */
export function createComputedFields(registration: ResourceRegistration, facts: TableFacts): readonly Field[] {
  const { name: resource, computed = {}, wire = {} } = registration
  const names = Object.keys(computed)
  if (names.length === 0) return []
  const sources = new Map(runChecks(names.map(name => () =>
    [name, inField(resource, name, () => toSource(resource, computed[name]!, facts, name))] as const)))
  const { table, columns } = createComputedColumns(facts.table, facts.dialect, sources,
    (name, create) => inField(resource, name, create))
  const described = [...columns].map(([name, { column }]) =>
    Object.freeze({ ...describeColumn(name, column), nullable: true, optional: true, generated: true }))
  const schemaOf = columnSchemas(table, described)
  return described.map((column, index) => Object.freeze({
    ...createField(column, facts.columns.length + index, () => schemaOf(column.name), false, wire[column.name]),
    ...traitsOf(computed[column.name]!.options, columns.get(column.name)!.expression),
    stored: false,
  }))
}

/** What requests need to know about a computed field. */
function traitsOf({ lazy, volatile = false, tracks }: ComputedOptions, { readsRows }: Expression): Partial<Field> {
  return {
    ...lazy && { lazy },
    ...volatile && { volatile },
    tagged: !volatile && (!readsRows || tracks !== undefined),
    ...tracks && { tracks: Object.freeze([...tracks]) },
  }
}

function toSource(resource: string, field: ComputedField, facts: TableFacts, name: string): ComputedSource {
  const { type, expression, options } = Object(field) as Partial<ComputedField>
  if (!COMPUTED_TYPES.includes(type!) || typeof options !== 'object')
    throw new TypeError('it is not the result of a function of `computed`, such as `computed.integer(…)`')
  if (facts.columns.some(column => column.name === name))
    throw new TypeError(`${sourceName(facts)} has a column of this name. Give the field another name`)
  if (name === COUNT_PROPERTY) throw new TypeError('responses contain relation counts under this name. Give the field another name')
  for (const [option, value] of Object.entries(options)) {
    if (!Object.hasOwn(OPTIONS, option))
      throw new TypeError(`\`${option}\` is not an option of a computed field.${didYouMean(option, Object.keys(OPTIONS))}`)
    if (value !== undefined && !OPTIONS[option as keyof ComputedOptions](value))
      throw new TypeError(`\`${option}\` is not ${option === 'tracks' ? 'a list of resources' : '`true` or `false`'}`)
  }
  if (options.volatile && options.tracks)
    throw new TypeError('`tracks` has no effect on a volatile field, because its values change without a write. Remove one of them')
  let count = 0
  const scope = (target: string, table: Table) => toReference(`scope:${resource}.${name}.${count++}`, target, table)
  const sql = typeof expression === 'function' ? expression(facts.table as never, { scope }) : expression
  if (!is(sql, SQL)) throw new TypeError('its expression is not SQL. Write sql`…` of Drizzle')
  return { type: type!, sql }
}

function toReference(key: string, resource: string, table: Table): SQL {
  return new SQL([new ScopeReference(key, resource, table)] as unknown as SQL['queryChunks'])
}

/**
 * Checks what an expression can only refer to when all resources exist.
 * @throws An error with every row scope of a resource that has none in SQL.
 */
export function assertScopes(resources: ReadonlyMap<string, Resource>): void {
  runChecks([...resources.values()].flatMap(({ name, scopes }) => scopes.map(({ resource, table }) => () => {
    const where = `[auto-api] \`${name}.computed\`: the function \`scope\` names \`${resource}\`,`
    const target = resources.get(resource)
    if (!target) throw new Error(`${where} which is not a registered resource.${didYouMean(resource, [...resources.keys()])}`)
    if (!is(table, Table) || sourceOf(table) !== sourceOf(target.table))
      throw new Error(`${where} with a table that is not that of the resource. Pass its table, or an alias of it.`)
    if (target.auth?.objectLevel)
      throw new Error(`${where} whose rule \`objectLevel\` SQL cannot express. Use \`listFilter\` instead.`)
  })))
}

/**
 * A subquery without a row scope reads rows that the caller cannot see.
 * @returns a message for each registered table that the SQL of a computed field reads without its row scope
 */
export function findUnscoped(resources: ReadonlyMap<string, Resource>): readonly string[] {
  const registered = [...resources.values()]
  const named = (table: Table) => registered.find(resource => sourceOf(resource.table) === sourceOf(table))
  return registered.flatMap(({ name, fields }) => [...fields.values()].flatMap((field) => {
    const { tables = [], text = '', scopes = [] } = expressionOf(field.column) ?? {}
    const inText = [...text.matchAll(/\b(?:from|join)\s+["`]?(\w+)/gi)].flatMap(([, table]) =>
      registered.find(({ facts }) => facts.name === table) ?? [])
    const read = new Set([...tables.flatMap(table => named(table) ?? []), ...inText])
    return [...read].filter(resource => !scopes.some(({ table }) => sourceOf(table) === sourceOf(resource.table))).map(resource =>
      `[auto-api] \`${name}.computed.${field.name}\` reads the table "${resource.facts.name}" without the row scope of `
      + `\`${resource.name}\`, so its values depend on rows that the caller cannot see. Add `
      + `\`and \${scope('${resource.name}', table)}\` to the subquery.`)
  }))
}

const nameOf = (table: Table, symbol: string) => (table as unknown as Record<symbol, unknown>)[Symbol.for(`drizzle:${symbol}`)] ?? null

/** The schema and the name in the database, also of an alias. */
const sourceOf = (table: Table): string => JSON.stringify([nameOf(table, 'Schema'), nameOf(table, 'OriginalName')])
