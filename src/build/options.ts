/** The module options: what each one accepts, and how the written ones become the resolved configuration. */
import { inspect } from 'node:util'
import {
  DEFAULT_CONFIG,
  DEFAULT_MULTI_TENANCY,
  type AggregationsConfig,
  type AutoApiConfig,
  type BulkConfig,
  type CrossSiteConfig,
  type HookConfig,
  type HiddenFieldsConfig,
  type ManyToManyConfig,
  type MultiTenancyConfig,
  type PaginationConfig,
  type RelationsConfig,
} from '../runtime/shared/config'
import type { PluginListing } from './plugins'
import type { Problem } from './problem'
import { REMOVED_OPTIONS } from './removed'
import { didYouMean, findClosest } from './suggest'

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

interface OptionRule {
  readonly accepts: (value: unknown) => boolean
  /** Completes "Use …." */
  readonly use: string
}

const positiveInteger: OptionRule = { accepts: value => Number.isSafeInteger(value) && Number(value) > 0, use: 'a positive integer' }
const flag: OptionRule = { accepts: value => typeof value === 'boolean', use: '`true` or `false`' }
const origin: OptionRule = { accepts: isOriginList, use: 'a list of origins such as `https://admin.example.com`, without a path' }
const size: OptionRule = { accepts: value => toBytes(value) !== undefined, use: 'a number of bytes or a size such as `\'1mb\'`' }
const propertyName: OptionRule = { accepts: isName, use: 'the name of a property' }

/** Every option in force. To add one, add its row here, its type and its default. */
const OPTIONS: Readonly<Record<string, OptionRule>> = {
  'prefix': {
    accepts: value => typeof value === 'string' && /^(?:\/[\w~-][\w.~-]*)+\/?$/.test(value),
    use: 'a path such as `/api` that starts with a slash and has no parameters',
  },
  'pagination.default': { accepts: value => value === 'offset' || value === 'cursor', use: '`\'offset\'` or `\'cursor\'`' },
  'pagination.defaultLimit': positiveInteger,
  'pagination.maxLimit': positiveInteger,
  'multiTenancy.enabled': flag,
  'multiTenancy.tenantIdField': propertyName,
  'multiTenancy.userTenantField': propertyName,
  'multiTenancy.scopedResources': { accepts: value => value === '*' || isNameList(value), use: '`\'*\'` or a list of resource names' },
  'multiTenancy.excludedResources': { accepts: isNameList, use: 'a list of resource names' },
  'relations.maxDepth': positiveInteger,
  'relations.maxIncludes': positiveInteger,
  'relations.maxRows': positiveInteger,
  'aggregations.enabled': flag,
  'aggregations.maxGroupByFields': positiveInteger,
  'bulk.enabled': flag,
  'bulk.maxBatchSize': positiveInteger,
  'bulk.transactional': flag,
  'm2m.autoDetect': flag,
  'm2m.relations': {
    accepts: value => isPlainObject(value) && Object.values(value).every(pair => isNameList(pair) && (pair as string[]).length === 2),
    use: 'the two resources each junction joins, such as `{ enrolments: [\'students\', \'courses\'] }`',
  },
  'hookConfig.timeout': positiveInteger,
  'hookConfig.afterErrors': { accepts: value => value === 'throw' || value === 'log', use: '`\'throw\'` or `\'log\'`' },
  'http.maxBodySize': size,
  'csrf.origins': origin,
  'objectLevelMaxRows': positiveInteger,
  'hiddenFields.global': { accepts: isNameList, use: 'a list of field names' },
  'trustProxy': {
    accepts: value => typeof value === 'boolean' || positiveInteger.accepts(value),
    use: '`true`, `false` or the number of proxies',
  },
  'hiddenFields.resources': {
    accepts: value => isPlainObject(value) && Object.values(value).every(isNameList),
    use: 'a list of field names for each resource, such as `{ users: [\'passwordHash\'] }`',
  },
}

/** Options that are still accepted and have no effect: what the warning says. */
const IGNORED: Readonly<Record<string, string>> = {
  database:
    'is ignored. The engine is the second argument of `initializeDatabase(db, engine)`. → node_modules/nuxt-auto-api/docs/upgrading.md#database',
}

const GROUPS = new Set(Object.keys(OPTIONS).filter(path => path.includes('.')).map(path => path.split('.')[0]!))
/** Groups that `false` turns off. */
const SWITCHES = new Set(['multiTenancy', 'csrf'])
/** Groups in which a mistyped option would leave the API open. */
const STRICT = new Set(['multiTenancy', 'csrf'])
const REMOVED = new Set(REMOVED_OPTIONS.map(({ path }) => path))

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
      if (value === undefined || REMOVED.has(where)) continue
      if (Object.hasOwn(IGNORED, path)) warnings.push(`\`${where}\` ${IGNORED[path]}`)
      else if (GROUPS.has(path)) readGroup(path, value)
      else if (!Object.hasOwn(OPTIONS, path)) readUnknown(path, where)
      else if (OPTIONS[path]!.accepts(value)) accepted.set(path, value)
      else
        problems.push({ where, what: `is ${inspect(value, { depth: 1, breakLength: Infinity })}`, instead: `Use ${OPTIONS[path]!.use}.` })
    }
  }

  function readUnknown(path: string, where: string) {
    const meant = suggestOption(path)
    if (STRICT.has(path.split('.')[0]!)) problems.push({ where, what: 'is not an option', instead: meant || 'Remove it.' })
    else warnings.push(`\`${where}\` is not an option and has no effect.${meant && ` ${meant}`}`)
  }

  function readGroup(path: string, value: unknown) {
    if (SWITCHES.has(path) && value === false) {
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
  const known = [...Object.keys(OPTIONS), ...GROUPS, 'plugins']
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

/**
 * Checks the resource names that options mention, once the resources are known. A mistyped name would silently leave the
 * meant resource open to every tenant, or its hidden fields readable.
 */
export function checkResourceNames({ multiTenancy, hiddenFields }: AutoApiConfig, registered: readonly string[]): Problem[] {
  const { scopedResources, excludedResources } = multiTenancy || { scopedResources: [], excludedResources: [] }
  const scoped = scopedResources === '*' ? [] : scopedResources
  const mentions = [
    ...scoped.map((name, index) => ({ where: `multiTenancy.scopedResources[${index}]`, name })),
    ...excludedResources.map((name, index) => ({ where: `multiTenancy.excludedResources[${index}]`, name })),
    ...Object.keys(hiddenFields.resources).map(name => ({ where: `hiddenFields.resources.${name}`, name })),
  ]
  const unknown = mentions.filter(({ name }) => !registered.includes(name)).map(({ where, name }) => ({
    where: `autoApi.${where}`,
    what: `names \`${name}\`, which is not a registered resource`,
    instead: `Name a registered resource.${didYouMean(name, registered)}`,
  }))
  const contradicting = excludedResources.flatMap((name, index) =>
    scoped.includes(name)
      ? {
          where: `autoApi.multiTenancy.excludedResources[${index}]`,
          what: `names \`${name}\`, which \`scopedResources\` lists as well`,
          instead: 'Keep it in one of the two lists.',
        }
      : [],
  )
  return [...unknown, ...contradicting]
}

const UNITS: Readonly<Record<string, number>> = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 }

/** Whole bytes of a size that is written as a number or with a unit; `undefined` for anything else. */
function toBytes(value: unknown): number | undefined {
  const [, digits, unit = 'b'] = typeof value === 'string' ? /^(\d+(?:\.\d+)?) ?([kmg]?b)?$/i.exec(value) ?? [] : []
  const bytes = digits === undefined ? value : Math.floor(Number(digits) * UNITS[unit.toLowerCase()]!)
  return positiveInteger.accepts(bytes) ? bytes as number : undefined
}

/** As browsers send them. Apps in a shell of their own have schemes such as `capacitor:`, whose origin `URL` does not tell. */
function isOriginList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(text => typeof text === 'string' && URL.canParse(text) && isOrigin(text))
}

function isOrigin(text: string): boolean {
  const { origin, protocol } = new URL(text)
  return origin === 'null' ? protocol !== 'file:' && /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@]+$/.test(text) : origin === text
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isNameList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isName)
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
