/** The module options: what each one accepts, and how the written ones become the resolved configuration. */
import { inspect } from 'node:util'
import type { AggregationsConfig, AutoApiConfig, BulkConfig, CrossSiteConfig, HookConfig, HiddenFieldsConfig, ManyToManyConfig, MultiTenancyConfig, PaginationConfig, RelationsConfig } from '../runtime/shared/config'
import { DEFAULT_CONFIG, DEFAULT_MULTI_TENANCY } from '../runtime/shared/defaults'
import type { PluginListing } from './plugins'
import type { Problem } from './problem'
import { GROUPS, IGNORED_OPTIONS, OPTION_RULES, REMOVED_PATHS, STRICT_GROUPS, SWITCHABLE_GROUPS, isPlainObject, toBytes } from './option-rules'
import { findClosest } from '../runtime/shared/suggest'

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
   * Path under which every route is mounted.
   * @default '/api'
   */
  prefix?: string
  pagination?: Partial<PaginationConfig>
  /**
   * On as soon as the key is set; `{}` takes every default.
   * @default false
   */
  multiTenancy?: Partial<MultiTenancyConfig> | false
  relations?: Partial<RelationsConfig>
  aggregations?: Partial<AggregationsConfig>
  bulk?: Partial<BulkConfig>
  m2m?: Partial<ManyToManyConfig>
  hookConfig?: Partial<HookConfig>
  http?: {
    /**
     * Largest JSON body: bytes, or a size such as `'512kb'` or `'2mb'`. A longer one is refused with 413.
     * @default '1mb'
     */
    maxBodySize?: number | string
  }
  /** Refuses writes that a page of another site sends; `false` leaves them to the app. */
  csrf?: Partial<CrossSiteConfig> | false
  /**
   * Rows a count, an aggregate or a page by number reads where `objectLevel` judges each one; beyond them it is a 400.
   * @default 10000
   */
  objectLevelMaxRows?: number
  hiddenFields?: Partial<HiddenFieldsConfig>
  /**
   * How many proxies of your own stand before the app; `true` is one. Only then is `X-Forwarded-For` read: by `rateLimit`, for whom a
   * request is counted.
   * @default false
   */
  trustProxy?: boolean | number
  /**
   * Plugins, in the order in which they run: made by a factory, or the path of a file that exports one or several.
   * @default []
   */
  plugins?: PluginListing | readonly PluginListing[]
  /**
   * Ignored.
   * @deprecated The engine is the second argument of `initializeDatabase(db, engine)`.
   */
  database?: unknown
}

export interface ResolvedOptions {
  readonly config: AutoApiConfig
  readonly problems: readonly Problem[]
  readonly warnings: readonly string[]
}

/** Checks the written options and fills in the defaults. Removed options are `removed.ts`'s to report. */
export function resolveOptions(options: Readonly<Record<string, unknown>>): ResolvedOptions {
  const problems: Problem[] = []
  const warnings: string[] = []
  const accepted = new Map<string, unknown>()
  const off = new Set<string>()

  function read(group: Readonly<Record<string, unknown>>, prefix: string) {
    for (const [key, value] of Object.entries(group)) {
      const path = prefix + key
      const where = `autoApi.${path}`
      if (value === undefined || REMOVED_PATHS.has(where)) continue
      if (Object.hasOwn(IGNORED_OPTIONS, path)) warnings.push(`\`${where}\` ${IGNORED_OPTIONS[path]}`)
      else if (GROUPS.has(path)) readGroup(path, value)
      else if (!Object.hasOwn(OPTION_RULES, path)) readUnknown(path, where)
      else if (OPTION_RULES[path]!.accepts(value)) accepted.set(path, value)
      else
        problems.push({ where, what: `is ${inspect(value, { depth: 1, breakLength: Infinity })}`, instead: `Use ${OPTION_RULES[path]!.use}.` })
    }
  }

  function readUnknown(path: string, where: string) {
    const meant = suggestOption(path)
    if (STRICT_GROUPS.has(path.split('.')[0]!)) problems.push({ where, what: 'is not an option', instead: meant || 'Remove it.' })
    else warnings.push(`\`${where}\` is not an option and has no effect.${meant && ` ${meant}`}`)
  }

  function readGroup(path: string, value: unknown) {
    if (SWITCHABLE_GROUPS.has(path) && value === false) {
      off.add(path)
      return
    }
    if (isPlainObject(value)) read(value, `${path}.`)
    else
      problems.push({
        where: `autoApi.${path}`,
        what: `is ${inspect(value, { depth: 0 })}`,
        instead: 'Use an object; `{}` takes every default.',
      })
  }

  read(options, '')
  const config = toConfig(accepted, off, isPlainObject(options.multiTenancy))
  if (config.pagination.defaultLimit > config.pagination.maxLimit) {
    problems.push({
      where: 'autoApi.pagination.defaultLimit',
      what: `is ${config.pagination.defaultLimit}, above \`maxLimit\` (${config.pagination.maxLimit})`,
      instead: 'Lower it, or raise `autoApi.pagination.maxLimit`.',
    })
  }
  return { config, problems, warnings }
}

/** The option with the closest path; else the one of another group with the closest name. */
function suggestOption(path: string): string {
  const known = [...Object.keys(OPTION_RULES), ...GROUPS, 'plugins']
  const closest = findClosest(path, known)
  if (closest !== undefined) return `Did you mean \`${closest}\`?`
  const nameOf = (option: string) => option.slice(option.lastIndexOf('.') + 1)
  const name = findClosest(nameOf(path), known.map(nameOf))
  return name === undefined ? '' : `Did you mean \`${known.find(option => nameOf(option) === name)!}\`?`
}

function toConfig(accepted: ReadonlyMap<string, unknown>, off: ReadonlySet<string>, hasTenancy: boolean): AutoApiConfig {
  const values = <T extends object>(group: string, defaults: T): T =>
    Object.fromEntries(Object.entries(defaults).map(([key, value]) => [key, accepted.get(group + key) ?? value])) as T

  const pagination = values('pagination.', DEFAULT_CONFIG.pagination)
  // Whoever only lowers the maximum means the default as well.
  if (!accepted.has('pagination.defaultLimit')) pagination.defaultLimit = Math.min(pagination.defaultLimit, pagination.maxLimit)
  const multiTenancy = values('multiTenancy.', DEFAULT_MULTI_TENANCY)
  const { prefix, objectLevelMaxRows, trustProxy } = values('', {
    prefix: DEFAULT_CONFIG.prefix,
    objectLevelMaxRows: DEFAULT_CONFIG.objectLevelMaxRows,
    trustProxy: DEFAULT_CONFIG.trustProxy,
  })
  return {
    prefix: prefix.replace(/\/$/, ''),
    pagination,
    multiTenancy: hasTenancy && multiTenancy.enabled && multiTenancy,
    relations: values('relations.', DEFAULT_CONFIG.relations),
    aggregations: values('aggregations.', DEFAULT_CONFIG.aggregations),
    bulk: values('bulk.', DEFAULT_CONFIG.bulk),
    m2m: values('m2m.', DEFAULT_CONFIG.m2m),
    hookConfig: values('hookConfig.', DEFAULT_CONFIG.hookConfig),
    http: { maxBodySize: toBytes(accepted.get('http.maxBodySize')) ?? DEFAULT_CONFIG.http.maxBodySize },
    csrf: off.has('csrf') ? false : values('csrf.', { origins: [] as string[] }),
    objectLevelMaxRows,
    hiddenFields: values('hiddenFields.', DEFAULT_CONFIG.hiddenFields),
    trustProxy,
  }
}
