/** Resolves what a step refers to: a field of the record that an earlier step answers. */
import type { Field } from '../../../schema/field'
import { sampleOf } from '../../parse/samples'
import { invalidBody, quote, unknownField, validationFailed } from '../../error'
import { isObject } from '../../../../shared/is-object'
import type { Resource } from '../../../schema/model'
import type { LateReference } from '../../write/items'
import { knownValue } from '../../write/late'
import type { WritePart } from '../../write/parts'
import { refersToFailed } from '../../write/steps'
import { isReference, type GivenStep, type RecordReference } from './parse'

/** What the steps before the current one are: their parts by name, or that they were refused. */
export interface EarlierSteps {
  readonly parts: ReadonlyMap<string, WritePart | 'refused'>
  /** The names of all steps. */
  readonly names: ReadonlySet<string>
}

/** @throws `INVALID_BODY`, `UNKNOWN_FIELD` */
export function resolveReference({ $ref }: RecordReference, at: string, { parts, names }: EarlierSteps): LateReference {
  const dot = $ref.indexOf('.')
  const [name, field] = [$ref.slice(0, dot), $ref.slice(dot + 1)]
  if (dot < 1 || field === '') throw invalidBody(`\`${at}\`: \`$ref\` is \`name.field\`, not ${quote($ref)}.`)
  const part = parts.get(name)
  if (part === 'refused') throw refersToFailed()
  if (!part) {
    const reason = names.has(name) ? `the step ${quote(name)} is not before this one` : `no step has the name ${quote(name)}`
    throw invalidBody(`\`${at}\`: ${reason}.`)
  }
  const { selection } = part.plan
  const found = selection.byName.get(field)
  if (!found) throw unknownField('$ref', field, [...selection.byName.keys()], at)
  const reference: LateReference = { part, item: part.items[0]!, field: found }
  const known = knownValue(reference)
  return known ? { ...reference, early: known.value } : reference
}

export interface ResolvedData {
  /** The body, with a value in place of each reference. */
  readonly data: unknown
  readonly late: ReadonlyMap<string, LateReference>
}

const NONE: ReadonlyMap<string, LateReference> = new Map()

/**
 * Replaces the references in a body by their values, so that it can be validated. A value that is not known yet is stood in for by another
 * one of its type. Values of JSON columns are never references.
 */
export function resolveData({ data }: GivenStep, { fields }: Resource, earlier: EarlierSteps): ResolvedData {
  if (!isObject(data) || !Object.values(data).some(isReference)) return { data, late: NONE }
  const late = new Map<string, LateReference>()
  const entries = Object.entries(data).map(([name, value]): [string, unknown] => {
    const field = fields.get(name)
    if (!isReference(value) || !field || field.wire === 'json') return [name, value]
    const reference = resolveReference(value, `data.${name}`, earlier)
    late.set(name, reference)
    return [name, toJson(reference, field)]
  })
  return { data: Object.fromEntries(entries), late }
}

/** @throws `VALIDATION_FAILED` if the field has values of another type */
function toJson({ field, early }: LateReference, target: Field): unknown {
  if (early !== undefined) return field.toJson ? field.toJson(early) : early
  if (KINDS_OF_NUMBERS.has(field.wire) ? !KINDS_OF_NUMBERS.has(target.wire) : field.wire !== target.wire)
    throw validationFailed([{ path: [target.name], message: `Expected ${target.expected}.`, code: 'invalid_type' }])
  return sampleOf(target)
}

const KINDS_OF_NUMBERS: ReadonlySet<Field['wire']> = new Set<Field['wire']>(['integer', 'number', 'bigint'])
