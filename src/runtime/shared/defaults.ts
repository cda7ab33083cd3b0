/** The default values of the options. */
import type { AutoApiConfig, MultiTenancyConfig } from './config'

export const DEFAULT_MULTI_TENANCY: Readonly<MultiTenancyConfig> = Object.freeze({
  enabled: true,
  tenantIdField: 'organizationId',
  userTenantField: 'organizationId',
  scopedResources: '*',
  excludedResources: [],
})
export const DEFAULT_CONFIG: Readonly<AutoApiConfig> = Object.freeze<AutoApiConfig>({
  prefix: '/api',
  pagination: { default: 'offset', defaultLimit: 20, maxLimit: 100 },
  multiTenancy: false,
  filters: { extended: false },
  relations: { maxDepth: 3, maxIncludes: 20, maxRows: 25000, maxBytes: 4 * 1024 * 1024 },
  aggregations: { enabled: true, maxGroupByFields: 5 },
  bulk: { enabled: true, maxBatchSize: 100, transactional: true },
  m2m: { autoDetect: true, relations: {} },
  hookConfig: { timeout: 5000, afterErrors: 'throw' },
  http: { maxBodySize: 1024 * 1024, maxResponseSize: 16 * 1024 * 1024, etag: true, strictParameters: false, serverTiming: false },
  csrf: { origins: [] },
  objectLevelMaxRows: 10000,
  hiddenFields: { global: [], resources: {} },
  slowStatements: false,
  trustProxy: false,
})
