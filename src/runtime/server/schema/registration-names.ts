/** Checks the names in a registration. Without this check, a mistyped name would have no effect: it would hide or protect no column. */
import type { AutoApiConfig } from '../../shared/config'
import { OPERATIONS } from '../../shared/operations'
import { AUTHORIZATION_KEYS, HOOK_KEYS, VALIDATION_KEYS } from '../../shared/registration-keys'
import { didYouMean } from '../../shared/suggest'
import type { FieldRule, ResourceAuth, ResourceHooks, ResourceRegistration, ResourceValidation, WireConversion } from '../registration'
import { sourceName, type TableFacts } from './drizzle/table'
import { runChecks } from './mistakes'
import { assertPermissionValues } from './permission-values'

const keysOf = <T extends object>(keys: Readonly<Record<keyof T & string, true>>): readonly string[] => Object.freeze(Object.keys(keys))

const AUTHORIZATION = keysOf<Required<ResourceAuth>>(AUTHORIZATION_KEYS)

const GATE = ['permissions']

const SOFT_DELETE = keysOf<Required<NonNullable<ResourceAuth['softDelete']>>>({ cascade: true, retentionDays: true })

const FIELD_RULE = keysOf<Required<FieldRule>>({ read: true, write: true, reference: true })

const VALIDATION = keysOf<Required<ResourceValidation>>(VALIDATION_KEYS)

const CONVERSION = keysOf<WireConversion>({ encode: true, decode: true })

const HOOKS = keysOf<Required<ResourceHooks>>(HOOK_KEYS)

type Part = 'schema' | 'authorization' | 'validation' | 'hooks' | 'wire' | 'computed' | 'relations'

/** A group of names in a registration, with the names that are valid in this group. */
interface NameGroup {
  /** The part of the registration that contains the names. */
  readonly part: Part
  /** The path in the registration, such as `authorization.permissions`. */
  readonly at: string
  readonly names: readonly string[]
  readonly known: readonly string[]
  /** The end of the error message, such as `is not an operation`. */
  readonly what: string
}

/** @throws An error with every unknown name; the message contains its path, its file and a suggestion. */
export function assertRegistrationNames(registration: ResourceRegistration, facts: TableFacts, config: AutoApiConfig): void {
  const { name } = registration
  const ofTable = facts.columns.map(({ name }) => name)
  const columns = [...ofTable, ...Object.keys(registration.computed ?? {})]
  const columnLists = {
    [`${name}.hiddenFields`]: registration.hiddenFields ?? [],
    [`${name}.authorization.fields`]: Object.keys(registration.authorization?.fields ?? {}),
    [`${name}.metadata.fields`]: Object.keys(registration.metadata?.fields ?? {}),
    [`autoApi.hiddenFields.resources.${name}`]: config.hiddenFields.resources[name] ?? [],
    [`${name}.wire`]: Object.keys(registration.wire ?? {}),
  }
  const storedLists = {
    [`${name}.key`]: [registration.key ?? []].flat(),
    [`${name}.protectedFields`]: registration.protectedFields ?? [],
    [`${name}.references`]: Object.keys(registration.references ?? {}),
  }
  const unknownIn = (lists: Readonly<Record<string, readonly string[]>>, known: readonly string[]) =>
    Object.entries(lists).flatMap(([where, names]) => names.filter(column => !known.includes(column)).map(unknown => () => {
      // The module options are in no file of the registration.
      const from = where.startsWith('autoApi.') ? {} : registration
      const sentence = `\`${where}\` names \`${unknown}\`, which is not a column of ${sourceName(facts)}`
      throw unknownName(sentence, from, 'schema', unknown, known)
    }))
  runChecks([
    () => assertExports(registration),
    () => assertPermissionValues(registration),
    () => assertMetadata(registration),
    () => assertConversions(registration),
    ...unknownIn(columnLists, columns),
    ...unknownIn(storedLists, ofTable),
    ...groupsOf(registration).flatMap(({ part, at, names, known, what }) => names.filter(key => !known.includes(key)).map(unknown => () => {
      throw unknownName(`\`${name}.${at}.${unknown}\` ${what}`, registration, part, unknown, known)
    })),
  ])
}

/** The server reads `label` and `fields` of the metadata. Other keys can have any value. */
function assertMetadata({ name, metadata: { label, fields = {} } = {} }: ResourceRegistration): void {
  const assertLabel = (at: string, value: unknown) => {
    if (value !== undefined && typeof value !== 'string') throw new Error(`[auto-api] \`${name}.metadata.${at}\` is not text.`)
  }
  const assertObject = (at: string, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new Error(`[auto-api] \`${name}.metadata.${at}\` is not an object.`)
  }
  assertLabel('label', label)
  assertObject('fields', fields)
  for (const [field, ofField] of Object.entries(fields as object)) {
    assertObject(`fields.${field}`, ofField)
    assertLabel(`fields.${field}.label`, (ofField as { readonly label?: unknown }).label)
  }
}

function groupsOf({ authorization, validation, hooks, wire = {} }: ResourceRegistration): NameGroup[] {
  const group = (part: Part, at: string, value: object | undefined, known: readonly string[], what: string): NameGroup => ({
    part,
    at,
    names: Object.keys(value ?? {}),
    known,
    what,
  })
  const ofAuthorization = (at: string, value: object | undefined, known: readonly string[], what: string) =>
    group('authorization', `authorization${at}`, value, known, what)
  const { permissions, softDelete, fields = {}, custom = {} } = authorization ?? {}
  return [
    ofAuthorization('', authorization, AUTHORIZATION, 'is not a property of an authorization'),
    ofAuthorization('.permissions', permissions, OPERATIONS, 'is not an operation'),
    ofAuthorization('.softDelete', softDelete, SOFT_DELETE, 'is not an option of `softDelete`'),
    ...Object.entries(fields).map(([name, rule]) => ofAuthorization(`.fields.${name}`, rule, FIELD_RULE, 'is not a rule of a field')),
    ...Object.entries(custom).map(([name, gate]) => ofAuthorization(`.custom.${name}`, gate, GATE, 'is not a property of a named gate')),
    ...Object.entries(custom).map(([name, gate]) =>
      ofAuthorization(`.custom.${name}.permissions`, gate?.permissions, OPERATIONS, 'is not an operation'),
    ),
    group('validation', 'validation', validation, VALIDATION, 'is not a body'),
    group('hooks', 'hooks', hooks, HOOKS, 'is not a hook'),
    ...Object.entries(wire).map(([name, conversion]) =>
      group('wire', `wire.${name}`, conversion, CONVERSION, 'is not a function of a column')),
  ]
}

function assertConversions({ name, wire = {} }: ResourceRegistration): void {
  for (const [column, conversion] of Object.entries(wire)) {
    const missing = CONVERSION.find(key => typeof (conversion as unknown as Partial<Record<string, unknown>> | null)?.[key] !== 'function')
    if (missing)
      throw new Error(`[auto-api] \`${name}.wire.${column}.${missing}\` is not a function. A column needs \`{ encode, decode }\`.`)
  }
}

/** An empty export would leave the resource without its rules. */
function assertExports({ name, from = {}, ...parts }: ResourceRegistration): void {
  for (const [key, file] of Object.entries(from)) {
    const value = parts[key as Part]
    if (value === undefined || value === null)
      throw new Error(
        `[auto-api] \`${name}.${key}\` (${file}) is ${String(value)}. Export a value, or remove the key from the registration.`,
      )
  }
}

function unknownName(
  sentence: string, { from }: Pick<ResourceRegistration, 'from'>, part: Part, unknown: string, known: readonly string[],
): Error {
  const file = from?.[part]
  const closest = didYouMean(unknown, known)
  return new Error(
    `[auto-api] ${sentence}${file === undefined ? '' : ` (${file})`}.`
    + (closest || ` It can be ${known.map(name => `\`${name}\``).join(', ')}.`),
  )
}
