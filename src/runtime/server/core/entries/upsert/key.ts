/** The key of an upsert: the fields that find existing records, and the unique constraints that a request can name. */
import type { Field } from '../../../schema/field'
import { uniqueKeysOf, type UniqueKey } from '../../../schema/indexes'
import type { Resource } from '../../../schema/model'
import { readableFields, requireField } from '../../access/fields'
import { requireTenantId } from '../../access/tenant'
import { invalidQuery } from '../../error'
import { memoized } from '../../memoized'
import { distinct } from '../../parse/params'
import type { Call } from '../../request/session'
import { equals, fromSql } from '../../sql/conditions'
import type { UpsertKey } from './existing'

/**
 * @param parameter the parameter of the request that names the fields
 * @throws `UNKNOWN_FIELD`, `INVALID_QUERY` for a field whose values cannot be compared exactly.
 */
export async function keyFieldsOf(names: readonly string[], parameter: string, call: Call): Promise<readonly Field[]> {
  const readable = await readableFields(call)
  const fields = names.map(name => requireField(readable, name, parameter))
  const computed = fields.find(({ stored }) => !stored)
  const refused = (message: string) => invalidQuery(`\`${parameter}\`: ${message}`, parameter)
  if (computed) throw refused(`\`${computed.name}\` is a computed field, which no record contains before it is saved.`)
  const inexact = fields.find(field => !EXACT.has(field.kind) && !call.resource.primaryKey.includes(field))
  if (inexact) throw refused(`\`${inexact.name}\` is of the kind ${inexact.kind}, whose values cannot identify a record.`)
  return fields
}

/** Two equal values of these kinds have the same text. */
const EXACT: ReadonlySet<Field['kind']> = new Set<Field['kind']>(['text', 'integer', 'bigint', 'boolean', 'date'])

/**
 * Finds the unique constraint that a request names by its columns. The tenant column belongs to the key if the constraint has it, named or
 * not: new records are of the caller's tenant. An index with a condition finds the records that meet it.
 * @throws `UNKNOWN_FIELD`, `INVALID_QUERY` if the table has no such constraint, `TENANT_REQUIRED`
 */
export async function conflictKeyOf(names: readonly string[], call: Call): Promise<UpsertKey> {
  const { resource, resource: { tenant } } = call
  if (names.length === 0) throw invalidQuery('`onConflict` names no field.', 'onConflict')
  const named = await keyFieldsOf(distinct(names), 'onConflict', call)
  const keys = keysOf(resource)
  const fields = named.filter(field => field !== tenant)
  const matches = ({ columns }: UniqueKey) => {
    const own = columns.filter(name => name !== tenant?.name)
    return own.length === fields.length && fields.every(({ name }) => own.includes(name))
      && (fields.length === named.length || own.length < columns.length)
  }
  const key = fields.length === 0 ? undefined : keys.find(matches)
  if (!key) throw noSuchKey(named, keys, await readableFields(call), call)
  const generated = fields.find(field => !isSettable([field], resource))
  if (generated)
    throw invalidQuery(`\`onConflict\`: the server sets \`${generated.name}\`, so no new record can have a given value.`, 'onConflict')
  const where = [
    ...tenant && key.columns.includes(tenant.name) ? [equals(tenant, requireTenantId(call))] : [],
    ...key.where ? [fromSql(key.where)] : [],
  ]
  return { fields, where, isSettable: true }
}

/** Whether the body of a create can contain the fields. */
export const isSettable = (fields: readonly Field[], { writable }: Resource): boolean =>
  fields.every(({ name }) => writable.create.has(name))

const keysOf = memoized((resource: Resource) => uniqueKeysOf(resource))

function noSuchKey(
  named: readonly Field[], keys: readonly UniqueKey[], { byName }: Awaited<ReturnType<typeof readableFields>>, { resource }: Call,
) {
  const usable = keys.map(({ columns }) => columns.filter(name => name !== resource.tenant?.name))
    .filter(key => key.length > 0 && key.every(name => byName.has(name) && resource.writable.create.has(name)))
  const known = [...new Set(usable.map(key => `\`${key.join(',')}\``))].join(', ')
  const names = named.map(({ name }) => name).join(',')
  return invalidQuery(`\`onConflict\`: no unique constraint of \`${resource.name}\` has exactly the fields \`${names}\`. `
    + (known === '' ? 'It has none that you can name.' : `You can name: ${known}.`), 'onConflict')
}
