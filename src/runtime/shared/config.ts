/** The module's options once resolved: what the build writes down as data and the server reads. */
export interface PaginationConfig {
  /**
   * Which pages a list has when the client asks with neither `page` nor `cursor`.
   * @default 'offset'
   */
  default: 'offset' | 'cursor'
  /**
   * Page size when the client names none.
   * @default 20
   */
  defaultLimit: number
  /**
   * Largest page size; a larger `limit` is lowered to it.
   * @default 100
   */
  maxLimit: number
}

export interface MultiTenancyConfig {
  /**
   * Turns tenancy off without removing the key.
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
   * Resources that belong to a tenant. `'*'`: every resource whose table has the tenant column.
   * @default '*'
   */
  scopedResources: '*' | string[]
  /**
   * Resources that do not belong to a tenant although their table has the tenant column.
   * @default []
   */
  excludedResources: string[]
}

export interface RelationsConfig {
  /**
   * How many relations deep an include may go.
   * @default 3
   */
  maxDepth: number
  /**
   * Relations of one request, at all depths together.
   * @default 20
   */
  maxIncludes: number
  /**
   * Included rows of one answer; beyond them it is a 400.
   * @default 25000
   */
  maxRows: number
}

export interface AggregationsConfig {
  /**
   * @default true
   */
  enabled: boolean
  /**
   * Fields of one `groupBy`.
   * @default 5
   */
  maxGroupByFields: number
}

export interface HiddenFieldsConfig {
  /**
   * Hidden in every resource that has a field of the name.
   * @default []
   */
  global: string[]
  /**
   * Hidden in one resource, besides its registration's own `hiddenFields`.
   * @default {}
   */
  resources: Record<string, string[]>
}

export interface BulkConfig {
  /**
   * @default true
   */
  enabled: boolean
  /**
   * Items of one request.
   * @default 100
   */
  maxBatchSize: number
  /**
   * All items or none. `false`: each item with its cascade alone, failures are listed in `meta.errors`.
   * @default true
   */
  transactional: boolean
}

export interface ManyToManyConfig {
  /**
   * Find junction tables by their shape.
   * @default true
   */
  autoDetect: boolean
  /**
   * Junctions that cannot be told by their shape: the table's export or resource name, and the two resources it joins.
   * @default {}
   * @example { enrolments: ['students', 'courses'] }
   */
  relations: Record<string, readonly [string, string]>
}

export interface CrossSiteConfig {
  /**
   * Origins whose pages may write in the caller's name, such as `https://admin.example.com`.
   * @default []
   */
  origins: string[]
}

export interface HttpConfig {
  /**
   * Bytes of a JSON body; a longer one is refused with 413 while it is read.
   * @default 1048576
   */
  maxBodySize: number
}

export interface HookConfig {
  /**
   * Milliseconds a hook may take.
   * @default 5000
   */
  timeout: number
  /**
   * What an error of an after-hook of a write does: it is answered, or only logged. The commit stands either way.
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
  /** On as soon as the key is set. */
  multiTenancy: MultiTenancyConfig | false
  relations: RelationsConfig
  aggregations: AggregationsConfig
  bulk: BulkConfig
  m2m: ManyToManyConfig
  hookConfig: HookConfig
  http: HttpConfig
  /** Refuses writes that a page of another site sends; `false` leaves them to the app. */
  csrf: CrossSiteConfig | false
  /**
   * Rows a count, an aggregate or a page by number reads where `objectLevel` judges each one; beyond them it is a 400.
   * @default 10000
   */
  objectLevelMaxRows: number
  hiddenFields: HiddenFieldsConfig
  /**
   * How many proxies of the app's own stand before it; `true` is one. Only then is `X-Forwarded-For` read.
   * @default false
   */
  trustProxy: boolean | number
}
