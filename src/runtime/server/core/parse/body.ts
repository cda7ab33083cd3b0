/** Parses the body of a write: rejects unknown keys and invalid values, and drops columns that only the server sets. */
import { isObject } from '../../../shared/is-object'
import { andThen, type Awaitable } from '../awaitable'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { LIMITS } from '../../../shared/limits'
import { didYouMean } from '../../../shared/suggest'
import { INVALID } from '../../../shared/wire'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import type { BodySchema } from '../../schema/validation'
import { invalidBody, invalidValue, quote, validationFailed, type Issue } from '../error'
import type { Selection } from '../access/fields'
import { isDeeper } from './params'
import { toIssues } from './standard-schema'

export type BodyKind = 'create' | 'update'

export interface WriteData {
  /** The values by field name, in the types that Drizzle expects. Keys without a column are for hooks. */
  readonly values: Readonly<Record<string, unknown>>
  /** The keys that the schema returned. The API checks field rules and references for these keys. */
  readonly sent: readonly string[]
  /** The keys in the client's JSON. */
  readonly given: readonly string[]
}

/** Leaves out the values of some fields. */
export function withoutFields({ values, sent, given }: WriteData, isLeftOut: (name: string) => boolean): WriteData {
  const kept: Record<string, unknown> = {}
  for (const name of Object.keys(values)) if (!isLeftOut(name)) kept[name] = values[name]
  return { values: kept, sent: sent.filter(name => !isLeftOut(name)), given: given.filter(name => !isLeftOut(name)) }
}

const NONE: ReadonlySet<string> = new Set()

/**
 * Returns a promise only if the app provides the schema, or if there are issues.
 * @param readable returns the fields that the caller can read; only called to report issues
 * @param reservedIds path segments of other routes, which cannot be ids of new records
 * @param canSuggest whether the next unknown key can have a suggestion: each compares the names of all fields
 * @throws `INVALID_BODY`, `VALIDATION_FAILED` with all issues
 */
export function parseData(
  body: unknown, resource: Resource, kind: BodyKind, readable: () => Awaitable<Selection>, reservedIds: ReadonlySet<string> = NONE,
  canSuggest: () => boolean = () => true,
): Awaitable<WriteData> {
  const object = requireJsonObject(body)
  const schema = resource.schemas[kind]
  const given = Object.keys(object)
  const unknown: string[] = []
  const kept: string[] = []
  for (const key of given) {
    if (!resource.fields.has(key) && !schema.hasKey(key)) unknown.push(key)
    else if (!resource.dropped[kind].has(key)) kept.push(key)
  }
  const finish = ({ values, issues }: Validated): Awaitable<WriteData> => {
    if (unknown.length > 0 || issues.length > 0) return refuse(unknown, issues, resource, kind, readable, canSuggest)
    if (kind === 'create') assertReachable(values, resource, reservedIds)
    return { values, sent: Object.keys(values), given }
  }
  const validated = schema.generated
    ? validateGenerated(object, kept, resource, schema)
    : validateCustom(Object.fromEntries(kept.map(key => [key, object[key]])), resource, schema, kind)
  return andThen(validated, finish)
}

/** @throws `VALIDATION_FAILED` */
async function refuse(
  unknown: readonly string[], issues: readonly Issue[], resource: Resource, kind: BodyKind, readable: () => Awaitable<Selection>,
  canSuggest: () => boolean,
): Promise<never> {
  const selection = await readable()
  const reported = onlyReadable(issues, resource, selection)
  const known = [...selection.byName.keys()].filter(name => resource.writable[kind].has(name))
  throw validationFailed([...unknown.map(key => unknownKey(key, canSuggest() ? known : [])), ...reported])
}

const unknownKey = (key: string, known: readonly string[]): Issue =>
  ({ path: [key], message: `Unknown field ${quote(key)}.${didYouMean(key, known)}`, code: 'unrecognized_keys' })

/** The issues of fields that the caller cannot read become one issue without a name and without values. */
function onlyReadable(issues: readonly Issue[], { fields }: Resource, { byName }: Selection): readonly Issue[] {
  const reported = issues.filter(({ path: [name] }) => !fields.has(String(name)) || byName.has(String(name)))
  if (reported.length === issues.length) return issues
  return [...reported, { path: [], message: 'A value is missing or not valid.', code: 'invalid' }]
}

/** Path segments that URL parsers remove. */
const UNREACHABLE: ReadonlySet<string> = new Set(['', '.', '..'])

/** Refuses an id that cannot be in the URL of a record. Otherwise a client could create the record, but never read it. */
function assertReachable(values: Readonly<Record<string, unknown>>, { primaryKey }: Resource, reservedIds: ReadonlySet<string>): void {
  const [field] = primaryKey
  const id = primaryKey.length === 1 ? values[field!.name] : undefined
  if (typeof id === 'string' && (reservedIds.has(id) || UNREACHABLE.has(id)))
    throw invalidValue(field!.name, `${quote(id)} cannot be an id: no path leads to it.`)
}

export function requireJsonObject(body: unknown): Record<string, unknown> {
  if (!isObject(body)) throw invalidBody('The body is not a JSON object.')
  assertDepth(body)
  return body
}

/** @throws `INVALID_BODY` for JSON that could overflow the stack of a validator. */
export function assertDepth(body: unknown): void {
  if (isDeeper(body, LIMITS.bodyDepth)) throw invalidBody(`The body is nested deeper than ${LIMITS.bodyDepth} levels.`)
}

interface Validated { readonly values: Record<string, unknown>, readonly issues: readonly Issue[] }

/** Converts the JSON values before validation, because a generated schema expects dates and bigints, not their text. */
function validateGenerated(
  object: Readonly<Record<string, unknown>>, names: readonly string[], { fields }: Resource, { standard }: BodySchema,
): Awaitable<Validated> {
  const values: Record<string, unknown> = {}
  const conversionIssues: Issue[] = []
  for (const key of names) {
    const json = object[key]
    const field = fields.get(key)!
    const value = json === null ? null : field.fromWire(json)
    if (value === INVALID) conversionIssues.push(wrongType(field, json))
    values[key] = value === INVALID ? json : value
  }
  const validated = standard['~standard'].validate(values)
  return andThen(validated, result => withConversionIssues(result, conversionIssues))
}

function withConversionIssues(result: StandardSchemaV1.Result<unknown>, conversionIssues: readonly Issue[]): Validated {
  if (!result.issues && conversionIssues.length === 0) return { values: result.value as Record<string, unknown>, issues: NO_ISSUES }
  const unconverted = new Set(conversionIssues.map(({ path }) => path[0]))
  return { values: {}, issues: [...conversionIssues, ...toIssues(result.issues).filter(({ path }) => !unconverted.has(path[0]!))] }
}

const NO_ISSUES: readonly Issue[] = []

/** A schema of the app receives the JSON unchanged. Its output is converted to the types of the columns. */
async function validateCustom(
  input: Record<string, unknown>,
  { fields, dropped }: Resource,
  schema: BodySchema,
  kind: BodyKind,
): Promise<Validated> {
  const result = await schema.standard['~standard'].validate(input)
  if (result.issues) return { values: {}, issues: toIssues(result.issues) }
  const output = requireJsonObject(result.value)
  const values: Record<string, unknown> = {}
  const issues: Issue[] = []
  for (const [key, returned] of Object.entries(output)) {
    // The output of the schema still comes from the client, so dropped columns stay dropped.
    if (returned === undefined || dropped[kind].has(key)) continue
    if (!(key in input) && schema.isDefault(key, returned)) continue
    const field = fields.get(key)
    const value = !field || returned === null || field.fits(returned) ? returned : field.fromJson(returned)
    if (value === INVALID) issues.push(wrongType(field!, returned))
    else values[key] = value
  }
  return { values, issues }
}

function wrongType(field: Field, value: unknown): Issue {
  if (containsNul(value)) return { path: [field.name], message: 'A value cannot contain NUL characters.', code: 'invalid_format' }
  return { path: [field.name], message: `Expected ${field.expected}.`, code: 'invalid_type' }
}

/** Whether the value contains a NUL character. Also checks the keys and values inside JSON. */
function containsNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0')
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([key, child]) => key.includes('\0') || containsNul(child))
}
