/** Parses the steps of a batch: their shape, and the references of one step to the record of another. */
import { isObject } from '../../../../shared/is-object'
import { didYouMean } from '../../../../shared/suggest'
import { invalidBody, limitExceeded, quote } from '../../error'
import { requireJsonObject } from '../../parse/body'

export type StepOperation = 'create' | 'update' | 'delete' | 'restore'

/** A step as the client sent it. */
export interface GivenStep {
  /** The position in the batch. */
  readonly index: number
  readonly resource: string
  readonly operation: StepOperation
  readonly id?: string | number | RecordReference
  readonly data?: unknown
  readonly ifMatch?: unknown
  /** The name by which later steps refer to the record. */
  readonly as?: string
}

/** `{ "$ref": "order.id" }`: the field of the record of an earlier step. */
export interface RecordReference {
  readonly $ref: string
}

/** The keys of a step besides `resource` and `operation`, and whether they are required. */
const KEYS: Readonly<Record<StepOperation, Readonly<Record<string, boolean>>>> = {
  create: { data: true, as: false },
  update: { id: true, data: true, ifMatch: false, as: false },
  delete: { id: true, ifMatch: false },
  restore: { id: true, ifMatch: false, as: false },
}

const NAME = /^[a-z_]\w{0,63}$/i

/** @throws `INVALID_BODY` that names the step, `LIMIT_EXCEEDED` */
export function parseSteps(body: unknown, maxSteps: number): readonly GivenStep[] {
  const { steps, ...others } = requireJsonObject(body)
  const [other] = Object.keys(others)
  if (other !== undefined) throw invalidBody(`${quote(other)} is not a key of a batch. The body is \`{ steps }\`.`)
  if (!Array.isArray(steps) || steps.length === 0) throw invalidBody('`steps` is a list that is not empty.')
  if (steps.length > maxSteps) throw limitExceeded(`\`steps\` holds more than ${maxSteps} steps.`, 'steps')
  const names = new Set<string>()
  return steps.map((step: unknown, index) => {
    const parsed = parseStep(step, index)
    if (parsed.as !== undefined && names.has(parsed.as)) throw problem(index, `the name ${quote(parsed.as)} is given to an earlier step.`)
    if (parsed.as !== undefined) names.add(parsed.as)
    return parsed
  })
}

const problem = (index: number, message: string) => invalidBody(`\`steps[${index}]\`: ${message}`)

function parseStep(step: unknown, index: number): GivenStep {
  if (!isObject(step)) throw problem(index, 'a step is an object.')
  const { resource, operation, id, data, ifMatch, as } = step as Readonly<Record<string, unknown>>
  if (typeof resource !== 'string') throw problem(index, '`resource` is the name of a resource.')
  const operations = Object.keys(KEYS)
  if (typeof operation !== 'string' || !operations.includes(operation))
    throw problem(index, `\`operation\` is one of ${operations.join(', ')}.${didYouMean(String(operation), operations)}`)
  const keys = KEYS[operation as StepOperation]
  const known = ['resource', 'operation', ...Object.keys(keys)]
  const unknown = Object.keys(step).find(key => !known.includes(key))
  if (unknown !== undefined) throw problem(index, `${quote(unknown)} is not a key of this step.${didYouMean(unknown, known)}`)
  const missing = Object.keys(keys).find(key => keys[key] && !Object.hasOwn(step, key))
  if (missing !== undefined) throw problem(index, `\`${missing}\` is missing.`)
  if (keys.id && !isId(id)) throw problem(index, '`id` is a string, a number, or `{ "$ref": "name.field" }`.')
  if (as !== undefined && (typeof as !== 'string' || !NAME.test(as)))
    throw problem(index, '`as` is a name of at most 64 letters, digits and underscores.')
  return { index, resource, operation: operation as StepOperation, id: id as GivenStep['id'], data, ifMatch, ...as !== undefined && { as } }
}

const isId = (id: unknown) => typeof id === 'string' || typeof id === 'number' || isReference(id)

/** Whether a value is a reference. An object with further keys is a value like any other. */
export const isReference = (value: unknown): value is RecordReference =>
  isObject(value) && typeof (value as { readonly $ref?: unknown }).$ref === 'string' && Object.keys(value).length === 1
