/** Marks tables and columns of presets, so that the server recognizes them, whatever their names are. */

/** The key is the same in every copy of this package: drizzle-kit and the server load their own. */
const PRESET = Symbol.for('nuxt-auto-api:preset')

/** The name of a function that makes a table, without `Table`: `taskRuns`. */
export type PresetName = string

export function markTable<T extends object>(table: T, preset: PresetName): T {
  return Object.assign(table, { [PRESET]: preset })
}

export function hasMark(table: object, preset: PresetName): boolean {
  return (table as { readonly [PRESET]?: unknown })[PRESET] === preset
}

/** The mark is on the column's default function, because Drizzle copies nothing else from the builder of a column to the column. */
const OWNED = Symbol.for('nuxt-auto-api:server-owned')

interface Owned {
  /** Whether the column is also hidden. */
  readonly hidden: boolean
}

/**
 * Marks the default function of a column that only the server writes: request bodies cannot set it.
 * @example text('token_hash').notNull().$defaultFn(serverOwned(() => '', { hidden: true }))
 */
export function serverOwned<T>(create: () => T, { hidden }: Owned = { hidden: false }): () => T {
  return Object.assign(() => create(), { [OWNED]: { hidden } })
}

/** Finds the mark of a column. */
export function findOwned({ defaultFn }: { readonly defaultFn?: unknown }): Owned | undefined {
  return (defaultFn as { readonly [OWNED]?: Owned } | undefined)?.[OWNED]
}
