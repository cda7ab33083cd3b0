/**
 * `nuxt-auto-api/app`: what the composables of plugins are written with. The built-in plugins use the same functions. The names here are
 * stable.
 */
export { useClient, type ApiCall, type Client } from './client'
export { AutoApiError } from './error'
export { useFeed, useFeedPages, type Entries, type EntryPages } from './feed'
export { toApiKey, type ApiKey, type KeyDetails } from './keys'
export { useApiMutation, type MutationHandlers, type MutationOptions, type MutationResult } from './mutation'
export { useApiPages, useApiQuery, type InfiniteOptions, type QueryOptions } from './query'
