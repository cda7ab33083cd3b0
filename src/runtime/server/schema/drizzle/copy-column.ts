/** Copies columns to tables that stand for something else: views, and the expressions of computed fields. */
import type { Column, Table } from 'drizzle-orm'

/** Nothing generates the values of a copy, so that it has no defaults. */
const WITHOUT_DEFAULTS = {
  primary: false, isUnique: false, default: undefined, hasDefault: false, generated: undefined, generatedIdentity: undefined,
  autoIncrement: false, isAlias: false,
}

interface Renamed { readonly name: string, readonly notNull?: false, readonly keyAsName?: false }

export function copyColumn(column: Column, table: Table, properties: Renamed): Column {
  const copy = Object.create(Object.getPrototypeOf(column) as object, Object.getOwnPropertyDescriptors(column)) as Column
  return Object.assign(copy, WITHOUT_DEFAULTS, { table }, properties)
}
