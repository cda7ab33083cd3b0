/** Marks tables that a preset makes, so that the server finds them among the exports of the app's schema, whatever their names are. */

/** The key is the same in every copy of this package: drizzle-kit and the server load their own. */
const PRESET = Symbol.for('nuxt-auto-api:preset')

export type PresetName = 'taskRuns'

export function markTable<T extends object>(table: T, preset: PresetName): T {
  return Object.assign(table, { [PRESET]: preset })
}

export function hasMark(table: object, preset: PresetName): boolean {
  return (table as { readonly [PRESET]?: unknown })[PRESET] === preset
}
