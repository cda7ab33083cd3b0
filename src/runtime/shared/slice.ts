/** What a plugin adds outside of the server: data that the build reads. */
import type { AdminExtension } from './types/admin'

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
   * Which apps need `shared/types.ts` for their types, because it adds to interfaces of `runtime/shared/types`: all, or those whose
   * nuxt.config lists a plugin with the name of the folder.
   * @default none
   */
  readonly augments?: 'all' | 'listed'
  /**
   * Whether apps whose nuxt.config lists a plugin with the name of the folder load `app/plugin.ts`, a Nuxt plugin, in the browser.
   * @default false
   */
  readonly startsInBrowser?: boolean
  /**
   * For the command `openapi`: the file of the folder that exports `describeRole`, and the factory of `plugins/index.ts` whose options it
   * takes.
   * @default none
   */
  readonly describesRoles?: { readonly file: string, readonly factory: string }
  /**
   * What it adds to the admin. The paths of components are relative to the folder `admin`.
   * @default none
   */
  readonly admin?: AdminExtension
}

/** Adds the type. It returns its argument. */
export const defineSlice = (slice: Slice): Slice => slice
