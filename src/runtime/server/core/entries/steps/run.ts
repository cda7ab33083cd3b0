/** Several writes in one commit: each step has the rules of a request of its own, and either all of them take effect or none. */
import type { Resource } from '../../../schema/model'
import { INVALID } from '../../../schema/field'
import { toKey, type Key } from '../../../schema/record-id'
import { authorize, callFor } from '../../access/authorize'
import { applyScope, type Scoped } from '../../access/row-scope'
import { isObject } from '../../../../shared/is-object'
import { ApiError, invalidBody, methodNotAllowed, notFound } from '../../error'
import { toIfMatch, assertOptional } from '../../parse/if-match'
import { parseItem, type WriteItem } from '../../parse/write'
import { planCreate, planDelete, planRestore, planUpdate, type WritePlan } from '../../plan/write'
import { toRequestError } from '../../read/rows/invalid-value'
import type { Call, Session } from '../../request/session'
import { jsonSize } from '../../process/size'
import { markSteps } from '../../request/step'
import { bulkFailed, type ItemFailure } from '../../write/bulk-error'
import { countAffected } from '../../write/count-affected'
import { itemContexts } from '../../write/hooks'
import { toItems, type LateReference } from '../../write/items'
import { converted, generatedId } from '../../write/late'
import { childParts, countFrom } from '../../write/nested'
import { toPart, type WritePart } from '../../write/parts'
import { runWrite } from '../../write/run'
import { STEPS } from '../../write/steps'
import type { WriteResult } from '../../write/result'
import { createdRecord, deletion, writtenRecord } from '../respond'
import { isReference, type GivenStep, type RecordReference, type StepOperation } from './parse'
import { resolveData, resolveReference, type EarlierSteps } from './references'

const PLANS = { create: planCreate, update: planUpdate, delete: planDelete, restore: planRestore } as const

const RESPONSES: Readonly<Record<StepOperation, (result: WriteResult, call: Call) => { readonly body: unknown }>> = {
  create: createdRecord, update: writtenRecord, restore: writtenRecord, delete: deletion,
}

/**
 * Runs the steps in one commit.
 * @returns what each step would answer as a request of its own, in the order of the steps
 * @throws `BULK_FAILED` with the steps that fail
 */
export async function runSteps(steps: readonly GivenStep[], session: Session): Promise<readonly unknown[]> {
  markSteps(session.ctx)
  const names = new Set(steps.flatMap(({ as }) => as ?? []))
  const byName = new Map<string, WritePart | 'refused'>()
  const parts: WritePart[] = []
  const all: WritePart[] = []
  const refused: ItemFailure[] = []
  for (const step of steps) {
    let part: WritePart | undefined
    try {
      const own = await toStep(step, session, { parts: byName, names })
      // The children of a step are written before the next step.
      all.push(own, ...await childParts(own, countFrom(step.index + PER_CHILD, PER_CHILD)))
      parts.push(part = own)
    }
    catch (error) {
      if (!(error instanceof ApiError)) throw error
      refused.push({ index: step.index, ...isGivenId(step.id) && { id: step.id }, error, ctx: session.ctx })
    }
    if (step.as !== undefined) byName.set(step.as, part ?? 'refused')
  }
  const [first] = parts
  try {
    if (!first) throw bulkFailed('nothing was written', refused)
    const call = { ...first.call, ctx: session.ctx }
    const results = await runWrite(all, {}, STEPS, { plan: first.plan, call, refused })
    const answers: unknown[] = []
    // One after another, because a dry run counts rows.
    for (const part of parts) answers.push(await answerOf(results[all.indexOf(part)]!, part))
    return withinSize(answers, parts, session)
  }
  catch (error) {
    throw namesSteps(first ? await toRequestError(error, first.plan, first.call) : error)
  }
}

/** The difference of the indexes of two children: a step has fewer than a thousand. */
const PER_CHILD = 0.001

const isGivenId = (id: GivenStep['id']): id is string | number => id !== undefined && !isReference(id)

/** @throws The error that a request of its own would have before its row is read. */
async function toStep(step: GivenStep, session: Session, earlier: EarlierSteps): Promise<WritePart> {
  const resource = session.api.resources.get(step.resource)
  if (!resource) throw notFound()
  if (resource.disabled.has(step.operation)) throw methodNotAllowed([])
  const call = callFor(session, resource, step.operation)
  await authorize(call, resource, [step.operation])
  const lateKey = isReference(step.id) ? keyReference(step.id, step.operation, resource, earlier) : undefined
  const { item, late } = await toItem(step, lateKey ? knownKey(lateKey, resource) : givenKey(step, resource), call, earlier)
  const plan = await PLANS[step.operation]({ items: [item], bulk: true }, call)
  const scoped: Scoped<WritePlan> = await applyScope<WritePlan>(call, { ...plan, atomic: true }, step.operation)
  const items = toItems(scoped, itemContexts(scoped, call))
    .map(item => ({ ...item, index: step.index, ...late.size > 0 && { late }, ...lateKey && { lateKey } }))
  return { ...toPart(scoped, call, items), isStep: true }
}

function keyReference(
  id: RecordReference, operation: StepOperation, { primaryKey, name }: Resource, earlier: EarlierSteps,
): LateReference {
  if (primaryKey.length > 1) throw invalidBody(`\`id\`: \`$ref\` is one field, and the id of \`${name}\` has ${primaryKey.length}.`)
  const reference = resolveReference(id, 'id', earlier)
  if (operation !== 'update' && reference.early === undefined) throw generatedId()
  return reference
}

/** A hook of the step that the reference names can still replace the key. */
function knownKey({ early, field }: LateReference, { primaryKey: [key] }: Resource): Key | undefined {
  if (early === undefined) return undefined
  const value = converted(early, field, key!)
  if (value === INVALID || value === null) throw notFound()
  return [value]
}

function givenKey({ id }: GivenStep, resource: Resource): Key | undefined {
  if (!isGivenId(id)) return undefined
  const key = toKey(resource, String(id))
  if (!key) throw notFound()
  return key
}

async function toItem(
  step: GivenStep, key: Key | undefined, call: Call, earlier: EarlierSteps,
): Promise<{ readonly item: WriteItem, readonly late: ReadonlyMap<string, LateReference> }> {
  const { resource } = call
  const { operation, id } = step
  if (operation !== 'create' && step.ifMatch === undefined) assertOptional(resource)
  const base = {
    ...key && { key }, ...isGivenId(id) && { id }, ...step.ifMatch !== undefined && { ifMatch: toIfMatch(step.ifMatch, 'ifMatch') },
  }
  if (operation === 'delete' || operation === 'restore') return { item: base, late: new Map() }
  const { data, late } = resolveData(step, resource, earlier)
  const parsed = await parseItem(data, call, operation)
  if (parsed.error) throw parsed.error
  const isUnknown = (name: string) => late.has(name) && late.get(name)!.early === undefined
  const values = Object.fromEntries(Object.entries(parsed.data!.values).filter(([name]) => !isUnknown(name)))
  const known = [...late].map(([name, reference]): [string, LateReference] =>
    [name, isUnknown(name) ? reference : { ...reference, early: values[name] }])
  return { item: { ...parsed, ...base, data: { ...parsed.data!, values } }, late: new Map(known) }
}

/** A dry run of a delete or a restore counts the rows that it would change. */
async function answerOf(result: WriteResult, part: WritePart): Promise<unknown> {
  const { plan, call, items } = part
  const { kind } = plan
  const affected = call.ctx.dryRun && (kind === 'delete' || kind === 'restore') ? await countAffected([{ plan, items }], call) : undefined
  return RESPONSES[kind as StepOperation](affected ? { ...result, affected } : result, call).body
}

/** A write cannot be refused for the size of its result, because it is done. Records that are too large contain only their key. */
function withinSize(answers: readonly unknown[], parts: readonly WritePart[], { api: { config } }: Session): readonly unknown[] {
  const max = config.http.maxResponseSize
  if (jsonSize(answers, max) <= max) return answers
  return answers.map((answer, index) => {
    const { kind, resource } = parts[index]!.plan
    if (kind === 'delete' || !isObject(answer)) return answer
    const keys = new Set(resource.primaryKey.map(({ name }) => name))
    return Object.fromEntries(Object.entries(answer).filter(([name]) => keys.has(name)))
  })
}

function namesSteps(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.data.code !== 'BULK_FAILED') return error
  const { errors } = error.data as unknown as { readonly errors: readonly { readonly index: number }[] }
  const steps = errors.map(({ index, ...failure }) => ({ step: index, ...failure })).sort((a, b) => a.step - b.step)
  const first = (steps[0] as { readonly statusCode?: number } | undefined)?.statusCode ?? error.status
  return Object.assign(new ApiError('BULK_FAILED', error.message, { errors: steps }, first, error.headers), { cause: error.cause })
}
