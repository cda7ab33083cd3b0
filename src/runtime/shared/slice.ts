/** What a plugin adds outside of the server: data that the build reads. */

export interface Slice {
  /** The folder in `runtime/plugins`. */
  readonly folder: string
  /**
   * The exports of `app/index.ts` that Vue code can use without an import.
   * @default []
   */
  readonly imports?: readonly string[]
  /**
   * The types of `app/index.ts` that Vue code can use without an import.
   * @default []
   */
  readonly types?: readonly string[]
  /**
   * Whether `shared/types.ts` adds to interfaces of `runtime/shared/types`, so that every app needs it for its types.
   * @default false
   */
  readonly augments?: boolean
}

/** Adds the type. It returns its argument. */
export const defineSlice = (slice: Slice): Slice => slice
