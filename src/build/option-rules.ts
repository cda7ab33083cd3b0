/** Rules for the values of the module options. To add an option, add a row here, its type and its default. */
import { isObject } from '../runtime/shared/is-object'
import { flag, isName, isNames, positiveInteger, type OptionRule } from '../runtime/shared/option-rule'
import { toBytes } from '../runtime/shared/size'
import { UPGRADE_NOTES } from './problem'
import { REMOVED_OPTIONS } from './removed'

const originList: OptionRule = { fits: isOriginList, use: 'a list of origins such as `https://admin.example.com`, without a path' }
const size: OptionRule = { fits: value => toBytes(value) !== undefined, use: 'a number of bytes or a size such as `\'1mb\'`' }
const propertyName: OptionRule = { fits: isName, use: 'the name of a property' }

/** The rule of each option. The key is the path of the option inside `autoApi`. */
export const OPTION_RULES: Readonly<Record<string, OptionRule>> = {
  'prefix': {
    fits: value => typeof value === 'string' && /^(?:\/[\w~-][\w.~-]*)+\/?$/.test(value),
    use: 'a path such as `/api` that starts with a slash and has no parameters',
  },
  'pagination.default': { fits: value => value === 'offset' || value === 'cursor', use: '`\'offset\'` or `\'cursor\'`' },
  'pagination.defaultLimit': positiveInteger,
  'pagination.maxLimit': positiveInteger,
  'multiTenancy.enabled': flag,
  'multiTenancy.tenantIdField': propertyName,
  'multiTenancy.userTenantField': propertyName,
  'multiTenancy.scopedResources': { fits: value => value === '*' || isNames(value), use: '`\'*\'` or a list of resource names' },
  'multiTenancy.excludedResources': { fits: isNames, use: 'a list of resource names' },
  'filters.extended': flag,
  'relations.maxDepth': positiveInteger,
  'relations.maxIncludes': positiveInteger,
  'relations.maxRows': positiveInteger,
  'relations.maxBytes': size,
  'aggregations.enabled': flag,
  'aggregations.maxGroupByFields': positiveInteger,
  'bulk.enabled': flag,
  'bulk.maxBatchSize': positiveInteger,
  'bulk.transactional': flag,
  'm2m.autoDetect': flag,
  'm2m.relations': {
    fits: value => isObject(value) && Object.values(value).every(pair => isNames(pair) && pair.length === 2),
    use: 'the two resources each junction joins, such as `{ enrolments: [\'students\', \'courses\'] }`',
  },
  'hookConfig.timeout': positiveInteger,
  'hookConfig.afterErrors': { fits: value => value === 'throw' || value === 'log', use: '`\'throw\'` or `\'log\'`' },
  'http.maxBodySize': size,
  'http.maxResponseSize': size,
  'http.etag': flag,
  'http.strictParameters': { fits: value => value === 'warn' || typeof value === 'boolean', use: '`\'warn\'`, `true` or `false`' },
  'http.serverTiming': flag,
  'csrf.origins': originList,
  'objectLevelMaxRows': positiveInteger,
  'slowStatements': {
    fits: value => value === false || positiveInteger.fits(value),
    use: 'a number of milliseconds, or `false`',
  },
  'explain': flag,
  'bundleDrizzle': flag,
  'hiddenFields.global': { fits: isNames, use: 'a list of field names' },
  'trustProxy': {
    fits: value => typeof value === 'boolean' || positiveInteger.fits(value),
    use: '`true`, `false` or the number of proxies',
  },
  'hiddenFields.resources': {
    fits: value => isObject(value) && Object.values(value).every(isNames),
    use: 'a list of field names for each resource, such as `{ users: [\'passwordHash\'] }`',
  },
}

/** Whether the option is a size, which the config contains in bytes. */
export const isSize = (path: string): boolean => OPTION_RULES[path] === size

/** Options that have no effect. The build fits them and logs the text as a warning. */
export const IGNORED_OPTIONS: Readonly<Record<string, string>> = {
  database: `is ignored. Pass the engine to \`initializeDatabase(db, engine)\` instead. → ${UPGRADE_NOTES}#database`,
}

/** Options that contain other options: `pagination`, `multiTenancy`, … */
export const GROUPS = new Set(Object.keys(OPTION_RULES).filter(path => path.includes('.')).map(path => path.split('.')[0]!))
/** Groups that accept `false`, which turns the feature off. */
export const SWITCHABLE_GROUPS = new Set(['multiTenancy', 'csrf'])
/** Groups whose options protect the API. An unknown option in these groups fails the build; in other groups it is a warning. */
export const STRICT_GROUPS = new Set(['multiTenancy', 'csrf'])
/** Paths of removed options, which `removed.ts` reports. */
export const REMOVED_PATHS = new Set(REMOVED_OPTIONS.map(({ path }) => path))

function isOriginList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(text => typeof text === 'string' && URL.canParse(text) && isOrigin(text))
}

/**
 * Whether the text equals the `Origin` header that a browser sends. For the schemes of mobile apps and extensions, such as `capacitor:`,
 * `URL` returns the origin `'null'`, so the function checks their text itself.
 */
function isOrigin(text: string): boolean {
  const { origin, protocol } = new URL(text)
  return origin === 'null' ? protocol !== 'file:' && /^[a-z][a-z\d+.-]*:\/\/[^\s/?#@]+$/.test(text) : origin === text
}
