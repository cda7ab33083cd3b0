/** Declares the module options, checks them and resolves them to the configuration. */
import { isObject } from '../runtime/shared/is-object'
import { toBytes } from '../runtime/shared/size'
import { inspect } from 'node:util'
import type {
  AggregationsConfig,
  AutoApiConfig,
  BulkConfig,
  CrossSiteConfig,
  FiltersConfig,
  HiddenFieldsConfig,
  HookConfig,
  ManyToManyConfig,
  MultiTenancyConfig,
  PaginationConfig,
  RelationsConfig,
} from '../runtime/shared/config'
import { DEFAULT_CONFIG, DEFAULT_MULTI_TENANCY } from '../runtime/shared/defaults'
import { findClosest } from '../runtime/shared/suggest'
import {
  GROUPS, IGNORED_OPTIONS, isSize, OPTION_RULES, REMOVED_PATHS, STRICT_GROUPS, SWITCHABLE_GROUPS,
} from './option-rules'
import type { PluginListing } from './plugins'
import type { Problem } from './problem'

/**
 * Options of the module, under `autoApi` in `nuxt.config`.
 * @example
 * export default defineNuxtConfig({
 *   modules: ['nuxt-auto-api'],
 *   autoApi: { prefix: '/api/v1', multiTenancy: {} },
 * })
 */
export interface ModuleOptions {
  /**
   * Path prefix of every route. It starts with a slash and has no parameters.
   * @default '/api'
   */
  prefix?: string
  /** Page sizes of lists, and the default pagination: by page number or by cursor. */
  pagination?: Partial<PaginationConfig>
  /**
   * Restricts rows to the tenant of the caller. An object turns multi-tenancy on; `{}` uses every default.
   * @default false
   */
  multiTenancy?: Partial<MultiTenancyConfig> | false
  /** Limits of included relations. */
  relations?: Partial<Omit<RelationsConfig, 'maxBytes'>> & {
    /**
     * Maximum size of the included records of one response: a number of bytes of JSON, or a size such as `'2mb'`. If they are larger, the
     * response is 400.
     * @default '4mb'
     */
    maxBytes?: number | string
  }
  /** The aggregate route and the `aggregate` parameter of lists. */
  aggregations?: Partial<AggregationsConfig>
  /** The bulk routes. */
  bulk?: Partial<BulkConfig>
  /** Many-to-many relations over junction tables. */
  m2m?: Partial<ManyToManyConfig>
  /** Time limit of hooks, and the effect of errors in after-hooks. */
  hookConfig?: Partial<HookConfig>
  /** The operators of filters. */
  filters?: Partial<FiltersConfig>
  http?: {
    /**
     * Maximum size of a JSON body: a number of bytes, or a size such as `'512kb'` or `'2mb'`. The response to a larger body is 413.
     * @default '1mb'
     */
    maxBodySize?: number | string
    /**
     * Maximum size of a JSON response: a number of bytes, or a size such as `'32mb'`. A read with a larger response is a 400.
     * @default '16mb'
     */
    maxResponseSize?: number | string
    /**
     * `false` turns entity tags off: responses have no `ETag`, and no response is 304.
     * @default true
     */
    etag?: boolean
    /**
     * What a parameter of the query string does that its route does not know: `true` is a 400 that names it, `'warn'` logs it, and `false`
     * ignores it. It applies to the generated routes, to plugin routes that list their parameters, and to endpoints with a `query` schema.
     * @default 'warn' in development, false in production
     */
    strictParameters?: 'warn' | boolean
    /**
     * `true` adds the header `Server-Timing` to responses: the milliseconds of the request, its authorization, statements and hooks. Every
     * caller can read it, so leave it off where times could tell something.
     * @default true in development, false in production
     */
    serverTiming?: boolean
  }
  /**
   * Refuses writes from pages of other sites. `false` turns the check off.
   * @default { origins: [] }
   */
  csrf?: Partial<CrossSiteConfig> | false
  /**
   * Maximum number of rows that a request reads to check them with `objectLevel` for a count, an aggregate or a numbered page. If there
   * are more rows, the response is 400.
   * @default 10000
   */
  objectLevelMaxRows?: number
  /**
   * Logs the text of a statement, without its values, that takes longer than this many milliseconds. `false` logs none.
   * @default 200 in development, false in production
   */
  slowStatements?: number | false
  /**
   * Explains in development why a request is refused, or why rows are missing: `?explain=true`, the command `nuxt-auto-api explain` and the
   * tab in Nuxt DevTools. A production build contains none of it.
   * @default true
   */
  explain?: boolean
  /** Fields that no response contains and no query can use. */
  hiddenFields?: Partial<HiddenFieldsConfig>
  /**
   * Number of your own proxies in front of the app; `true` means one proxy. The server reads the `X-Forwarded-For` and
   * `X-Forwarded-Host` headers only if this option is set.
   * @default false
   */
  trustProxy?: boolean | number
  /**
   * Plugins in the order in which they run. Each entry is the result of a factory, or the path of a file that exports one or more plugins.
   * @default []
   */
  plugins?: PluginListing | readonly PluginListing[]
  /**
   * Folder of the files that register resources, relative to the folder of the server. `false` turns them off.
   * @default 'resources'
   */
  resourcesDir?: string | false
  /**
   * Puts Drizzle and Zod into the bundle of the server, so that it starts faster. `false` leaves them to Nitro, which loads them from
   * `node_modules` on most platforms.
   * @default true
   */
  bundleDrizzle?: boolean
  /**
   * Has no effect.
   * @deprecated Pass the engine to `initializeDatabase(db, engine)`.
   */
  database?: unknown
}

export interface ResolvedOptions {
  readonly config: AutoApiConfig
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
}

/** The defaults of development that differ from those of production. */
const IN_DEVELOPMENT: readonly (readonly [path: string, value: unknown])[] = [
  ['http.strictParameters', 'warn'],
  ['http.serverTiming', true],
  ['slowStatements', 200],
]

/** Checks the options and adds the defaults. It skips removed options, because `removed.ts` reports them. */
export function resolveOptions(options: Readonly<Record<string, unknown>>, isDevelopment = false): ResolvedOptions {
  const problems: Problem[] = []
  const warnings: string[] = []
  const values = new Map<string, unknown>()
  const disabledGroups = new Set<string>()

  function readOptions(group: Readonly<Record<string, unknown>>, prefix: string) {
    for (const [key, value] of Object.entries(group)) {
      const path = prefix + key
      const where = `autoApi.${path}`
      const rule = Object.hasOwn(OPTION_RULES, path) ? OPTION_RULES[path] : undefined
      if (value === undefined || REMOVED_PATHS.has(where)) continue
      if (Object.hasOwn(IGNORED_OPTIONS, path)) warnings.push(`\`${where}\` ${IGNORED_OPTIONS[path]}`)
      else if (GROUPS.has(path)) readGroup(path, value)
      else if (!rule) reportUnknown(path, where)
      else if (rule.fits(value)) values.set(path, value)
      else problems.push({ where, what: `is ${inspect(value, { depth: 1, breakLength: Infinity })}`, instead: `Use ${rule.use}.` })
    }
  }

  function readGroup(path: string, value: unknown) {
    if (SWITCHABLE_GROUPS.has(path) && value === false) disabledGroups.add(path)
    else if (isObject(value)) readOptions(value, `${path}.`)
    else {
      const instead = 'Use an object; `{}` uses every default.'
      problems.push({ where: `autoApi.${path}`, what: `is ${inspect(value, { depth: 0 })}`, instead })
    }
  }

  function reportUnknown(path: string, where: string) {
    const suggestion = suggestOption(path)
    if (STRICT_GROUPS.has(path.split('.')[0]!)) problems.push({ where, what: 'is not an option', instead: suggestion || 'Remove it.' })
    else warnings.push(`\`${where}\` is not an option and has no effect.${suggestion && ` ${suggestion}`}`)
  }

  readOptions(options, '')
  if (isDevelopment) for (const [path, value] of IN_DEVELOPMENT) if (!values.has(path)) values.set(path, value)
  const config = toConfig(values, disabledGroups, isObject(options.multiTenancy))
  const { defaultLimit, maxLimit } = config.pagination
  if (defaultLimit > maxLimit) {
    problems.push({
      where: 'autoApi.pagination.defaultLimit',
      what: `is ${defaultLimit}, above \`maxLimit\` (${maxLimit})`,
      instead: 'Lower it, or raise `autoApi.pagination.maxLimit`.',
    })
  }
  return { config, problems, warnings }
}

/** Suggests the option with the closest path. If no path is close, it suggests the option of another group with the closest name. */
function suggestOption(path: string): string {
  const known = [...Object.keys(OPTION_RULES), ...GROUPS, 'plugins', 'resourcesDir']
  const closest = findClosest(path, known)
  if (closest !== undefined) return `Did you mean \`${closest}\`?`
  const nameOf = (option: string) => option.slice(option.lastIndexOf('.') + 1)
  const name = findClosest(nameOf(path), known.map(nameOf))
  return name === undefined ? '' : `Did you mean \`${known.find(option => nameOf(option) === name)!}\`?`
}

function toConfig(values: ReadonlyMap<string, unknown>, disabledGroups: ReadonlySet<string>, hasTenancy: boolean): AutoApiConfig {
  const withDefaults = <T extends object>(prefix: string, defaults: T): T =>
    Object.fromEntries(Object.entries(defaults).map(([key, value]) => {
      const given = values.get(prefix + key)
      return [key, (isSize(prefix + key) ? toBytes(given) : given) ?? value]
    })) as T

  const pagination = withDefaults('pagination.', DEFAULT_CONFIG.pagination)
  // If the app sets only `maxLimit`, the default page size must not exceed it.
  if (!values.has('pagination.defaultLimit')) pagination.defaultLimit = Math.min(pagination.defaultLimit, pagination.maxLimit)
  const multiTenancy = withDefaults('multiTenancy.', DEFAULT_MULTI_TENANCY)
  const { prefix, objectLevelMaxRows, slowStatements, trustProxy } = withDefaults('', {
    prefix: DEFAULT_CONFIG.prefix,
    objectLevelMaxRows: DEFAULT_CONFIG.objectLevelMaxRows,
    slowStatements: DEFAULT_CONFIG.slowStatements,
    trustProxy: DEFAULT_CONFIG.trustProxy,
  })
  return {
    prefix: prefix.replace(/\/$/, ''),
    pagination,
    multiTenancy: hasTenancy && multiTenancy.enabled && multiTenancy,
    filters: withDefaults('filters.', DEFAULT_CONFIG.filters),
    relations: withDefaults('relations.', DEFAULT_CONFIG.relations),
    aggregations: withDefaults('aggregations.', DEFAULT_CONFIG.aggregations),
    bulk: withDefaults('bulk.', DEFAULT_CONFIG.bulk),
    m2m: withDefaults('m2m.', DEFAULT_CONFIG.m2m),
    hookConfig: withDefaults('hookConfig.', DEFAULT_CONFIG.hookConfig),
    http: withDefaults('http.', DEFAULT_CONFIG.http),
    csrf: disabledGroups.has('csrf') ? false : withDefaults('csrf.', { origins: [] as string[] }),
    objectLevelMaxRows,
    slowStatements,
    hiddenFields: withDefaults('hiddenFields.', DEFAULT_CONFIG.hiddenFields),
    trustProxy,
  }
}
