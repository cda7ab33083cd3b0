/** Lets plugins follow the queries of the page: every query tells the extensions of the app its key and its options. */
import { hasInjectionContext, inject, provide, type App, type InjectionKey } from 'vue'
import type { QueryExtensions } from '../shared/types/query-extensions'
import type { ApiKey } from './keys'

export interface ExtendedQuery {
  /** The key of the request; `undefined` while a parameter is missing. */
  readonly key: () => ApiKey | undefined
  readonly options: QueryExtensions
  /** Whether the query sends requests. */
  readonly enabled: { readonly value: boolean }
}

/** Runs in `setup`, after the query exists. */
export type QueryExtension = (query: ExtendedQuery) => void

const EXTENSIONS: InjectionKey<QueryExtension[]> = Symbol('auto-api query extensions')

/** Adds an extension to all queries of an app. A Nuxt plugin calls it. */
export function addQueryExtension(app: App, extension: QueryExtension): void {
  const extensions = app.runWithContext(() => inject(EXTENSIONS, undefined))
  if (extensions) extensions.push(extension)
  else app.provide(EXTENSIONS, [extension])
}

const DEFAULTS: InjectionKey<QueryExtensions> = Symbol('auto-api query defaults')

/** Gives the queries of the components below these options, unless they have their own. */
export const provideQueryDefaults = (options: QueryExtensions): void => provide(DEFAULTS, options)

export function extendQuery(query: ExtendedQuery): void {
  if (!hasInjectionContext()) return
  const options = { ...inject(DEFAULTS, undefined), ...query.options }
  for (const extension of inject(EXTENSIONS, [])) extension({ ...query, options })
}
