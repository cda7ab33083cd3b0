/**
 * Values of items that earlier items of the same write decide, such as the key of a new record. If the value is known before the commit, it
 * is a parameter like any other. Otherwise a statement of the commit reads it: the engine passes it on from the row that the earlier
 * statement returned, and a batch reads it with a subquery.
 */
import { isDeepStrictEqual } from 'node:util'
import { is, SQL } from 'drizzle-orm'
import { LateValue } from '../../engines/engine'
import { INVALID, type Field } from '../../schema/field'
import { inList } from '../sql/list/index'
import { ApiError, invalidBody, notFound, validationFailed } from '../error'
import { keyClauses } from '../plan/read'
import type { RecordValues } from '../read/rows/decode'
import type { Writable } from '../extensions/extensions'
import type { Call } from '../request/session'
import { not, whereClause } from '../sql/conditions'
import { EMPTY, value, where } from '../sql/where'
import type { WriteOperation } from '../commit/operation'
import { withoutError, type Item, type LateReference, type PartItems } from './items'
import type { WritePart } from './parts'

/** Sets the late values of the items after their hooks have run. A hook that sets another value, or removes it, decides. */
export function bindLateValues(parts: readonly WritePart[]): void {
  for (const part of parts) for (const item of withoutError(part.items)) if (item.late ?? item.lateKey) {
    try {
      bind(part, item, parts)
    }
    catch (error) {
      if (!(error instanceof ApiError)) throw error
      item.error = error
    }
  }
}

function bind({ plan: { resource, kind }, call }: WritePart, item: Writable<Item>, parts: readonly WritePart[]): void {
  const bound: Record<string, unknown> = {}
  for (const [name, reference] of item.late ?? []) {
    const isKept = Object.hasOwn(item.values, name)
      ? isDeepStrictEqual(item.values[name], reference.early)
      : reference.early === undefined
    if (!isKept && !reference.fixed) continue
    const target = resource.fields.get(name)!
    bound[name] = valueOf(reference, target, { item, parts, call })
    if (bound[name] === INVALID)
      item.error = validationFailed([{ path: [name], message: `Expected ${target.expected}.`, code: 'invalid_type' }])
  }
  item.values = { ...item.values, ...bound }
  item.original = { ...item.original, ...bound }
  if (!item.lateKey) return
  const id = valueOf(item.lateKey, resource.primaryKey[0]!, { item, parts, call })
  if (id === INVALID || id === null) item.error = notFound()
  // The rows of a cascade are found by keys that are known.
  else if (kind !== 'update' && isOfCommit(id)) item.error = generatedId()
  else item.key = [id]
}

interface Binding {
  readonly item: Item
  readonly parts: readonly WritePart[]
  readonly call: Call
}

/** The error of a delete or a restore of a record whose id the commit decides. */
export const generatedId = (): ApiError =>
  invalidBody('`id`: only an update can name a record whose id the database generates in this batch.')

function valueOf(reference: LateReference, target: Field, binding: Binding): unknown {
  const known = knownValue(reference)
  if (known) return converted(known.value, reference.field, target)
  return binding.call.engine.supportsFollowUp ? passedOn(reference, target) : subquery(reference, binding)
}

/** Converts a value as if a client had read it and sent it back. */
export function converted(value: unknown, { toJson }: Field, target: Field): unknown {
  const json = toJson ? toJson(value) : value
  return json === null ? null : target.fromJson(json)
}

/** The value of the record, if no statement of the commit decides it. Calls the default function of the column, and keeps its result. */
export function knownValue({ part: { plan }, item, field }: LateReference): { readonly value: unknown } | undefined {
  const { resource, kind, tenantId } = plan
  const { name } = field
  if (kind !== 'create' && resource.primaryKey.includes(field)) {
    const value = item.key?.[resource.primaryKey.indexOf(field)]
    return value === undefined || isOfCommit(value) ? undefined : { value }
  }
  if (kind === 'create' && field === resource.tenant) return { value: tenantId }
  if (kind !== 'create' && kind !== 'update') return undefined
  const { defaultFn } = field.column
  const isOfServer = Object.values(resource.roles).includes(field)
  if (kind === 'create' && item.values[name] === undefined && defaultFn && !isOfServer) item.values[name] = defaultFn()
  const given = item.values[name]
  return given === undefined || isOfCommit(given) ? undefined : { value: given }
}

/** Whether a statement of the commit reads the value. */
export const isOfCommit = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && (value instanceof LateValue || is(value, SQL))

function passedOn({ item, field }: LateReference, target: Field): LateValue {
  const late = new LateValue()
  const take = (record: RecordValues) => {
    const value = converted(record[field.name], field, target)
    late.current = value === INVALID || value === null ? null : target.encode(value)
  }
  item.dependents = [...item.dependents ?? [], take]
  return late
}

/** Passes the records of an operation on to the items that depend on them. */
export function withDependents({ items, written }: WritePart, operation: WriteOperation): WriteOperation {
  const sources = items.filter(({ dependents }) => dependents)
  const { read, statement } = operation
  if (sources.length === 0 || !read) return operation
  return { ...operation, statement: { ...statement, onOutcome(outcome) {
    read(outcome)
    for (const { index, dependents } of sources) {
      const record = written.get(index)?.record
      if (record) for (const take of dependents!) take(record)
    }
  } } }
}

/**
 * `(select author_id from posts where id = ?)`
 * @throws `INVALID_BODY` after a permanent delete, whose cascade can remove the row. A batch would find another one.
 */
function subquery({ part, item, field }: LateReference, binding: Binding): SQL {
  const { resource } = part.plan
  const key = part.plan.kind === 'create'
    ? resource.primaryKey.map(field => knownValue({ part, item, field })?.value)
    : item.key!
  const isBetween = ({ index }: Item) => index > item.index && index < binding.item.index
  const isPermanent = ({ kind, resource: { roles } }: WritePart['plan']) => kind === 'delete' && !roles.deletedAt
  if (key.includes(undefined) && binding.parts.some(({ plan, items }) => isPermanent(plan) && items.some(isBetween)))
    throw invalidBody('On this database, a step cannot refer to a generated key after a step that deletes a record permanently.')
  const isLinked = ({ links, plan, items }: WritePart) => links && plan.resource.table === resource.table && items.some(isBetween)
  if (key.includes(undefined) && binding.parts.some(isLinked))
    throw invalidBody('On this database, a step cannot refer to a generated key after a change of links in the same table.')
  const source = key.includes(undefined) ? newestRows(part, item, binding) : whereClause(keyClauses(resource, key))
  return where`(select ${field.selection} from ${resource.table}${source})`.getSQL()
}

/**
 * ` where id not in (?) order by id desc limit 1 offset 2`: the row of an item whose key the database generates. Generated keys grow, and
 * no other request writes during a batch, so the row is the newest one, before those that the batch inserts after it.
 */
function newestRows({ plan: { resource } }: LateReference['part'], item: Item, { item: target, parts, call }: Binding) {
  const [key] = resource.primaryKey
  const createdBy = (parts: readonly PartItems[]) => parts
    .filter(({ plan }) => plan.kind === 'create' && plan.resource.table === resource.table)
    .flatMap(part => part.items.map(item => ({ item, value: knownValue({ part, item, field: key! })?.value })))
  const given = createdBy(parts).flatMap(({ value }) => value === undefined ? [] : [value])
  const later = new LateValue()
  target.recounts = [...target.recounts ?? [], parts => void (later.current = createdBy(parts)
    .filter(({ item: { index }, value }) => value === undefined && index > item.index && index < target.index).length)]
  const condition = given.length > 0 ? where` where ${not(inList(call.engine, key!, given, true))}` : EMPTY
  return where`${condition} order by ${key!.column} desc limit 1 offset ${value(later)}`
}
