/** The resolved module options. The build writes them into a generated module, and the server reads them. */

export interface PaginationConfig {
  /**
   * Pagination of a list request without `page` and `cursor`: by page number (`'offset'`) or by cursor.
   * @default 'offset'
   */
  default: 'offset' | 'cursor'
  /**
   * Number of rows per page if the request has no `limit`.
   * @default 20
   */
  defaultLimit: number
  /**
   * Maximum number of rows per page. It replaces a larger `limit`.
   * @default 100
   */
  maxLimit: number
}

export interface MultiTenancyConfig {
  /**
   * `false` turns multi-tenancy off and keeps the other options.
   * @default true
   */
  enabled: boolean
  /**
   * Property name of the tenant column in the Drizzle tables.
   * @default 'organizationId'
   */
  tenantIdField: string
  /**
   * Property of the signed-in user that contains the tenant.
   * @default 'organizationId'
   */
  userTenantField: string
  /**
   * Names of the tenant-scoped resources. `'*'` means every resource whose table has the tenant column.
   * @default '*'
   */
  scopedResources: '*' | string[]
  /**
   * Names of resources that all tenants share, although their tables have the tenant column.
   * @default []
   */
  excludedResources: string[]
}

export interface RelationsConfig {
  /**
   * Maximum depth of nested includes.
   * @default 3
   */
  maxDepth: number
  /**
   * Maximum number of included relations in one request, counted over all levels.
   * @default 20
   */
  maxIncludes: number
  /**
   * Maximum number of included rows in one response. If there are more, the response is 400.
   * @default 25000
   */
  maxRows: number
  /**
   * Maximum size of the included records of one response, in bytes of JSON. If they are larger, the response is 400.
   * @default 4194304
   */
  maxBytes: number
}

export interface FiltersConfig {
  /**
   * `true` adds `$and`, `$not`, `$or` at every level, and the operators `$between`, `$notLike`, `$startsWith`, `$endsWith`, `$contains`
   * and `$eqi`.
   * @default false
   */
  extended: boolean
}

export interface AggregationsConfig {
  /**
   * `false` refuses every aggregate with 400.
   * @default true
   */
  enabled: boolean
  /**
   * Maximum number of fields in one `groupBy`.
   * @default 5
   */
  maxGroupByFields: number
}

export interface HiddenFieldsConfig {
  /**
   * Names of fields that are hidden in every resource that has them.
   * @default []
   */
  global: string[]
  /**
   * Names of hidden fields by resource. They add to the `hiddenFields` of the registration.
   * @default {}
   * @example { users: ['passwordHash'] }
   */
  resources: Record<string, string[]>
}

export interface BulkConfig {
  /**
   * `false` refuses bulk requests with 400.
   * @default true
   */
  enabled: boolean
  /**
   * Maximum number of items in one request.
   * @default 100
   */
  maxBatchSize: number
  /**
   * `true` writes all items or none. `false` commits each item and its cascade separately and lists failures in `meta.errors`.
   * @default true
   */
  transactional: boolean
}

export interface ManyToManyConfig {
  /**
   * Detects junction tables by their columns.
   * @default true
   */
  autoDetect: boolean
  /**
   * Junction tables that `autoDetect` does not find. The key is the export or the resource name of the table. The value is the two
   * resources that the table joins.
   * @default {}
   * @example { enrolments: ['students', 'courses'] }
   */
  relations: Record<string, readonly [string, string]>
}

export interface CrossSiteConfig {
  /**
   * Origins of other sites whose pages can write with the caller's cookies, such as `https://admin.example.com`.
   * @default []
   */
  origins: string[]
}

export interface HttpConfig {
  /**
   * Maximum size of a JSON body in bytes. The server stops reading a larger body and responds with 413.
   * @default 1048576
   */
  maxBodySize: number
  /**
   * Maximum size of a JSON response in bytes. The server refuses a read with a larger response with 400.
   * @default 16777216
   */
  maxResponseSize: number
  /**
   * `false` turns entity tags off: responses have no `ETag`, and no response is 304.
   * @default true
   */
  etag: boolean
  /**
   * What a parameter of the query string does that its route does not know: `true` is a 400, `'warn'` logs it, and `false` ignores it.
   * @default 'warn' in development, false in production
   */
  strictParameters: 'warn' | boolean
  /**
   * `true` adds the header `Server-Timing` to responses: the milliseconds of the request, its authorization, statements and hooks.
   * @default true in development, false in production
   */
  serverTiming: boolean
}

export interface HookConfig {
  /**
   * Time limit of one hook in milliseconds.
   * @default 5000
   */
  timeout: number
  /**
   * Effect of an error in an after-hook of a write: `'throw'` responds with the error, `'log'` only logs it. Neither rolls back the write.
   * @default 'throw'
   */
  afterErrors: 'throw' | 'log'
}

export interface AutoApiConfig {
  /**
   * Path prefix of every route.
   * @default '/api'
   */
  prefix: string
  pagination: PaginationConfig
  /**
   * `false` turns multi-tenancy off.
   * @default false
   */
  multiTenancy: MultiTenancyConfig | false
  filters: FiltersConfig
  relations: RelationsConfig
  aggregations: AggregationsConfig
  bulk: BulkConfig
  m2m: ManyToManyConfig
  hookConfig: HookConfig
  http: HttpConfig
  /** Refuses writes from pages of other sites; `false` turns the check off. */
  csrf: CrossSiteConfig | false
  /**
   * Maximum number of rows that a request reads to check them with `objectLevel` for a count, an aggregate or a numbered page.
   * @default 10000
   */
  objectLevelMaxRows: number
  hiddenFields: HiddenFieldsConfig
  /**
   * Logs the text of a statement, without its values, that takes longer than this many milliseconds. `false` logs none.
   * @default 200 in development, false in production
   */
  slowStatements: number | false
  /**
   * Number of the app's own proxies; `true` means one proxy.
   * @default false
   */
  trustProxy: boolean | number
}
