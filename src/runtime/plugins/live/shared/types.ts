/** The option that live queries have in apps with the plugin `live`. */
import type {} from '../../../shared/types/query-extensions'

export interface LiveOptions {
  /**
   * Refetches the response when a record that it depends on changes, whoever changes it.
   * @default false
   */
  readonly live?: boolean
}

declare module '../../../shared/types/query-extensions' {
  // eslint-disable-next-line @typescript-eslint/no-empty-object-type -- an augmentation
  interface QueryExtensions extends LiveOptions {}
}
