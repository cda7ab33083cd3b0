/** The values that the server sets: times, the caller's id, the tenant, the trash columns, and the defaults of the table. */
import { is, SQL, type Column } from 'drizzle-orm'
import { COLUMN_ROLES, rolesWith, type ColumnRole, type ColumnRoleFacts } from '../../../shared/column-roles'
import { INVALID, WIRE_FORMATS, type Kind } from '../../../shared/wire'
import type { Field } from '../../schema/field'
import type { GraphNode } from '../../schema/graph'
import type { Resource } from '../../schema/model'
import { encodeValue } from '../../drizzle/index'
import type { Call } from '../request/session'
import type { WritePlan } from '../plan/write'
import { memoized } from '../memoized'

type Values = Record<string, unknown>

/** Returns the values of a new row. Values of the body and of hooks replace defaults and server values. The server sets the tenant last. */
export function createValues({ resource, tenantId }: WritePlan, values: Values, call: Call, time: Date): Values {
  const { fields, roles: { createdAt }, tenant } = resource
  const row = defaultsOf(fields)
  const ofServer = roleValues(resource, 'create', { call, time })
  // The table's default for `createdAt` replaces the server's time. If the default is the current time, the server's time stays, so that
  // `createdAt` and `updatedAt` of a new row are equal.
  if (createdAt && Object.hasOwn(row, createdAt.name) && !isCurrentTime(createdAt, row[createdAt.name], time))
    ofServer[createdAt.name] = row[createdAt.name]
  // Spreads would copy each row several times, which takes long in a bulk create.
  Object.assign(row, ofServer, values)
  if (tenant) row[tenant.name] = tenantId
  return row
}

/** The largest difference, in milliseconds, from the server's time. It is longer than the checks of a write take. */
const MAX_DIFFERENCE = 60_000

/** Returns whether a value is close to the server's time, in the server's format. Seconds and other text formats do not match. */
function isCurrentTime(field: Field, value: unknown, time: Date): boolean {
  if (value === undefined || value === null) return false
  const parsed = value instanceof Date ? value : new Date(typeof value === 'string' ? value : Number(value))
  if (!(Math.abs(parsed.getTime() - time.getTime()) < MAX_DIFFERENCE)) return false
  // The text of a `Date` takes longer than the rest of the defaults.
  return value instanceof Date ? field.wire === 'date' : String(serverTime(field, parsed)) === String(value)
}

export function updateValues({ resource }: WritePlan, values: Values, call: Call, time: Date): Values {
  return { ...updateDefaultsOf(resource.fields), ...roleValues(resource, 'update', { call, time }), ...values }
}

/** Returns the values of the trash columns of a deleted row. */
export function trashValues(
  { resource, reason }: Pick<WritePlan, 'resource' | 'reason'>,
  deletionId: string,
  call: Call,
  time: Date,
): Values {
  return roleValues(resource, 'delete', { call, time, deletionId, reason })
}

/** Returns the trash columns of dependents as driver values. Leaves out `deletionId`: the statement reads it from the parent row. */
export function cascadeTrashValues(
  { reason }: WritePlan,
  { facts, roles }: GraphNode,
  call: Call,
  time: Date,
): { column: Column, value: unknown }[] {
  const kindOf = (column: Column) => facts.columns.find(candidate => candidate.column === column)!.kind
  const encode = (column: Column, value: unknown) => (value === null ? null : encodeValue(column, value))
  return [
    ...(roles.deletedAt
      ? [{ column: roles.deletedAt, value: encode(roles.deletedAt, serverTime({ wire: kindOf(roles.deletedAt) }, time)) }]
      : []),
    ...(roles.deletedBy ? [{ column: roles.deletedBy, value: encode(roles.deletedBy, callerIdFor(call, kindOf(roles.deletedBy))) }] : []),
    ...(roles.deletedReason ? [{ column: roles.deletedReason, value: reason ?? null }] : []),
  ]
}

interface ValueSource {
  readonly call: Call
  readonly time: Date
  readonly deletionId?: string
  readonly reason?: string
}

type ServerWrite = ColumnRoleFacts['setBy'][number]

const ROLES_SET_BY: Readonly<Record<ServerWrite, readonly ColumnRole[]>> = {
  create: rolesWith(({ setBy }) => setBy.includes('create')),
  update: rolesWith(({ setBy }) => setBy.includes('update')),
  delete: rolesWith(({ setBy }) => setBy.includes('delete')),
}

const VALUES: Readonly<Record<ColumnRoleFacts['value'], (field: Field, source: ValueSource) => unknown>> = {
  time: (field, { time }) => serverTime(field, time),
  caller: (field, { call }) => callerId(call, field),
  deletionId: (_field, { deletionId }) => deletionId,
  reason: (_field, { reason }) => reason ?? null,
}

/** Returns the values of the columns whose role the server sets in this kind of write. */
function roleValues({ roles }: Resource, write: ServerWrite, source: ValueSource): Values {
  const values: Values = {}
  for (const role of ROLES_SET_BY[write]) {
    const field = roles[role]
    if (field) values[field.name] = VALUES[COLUMN_ROLES[role].value](field, source)
  }
  return values
}

/** Calls `$defaultFn` of each column. Without it, calls `$onUpdateFn`, as Drizzle does. The database applies its own defaults. */
const defaultsOf = valuesFrom(({ defaultFn, onUpdateFn }) => defaultFn ?? onUpdateFn)

/** Calls `$onUpdateFn` of each column. */
const updateDefaultsOf = valuesFrom(({ onUpdateFn }) => onUpdateFn)

type Defaults = readonly (readonly [name: string, createValue: () => unknown])[]

/** Returns a function that calls the default function of each column. It caches per table which columns have a default function. */
function valuesFrom(functionOf: (column: Column) => (() => unknown) | undefined): (fields: ReadonlyMap<string, Field>) => Values {
  const defaultsIn = memoized((fields: ReadonlyMap<string, Field>): Defaults => [...fields.values()].flatMap(({ name, column }) => {
    const createValue = functionOf(column)
    return createValue ? [[name, createValue] as const] : []
  }))
  return (fields) => {
    const values: Values = {}
    for (const [name, createValue] of defaultsIn(fields)) values[name] = createValue()
    return values
  }
}

/**
 * Returns the defaults of a new row, with NULL for a nullable column without default. It leaves out generated columns and columns whose
 * default only the database can compute.
 */
export function columnDefaults({ fields }: Resource): Values {
  return Object.fromEntries([...fields.values()].flatMap(({ name, column, nullable, generated }) => {
    if (generated || is(column.default, SQL)) return []
    return column.default !== undefined ? [[name, column.default]] : nullable ? [[name, null]] : []
  }))
}

/** Converts the server's time to the type of the column. Numbers are milliseconds. */
export function serverTime({ wire }: Pick<Field, 'wire'>, time: Date): unknown {
  switch (wire) {
    case 'date': return time
    case 'integer': case 'number': return time.getTime()
    case 'bigint': return BigInt(time.getTime())
    default: return time.toISOString()
  }
}

/** Converts the caller's id to the type of the column. Returns null for an anonymous caller and for an id that does not fit the type. */
function callerId({ ctx }: Call, field: Field): unknown {
  const id = ctx.user?.id
  if (id === undefined || id === null) return null
  const value = field.fits(id) ? id : field.fromText(String(id))
  return value === INVALID ? null : value
}

/** Does the same as {@link callerId} for a table that does not have to be a resource. */
function callerIdFor({ ctx }: Call, kind: Kind): unknown {
  const id = ctx.user?.id
  if (id === undefined || id === null) return null
  const value = WIRE_FORMATS[kind].fromText(String(id))
  return value === INVALID ? null : value
}
