/** The newsroom with a computed field instead of each column that is no key: every answer must be the same as for the column. */
import { sql, type Column, type Table } from 'drizzle-orm'
import { computed, type ComputedField } from '../../../src/runtime/server/computed'
import type { ComputedType } from '../../../src/runtime/shared/computed-types'
import type { Dialect } from '../../../src/runtime/shared/dialects'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import type { Kind } from '../oracle/model'
import { kindOf, NEWSROOM, type Specs, type TableSpec } from './columns'
import { createTables, type Tables } from './tables'

const TYPES: Readonly<Partial<Record<Kind, ComputedType>>> = {
  text: 'text', integer: 'integer', real: 'number', boolean: 'boolean', date: 'timestamp', bigint: 'bigint', decimal: 'decimal', json: 'json',
}

/** Columns that the registrations use as columns: the tenant, the trash, and those of the row filters and of `objectLevel`. */
const STAY: ReadonlySet<string> = new Set(['organizationId', 'deletedAt', 'status', 'role', 'weight'])

const ownName = (name: string) => `own${name[0]!.toUpperCase()}${name.slice(1)}`

function isTwin(name: string, { columns, key, references = [] }: TableSpec): boolean {
  const isReference = references.some(([, ...own]) => own.includes(name))
  return !STAY.has(name) && !key.includes(name) && !isReference && TYPES[kindOf(columns[name]!)] !== undefined
}

/** How a twin gets the value of its column. The last one reads the row once more, as the caller sees it. */
export type Source = 'expression' | 'subquery'

/** Tables without `deletedAt` have the same rows in a list and in the row scope. A rule in code has no row scope. */
const SCOPED: ReadonlySet<string> = new Set(['authors', 'sections', 'credits', 'entries'])

function twinOf(
  resource: string, name: string, spec: TableSpec, table: Table, source: Source, alias: (table: Table) => Table,
): ComputedField<never> {
  const kind = kindOf(spec.columns[name]!)
  const columnOf = (of: Table, property: string) => (of as unknown as Record<string, Column>)[property]!
  const own = columnOf(table, ownName(name))
  // SQLite stores times in several ways, and an enum decides which texts a filter accepts.
  const mapped = kind === 'date' || (own.enumValues?.length ?? 0) > 0
  const value = (of: Table) => mapped ? sql`${columnOf(of, ownName(name))}`.mapWith(own) : sql`${columnOf(of, ownName(name))}`
  const create = computed[TYPES[kind]!] as (expression: unknown, options?: object) => ComputedField<never>
  if (source === 'expression' || !SCOPED.has(resource) || kind === 'json') return create(value)
  return create((t: Table, { scope }: { readonly scope: (resource: string, table: Table) => unknown }) => {
    const other = alias(t)
    const same = sql.join(spec.key.map(key => sql`${columnOf(other, key)} = ${columnOf(t, key)}`), sql` and `)
    const found = sql`(select ${columnOf(other, ownName(name))} from ${t} as ${other} where ${same} and ${scope(resource, other)})`
    return mapped ? found.mapWith(own) : found
  }, { tracks: [resource] })
}

/** The tables with other names for the columns that have a twin. The names in the database stay. */
export function createTwinTables<S extends Specs>(dialect: Dialect, specs: S): Tables<S> {
  return createTables(dialect, specs, (table, name) => isTwin(name, specs[table]!) ? ownName(name) : name)
}

export function withTwins(
  registrations: readonly ResourceRegistration[], source: Source, alias: (table: Table) => Table,
): ResourceRegistration[] {
  return registrations.map((registration) => {
    const spec: TableSpec = NEWSROOM[registration.name as keyof typeof NEWSROOM]
    const names = Object.keys(spec.columns).filter(name => isTwin(name, spec))
    const twins = names.map(name => [name, twinOf(registration.name, name, spec, registration.schema as Table, source, alias)])
    return {
      ...registration,
      computed: Object.fromEntries(twins) as ResourceRegistration['computed'],
      hiddenFields: [...registration.hiddenFields ?? [], ...names.map(ownName)],
    }
  })
}
