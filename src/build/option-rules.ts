/** Rules for the values of the module options. To add an option, add a row here, its type and its default. */
import { isObject } from '../runtime/shared/is-object'
import { toBytes } from '../runtime/shared/size'
import { UPGRADE_NOTES } from './problem'
import { REMOVED_OPTIONS } from './removed'

interface OptionRule {
  readonly accepts: (value: unknown) => boolean
  /** The accepted values, as the end of the sentence "Use …". */
  readonly use: string
}

const positiveInteger: OptionRule = { accepts: value => Number.isSafeInteger(value) && Number(value) > 0, use: 'a positive integer' }
const flag: OptionRule = { accepts: value => typeof value === 'boolean', use: '`true` or `false`' }
const originList: OptionRule = { accepts: isOriginList, use: 'a list of origins such as `https://admin.example.com`, without a path' }
const size: OptionRule = { accepts: value => toBytes(value) !== undefined, use: 'a number of bytes or a size such as `\'1mb\'`' }
const propertyName: OptionRule = { accepts: isName, use: 'the name of a property' }

/** The rule of each option. The key is the path of the option inside `autoApi`. */
export const OPTION_RULES: Readonly<Record<string, OptionRule>> = {
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
  'relations.maxBytes': size,
  'aggregations.enabled': flag,
  'aggregations.maxGroupByFields': positiveInteger,
  'bulk.enabled': flag,
  'bulk.maxBatchSize': positiveInteger,
  'bulk.transactional': flag,
  'm2m.autoDetect': flag,
  'm2m.relations': {
    accepts: value => isObject(value) && Object.values(value).every(pair => isNameList(pair) && (pair as string[]).length === 2),
    use: 'the two resources each junction joins, such as `{ enrolments: [\'students\', \'courses\'] }`',
  },
  'hookConfig.timeout': positiveInteger,
  'hookConfig.afterErrors': { accepts: value => value === 'throw' || value === 'log', use: '`\'throw\'` or `\'log\'`' },
  'http.maxBodySize': size,
  'http.maxResponseSize': size,
  'http.etag': flag,
  'http.strictParameters': { accepts: value => value === 'warn' || typeof value === 'boolean', use: '`\'warn\'`, `true` or `false`' },
  'csrf.origins': originList,
  'objectLevelMaxRows': positiveInteger,
  'bundleDrizzle': flag,
  'hiddenFields.global': { accepts: isNameList, use: 'a list of field names' },
  'trustProxy': {
    accepts: value => typeof value === 'boolean' || positiveInteger.accepts(value),
    use: '`true`, `false` or the number of proxies',
  },
  'hiddenFields.resources': {
    accepts: value => isObject(value) && Object.values(value).every(isNameList),
    use: 'a list of field names for each resource, such as `{ users: [\'passwordHash\'] }`',
  },
}

/** Whether the option is a size, which the config contains in bytes. */
export const isSize = (path: string): boolean => OPTION_RULES[path] === size

/** Options that have no effect. The build accepts them and logs the text as a warning. */
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

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isNameList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isName)
}
