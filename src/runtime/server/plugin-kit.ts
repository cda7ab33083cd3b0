/**
 * `nuxt-auto-api/kit`: what plugins are written with, besides `nuxt-auto-api/define` and `nuxt-auto-api/utils`. The built-in plugins use
 * the same functions. The names here are stable.
 */
export { can, findRecords, findRows, holds } from './kit/for-context'
export {
  type ApiError, apiError, conflict, invalidBody, invalidQuery, invalidValue, limitExceeded, notFound, payloadTooLarge, preconditionFailed,
  rateLimited, refused, validationFailed,
} from './kit/errors'
export { flag, mediaTypeOf, nameList, singleValue, toNetwork, type Query } from './kit/request'
export { pushedBody, sendText, type Push } from './kit/respond'
export { createAttached, createLruCache, logError, memoized, runAfterResponse, uuidv7, withTimeout } from './kit/process'
export { defineService, type Services, type WatchedRow } from './kit/listen'
export { assertNames, assertOptions, imported, type Importable } from './plugin/options'
export { isCount, isName, isNames, type OptionRule, type OptionRules } from '../shared/option-rule'
export { objectOf, PAGE_PARAMETERS, pageOf } from './plugin/description'
export { listenToEvents, reportEvent, type ReportedEvent } from './plugin/events'
export {
  provideAdmin, provideFeatures, readFeatures, type AdminOffer, type HistoryFeature, type PluginFeatures,
} from './plugin/features'
export type { AdminFeatures } from '../shared/types/admin'
export { resolveStore as resolveCounter, type Store as CounterStore } from './plugin/counter/store'
export type { Count, Counter } from './plugin/counter/memory'
