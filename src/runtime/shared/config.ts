/** The resolved module options: the build generates them as data, and the server reads them. */

export interface PaginationConfig {
  /**
   * How a list without `page` and `cursor` is paged: by number (`'offset'`) or by cursor.
   * @default 'offset'
   */
  default: 'offset' | 'cursor'
  /**
   * Rows per page without `limit`.
   * @default 20
   */
  defaultLimit: number
  /**
   * Maximum number of rows per page. A larger `limit` is lowered to it.
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
   * Property of the signed-in user that holds the tenant.
   * @default 'organizationId'
   */
  userTenantField: string
  /**
   * Names of the tenant-scoped resources. `'*'` is every resource whose table has the tenant column.
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
   * Maximum number of included relations of one request, over all levels.
   * @default 20
   */
  maxIncludes: number
  /**
   * Maximum number of included rows of one response. Beyond it the response is 400.
   * @default 25000
   */
  maxRows: number
}

export interface AggregationsConfig {
  /**
   * `false` refuses every aggregate with 400.
   * @default true
   */
  enabled: boolean
  /**
   * Maximum number of fields of one `groupBy`.
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
   * Names of hidden fields by resource, in addition to `hiddenFields` of the registration.
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
   * Maximum number of items of one request.
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
   * Junction tables that are not detected: the table's export or resource name, and the two resources that it joins.
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
   * Maximum size of a JSON body in bytes. A larger body is refused with 413 while it is read.
   * @default 1048576
   */
  maxBodySize: number
}

export interface HookConfig {
  /**
   * Time limit of one hook in milliseconds.
   * @default 5000
   */
  timeout: number
  /**
   * Effect of an error in an after-hook of a write: `'throw'` responds with the error, `'log'` only logs it. Neither undoes the commit.
   * @default 'throw'
   */
  afterErrors: 'throw' | 'log'
}

export interface AutoApiConfig {
  /**
   * Path under which every route is mounted.
   * @default '/api'
   */
  prefix: string
  pagination: PaginationConfig
  /**
   * `false` where rows belong to no tenant.
   * @default false
   */
  multiTenancy: MultiTenancyConfig | false
  relations: RelationsConfig
  aggregations: AggregationsConfig
  bulk: BulkConfig
  m2m: ManyToManyConfig
  hookConfig: HookConfig
  http: HttpConfig
  /** Refuses writes from pages of other sites; `false` turns the check off. */
  csrf: CrossSiteConfig | false
  /**
   * Maximum number of rows that a count, an aggregate or a page by number reads where `objectLevel` decides row by row.
   * @default 10000
   */
  objectLevelMaxRows: number
  hiddenFields: HiddenFieldsConfig
  /**
   * Number of the app's own proxies; `true` is one.
   * @default false
   */
  trustProxy: boolean | number
}
