/**
 * Checks a value against the JSON Schema of a request body, before the request is sent. Unknown keywords are ignored, because the server
 * checks every body again.
 */
import { isObject } from '../../shared/is-object'
import type { JsonSchema } from '../../shared/types/description'

/** A value that a schema does not accept. */
export interface SchemaIssue {
  readonly path: readonly (string | number)[]
  /** The keyword of the schema, such as `maxLength`; `required` for a missing value. */
  readonly keyword: string
  /** The value of the keyword, such as `40`. */
  readonly limit: unknown
  readonly value: unknown
  readonly message: string
}

type Path = SchemaIssue['path']
type IsType = (value: unknown) => boolean

const isAny: IsType = () => true
const isText: IsType = value => typeof value === 'string'
const isNumber: IsType = value => typeof value === 'number' && Number.isFinite(value)
const isList: IsType = value => Array.isArray(value)
const TYPES: Readonly<Record<string, IsType>> = {
  string: isText,
  number: isNumber,
  integer: Number.isInteger,
  boolean: value => typeof value === 'boolean',
  null: value => value === null,
  array: isList,
  object: isObject,
}

interface Rule {
  /** The values that the keyword checks. */
  readonly of: IsType
  readonly accepts: (value: never, limit: never) => boolean
  readonly message: (limit: unknown) => string
}

function rule<Value, Limit>(of: IsType, accepts: (value: Value, limit: Limit) => boolean, message: (limit: Limit) => string): Rule {
  return { of, accepts, message: message as Rule['message'] }
}

const characters = (count: number) => `${count} ${count === 1 ? 'character' : 'characters'}`
const entries = (count: number) => `${count} ${count === 1 ? 'entry' : 'entries'}`
const equals = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
const list = (values: readonly unknown[]) => values.map(value => typeof value === 'string' ? value : JSON.stringify(value)).join(', ')

/**
 * Keywords that compare a value with one limit, in the order in which they are checked. The first one that fails is reported.
 * Libraries count either code points or UTF-16 units, so a length is compared with the number that accepts more.
 */
const RULES: Readonly<Record<string, Rule>> = {
  enum: rule(isAny, (value, allowed: readonly unknown[]) => allowed.some(one => equals(one, value)), allowed => `One of: ${list(allowed)}`),
  const: rule(isAny, equals, value => `Expected ${list([value])}`),
  minLength: rule(isText, (value: string, min: number) => value.length >= min, min => `At least ${characters(min)}`),
  maxLength: rule(isText, (value: string, max: number) => [...value].length <= max, max => `At most ${characters(max)}`),
  format: rule(isText, (value: string, name: string) => FORMATS[name]?.(value) ?? true, name => `Not a valid ${NAMES[name] ?? name}`),
  pattern: rule(isText, matches, () => 'Not in the expected format'),
  minimum: rule(isNumber, (value: number, min: number) => value >= min, min => `At least ${min}`),
  maximum: rule(isNumber, (value: number, max: number) => value <= max, max => `At most ${max}`),
  exclusiveMinimum: rule(isNumber, (value: number, min: number) => value > min, min => `More than ${min}`),
  exclusiveMaximum: rule(isNumber, (value: number, max: number) => value < max, max => `Less than ${max}`),
  multipleOf: rule(isNumber, isMultiple, step => `Expected a multiple of ${step}`),
  minItems: rule(isList, (value: readonly unknown[], min: number) => value.length >= min, min => `At least ${entries(min)}`),
  maxItems: rule(isList, (value: readonly unknown[], max: number) => value.length <= max, max => `At most ${entries(max)}`),
}

/** Formats that are checked. A stricter pattern of the server's library comes with the schema. */
const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'email': text => /^[^\s@]+@[^\s@]+$/.test(text),
  'uri': text => URL.canParse(text),
  'date': text => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': text => /^\d{4}-\d{2}-\d{2}/.test(text) && !Number.isNaN(Date.parse(text)),
}

const NAMES: Readonly<Record<string, string>> = { 'email': 'email address', 'uri': 'URL', 'date-time': 'date and time' }

/** A pattern that this browser cannot read accepts every text. */
function matches(value: string, pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(value)
  }
  catch {
    return true
  }
}

/** Decimal fractions are not exact: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, step: number): boolean {
  const steps = value / step
  return Math.abs(steps - Math.round(steps)) < 1e-9 * Math.max(1, Math.abs(steps))
}

/** References of a schema to itself end with the value, so only a schema that references nothing but itself reaches this depth. */
const MAX_DEPTH = 64

/** Returns the issues of a value: at most one for each property or entry. */
export function findIssues(schema: JsonSchema, value: unknown, root = schema, path: Path = [], depth = 0): SchemaIssue[] {
  if (depth > MAX_DEPTH) return []
  const inside = (part: unknown, of: unknown, at: Path = path) =>
    isObject(part) ? findIssues(part, of, root, at, depth + 1) : part === false ? [issue('not', false, of, at, 'Not allowed')] : []
  const own = resolve(schema, root)
  const wrong = checkType(own, value, path) ?? checkRules(own, value, path)
  if (wrong) return [wrong]
  const found = [
    ...inProperties(own, value, path, inside),
    ...isList(value) ? inEntries(own, value as readonly unknown[], path, inside) : [],
    ...schemas(own.allOf).flatMap(part => inside(part, value)),
  ]
  if (found.length > 0) return found
  const branches = schemas(own.anyOf ?? own.oneOf)
  return branches.length > 0 ? inBranches(branches.map(branch => inside(branch, value)), branches, value, root) : []
}

type Inside = (schema: unknown, value: unknown, path?: Path) => SchemaIssue[]

const schemas = (value: unknown): readonly unknown[] => Array.isArray(value) ? value as unknown[] : []

const issue = (keyword: string, limit: unknown, value: unknown, path: Path, message: string): SchemaIssue =>
  ({ path, keyword, limit, value, message })

/** `#/$defs/Address` is a part of the root schema. Other references are not followed. */
function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  if (typeof schema.$ref !== 'string' || !schema.$ref.startsWith('#')) return schema
  const names = schema.$ref.split('/').slice(1).map(name => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'))
  const part = names.reduce<unknown>((value, name) => isObject(value) ? value[name] : undefined, root)
  return isObject(part) && part !== schema ? { ...part, ...schema, $ref: part.$ref } : schema
}

function checkType({ type }: JsonSchema, value: unknown, path: Path): SchemaIssue | undefined {
  const types = type === undefined ? [] : [type].flat() as readonly string[]
  if (types.length === 0 || types.some(name => TYPES[name]?.(value) ?? true)) return undefined
  return isEmpty(value)
    ? issue('required', true, value, path, REQUIRED)
    : issue('type', type, value, path, `Expected ${types.filter(name => name !== 'null').map(name => TYPE_NAMES[name]).join(' or ')}`)
}

const REQUIRED = 'Required'
const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text', number: 'a number', integer: 'a whole number', boolean: 'yes or no', array: 'a list', object: 'an object',
}

const isEmpty = (value: unknown) => value === undefined || value === null

function checkRules(schema: JsonSchema, value: unknown, path: Path): SchemaIssue | undefined {
  for (const [keyword, { of, accepts, message }] of Object.entries(RULES)) {
    const limit = schema[keyword]
    if (limit === undefined || !of(value) || accepts(value as never, limit as never)) continue
    return isEmpty(value) ? issue('required', true, value, path, REQUIRED) : issue(keyword, limit, value, path, message(limit))
  }
  return undefined
}

function inProperties({ properties = {}, required = [] }: JsonSchema, value: unknown, path: Path, inside: Inside): SchemaIssue[] {
  if (!isObject(value)) return []
  const missing = required.filter(name => value[name] === undefined)
  return [
    ...missing.map(name => issue('required', true, undefined, [...path, name], REQUIRED)),
    ...Object.entries(properties).flatMap(([name, part]) => value[name] === undefined ? [] : inside(part, value[name], [...path, name])),
  ]
}

function inEntries({ items, prefixItems }: JsonSchema, value: readonly unknown[], path: Path, inside: Inside): SchemaIssue[] {
  const first = schemas(prefixItems)
  return value.flatMap((entry, index) => inside(first[index] ?? items, entry, [...path, index]))
}

/** If no branch accepts a value, the issues are those of the first branch that accepts its type. Most schemas have one beside `null`. */
function inBranches(found: readonly SchemaIssue[][], branches: readonly unknown[], value: unknown, root: JsonSchema): SchemaIssue[] {
  if (found.some(issues => issues.length === 0)) return []
  const isNull = (branch: unknown) => isObject(branch) && resolve(branch, root).type === 'null'
  const typed = branches.findIndex(branch => isObject(branch) && checkType(resolve(branch, root), value, []) === undefined)
  return found[typed] ?? found[branches.findIndex(branch => !isNull(branch))] ?? found[0]!
}
