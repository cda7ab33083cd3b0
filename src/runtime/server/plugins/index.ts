/** `nuxt-auto-api/plugins`: the factories of the built-in plugins. Loadable in plain Node, for `nuxt.config`. */
export { betterAuth, type BetterAuthInstance, type BetterAuthOptions } from './better-auth/index'
export { dataExport } from './data-export/index'
export { rateLimit } from './rate-limit/index'
export type { Count, Counter } from './rate-limit/counter'
export type { KeyFunction, Limit, RateLimitOptions } from './rate-limit/options'
export { requestMetadata, type RequestMetadata, type RequestMetadataOptions } from './request-metadata/index'
export type { DataExportOptions } from './data-export/options'
export type { Format as ExportFormat } from './data-export/formats'
