/** Decides which columns a caller can read and write. A column that the caller cannot read is treated as if it did not exist. */
import type { Awaitable } from '../awaitable'
import { createLruCache } from '../../engines/lru-cache'
import type { AutoApiContext, FieldRule } from '../../registration'
import type { Field } from '../../schema/field'
import type { Resource } from '../../schema/model'
import type { Call } from '../request/session'
import { unknownField } from '../error'
import { contextFor, decide, isAuthorized } from './authorize'
import { memoized } from '../memoized'
import { commaList, constant, type Where } from '../sql/where'

/** A set of fields of one resource. */
export interface Selection {
  readonly fields: readonly Field[]
  readonly byName: ReadonlyMap<string, Field>
  /** `id, title`: the select list. */
  readonly list: Where
}

export const createSelection = (fields: readonly Field[]): Selection => Object.freeze({
  fields,
  byName: new Map(fields.map(field => [field.name, field])),
  list: constant(commaList(fields.map(({ selection }) => selection))),
})

const MAX_SELECTIONS = 500

/** The selections of each resource by the indexes of their fields. The same fields are the same object, so that SQL can be built once. */
const selectionsOf = memoized((_: Resource) => createLruCache<Selection>(MAX_SELECTIONS))

/**
 * The fields the caller can read.
 * Returns a promise only if the resource has field rules.
 * @param operation The operation that the field rules find in their context. The default is the operation of the request.
 */
export function readableFields(
  call: Call, resource: Resource = call.resource, operation: AutoApiContext['operation'] = call.ctx.operation,
): Awaitable<Selection> {
  const readable = () => resource.auth?.fields ? fieldsByRules(call, resource, operation) : shownFields(resource)
  return resource.scopes.length === 0 ? readable() : resolveScopes(call, resource).then(readable)
}

/** Resolves the row scopes in the SQL of computed fields. No statement can use such a field before. */
function resolveScopes(call: Call, resource: Resource): Promise<void> {
  const key = `scopes:${resource.name}`
  const resolve = async () => {
    // Loaded here, so that a plugin can import this file at build time, without the SQL of rows.
    const { readableRows } = await import('./row-scope')
    for (const reference of resource.scopes) {
      const target = call.api.resources.get(reference.resource)!
      call.memo.set(reference.key, await readableRows(call, target, reference.table))
    }
  }
  if (!call.memo.has(key)) call.memo.set(key, resolve())
  return call.memo.get(key) as Promise<void>
}

function fieldsByRules(call: Call, resource: Resource, operation: AutoApiContext['operation']): Awaitable<Selection> {
  const key = operation === call.ctx.operation ? `readable:${resource.name}` : `readable:${resource.name}:${operation}`
  const known = call.memo.get(key) as Selection | undefined
  return known ?? refusedFields(call, resource, 'read', operation).then((refused) => {
    const readable = select(resource, field => !resource.hidden.has(field.name) && !refused.has(field.name))
    call.memo.set(key, readable)
    return readable
  })
}

/** The fields that are not hidden. */
const shownFields = memoized((resource: Resource): Selection => select(resource, field => !resource.hidden.has(field.name)))

/** The fields that the entity tag of a record covers. It is `undefined` if the caller cannot read the resource. */
export async function taggedFields(call: Call): Promise<Selection | undefined> {
  return await isAuthorized(call, call.resource, 'read') ? fieldsOfTag(await readableFields(call, call.resource, 'read')) : undefined
}

/** Of the fields that a caller can read, those that a response contains if the request names no fields. */
export const defaultFields = memoized((readable: Selection): Selection => narrowed(readable, ({ lazy }) => !lazy))

/** Of the fields that a caller can read, those that the entity tag of a record covers. */
export const fieldsOfTag = memoized((readable: Selection): Selection => narrowed(defaultFields(readable), ({ tagged }) => tagged))

/** The same selection if every field passes, so that SQL and decoders are built once. */
function narrowed(selection: Selection, passes: (field: Field) => boolean): Selection {
  const fields = selection.fields.filter(passes)
  return fields.length === selection.fields.length ? selection : createSelection(fields)
}

/** The names that the caller cannot write. */
export async function unwritableFields(call: Call, resource: Resource, names: readonly string[]): Promise<readonly string[]> {
  const refused = await refusedFields(call, resource, 'write')
  return names.filter(name => refused.has(name))
}

/** Returns the fields whose rule refuses the caller. The rule `false` refuses every caller, even a caller with `'*'`. */
export async function refusedFields(
  call: Call, resource: Resource, side: keyof FieldRule, operation: AutoApiContext['operation'] = call.ctx.operation,
): Promise<ReadonlySet<string>> {
  const refused = new Set<string>()
  for (const [name, rule] of Object.entries(resource.auth?.fields ?? {})) {
    const permission = rule?.[side]
    if (permission !== undefined && !await decide(call, permission, contextFor(call, resource, operation))) refused.add(name)
  }
  return refused
}

/** Selects the fields for which `passes` returns true, in the order of the table. */
export function select(resource: Resource, passes: (field: Field) => boolean): Selection {
  // A loop, because every write calls this function.
  const fields: Field[] = []
  let indexes = ''
  for (const field of resource.fields.values()) {
    if (!passes(field)) continue
    fields.push(field)
    indexes += `${field.index},`
  }
  const key = fields.length === resource.fields.size ? '*' : indexes
  return selectionsOf(resource)(key, () => createSelection(fields))
}

/**
 * @param others names besides those of fields that the error can suggest
 * @throws `UNKNOWN_FIELD`
 */
export function requireField(readable: Selection, name: string, parameter: string, others: readonly string[] = [], at = parameter): Field {
  const field = readable.byName.get(name)
  if (!field) throw unknownField(parameter, name, [...readable.byName.keys(), ...others], at)
  return field
}

/** Removes columns that the caller cannot read from a record that a hook returned. Other properties that the hook added stay. */
export function keepReadable(
  resource: Resource,
  { byName }: Selection,
  record: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  for (const name of Object.keys(record)) {
    if (byName.has(name) || !resource.fields.has(name)) kept[name] = record[name]
  }
  return kept
}

/** Adds the primary key to a selection, because the key identifies the row. */
export function withKey(resource: Resource, selection: Selection): Selection {
  const { byName } = selection
  if (resource.primaryKey.every(({ name }) => byName.has(name))) return selection
  return select(resource, field => byName.has(field.name) || resource.primaryKey.includes(field))
}

/** Selects only the primary key. */
export const keyFields = memoized((resource: Resource): Selection => select(resource, field => resource.primaryKey.includes(field)))

/** Selects the whole row, for rules and hooks. Responses must not use this selection. */
export function allFields(resource: Resource): Selection {
  return select(resource, ({ stored }) => stored)
}

/** Selects the whole row, and the computed fields among some others. */
export function allFieldsAnd(resource: Resource, others: readonly Field[]): Selection {
  return others.every(({ stored }) => stored) ? allFields(resource) : select(resource, field => field.stored || others.includes(field))
}
