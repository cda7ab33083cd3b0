/** The indexes of a resource, as its Drizzle table declares them. */
import type { SQL } from 'drizzle-orm'
import { readConfig } from './drizzle/config'
import type { Resource } from './model'

/** The columns of each index by property name, in the order of the index. An index with a condition does not contain every row. */
export function indexesOf({ table, facts }: Resource): readonly (readonly string[])[] {
  const { indexes } = readConfig(table).config
  return [facts.primaryKey, ...facts.uniques, ...indexes.filter(({ config }) => !config.where).map(({ config }) => namesOf(config, facts))]
}

/** A primary key, a unique constraint or a unique index. */
export interface UniqueKey {
  readonly columns: readonly string[]
  /** The condition of an index. Its values are unique among the rows that meet it. */
  readonly where?: SQL
}

export function uniqueKeysOf({ table, facts }: Resource): readonly UniqueKey[] {
  const partial = readConfig(table).config.indexes.filter(({ config }) => config.unique && config.where)
  return [
    ...[facts.primaryKey, ...facts.uniques].map(columns => ({ columns })),
    ...partial.map(({ config }): UniqueKey => ({ columns: namesOf(config, facts), where: config.where as SQL })),
  ].filter(({ columns }) => !columns.includes(''))
}

/** An expression in an index has no name. */
const namesOf = ({ columns }: { readonly columns: readonly unknown[] }, facts: Resource['facts']): readonly string[] =>
  columns.map((item) => {
    const { name } = item as { readonly name?: unknown }
    return facts.columns.find(({ column }) => column.name === name)?.name ?? ''
  })

/** Whether one of the indexes begins with the columns, in any order. */
export const beginsIndex = (indexes: readonly (readonly string[])[], columns: readonly string[]): boolean =>
  indexes.some(index => index.slice(0, columns.length).every(name => columns.includes(name)) && index.length >= columns.length)

/** Whether the database finds rows by the columns without reading the whole table. MySQL creates the index of a foreign key itself. */
export function isIndexed(resource: Resource, columns: readonly string[]): boolean {
  const { dialect, foreignKeys } = resource
  return beginsIndex(indexesOf(resource), columns)
    || (dialect === 'mysql' && foreignKeys.some(key => beginsIndex([key.columns], columns)))
}
