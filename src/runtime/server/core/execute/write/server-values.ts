/** The values the server gives: times, the caller's id, the tenant, the trash stamp, and the defaults of the table. */
import type { Column } from 'drizzle-orm'
import { INVALID, WIRE_FORMATS, type Kind } from '../../../../shared/wire'
import type { Field } from '../../../schema/field'
import type { GraphNode } from '../../../schema/graph'
import type { Resource } from '../../../schema/model'
import type { Role } from '../../../schema/server-owned'
import type { Call } from '../../context'
import type { WritePlan } from '../../plan/write'

type Values = Record<string, unknown>

/** The row as it is made: defaults and stamps, then what was sent and what the hooks made of it, then the tenant. */
export function createValues({ resource, tenantId }: WritePlan, values: Values, call: Call, time: Date): Values {
  return {
    ...byRole(resource.roles, { createdAt: field => serverTime(field, time) }),
    ...atServerTime(resource, defaultsOf(resource.fields), time),
    ...byRole(resource.roles, {
      updatedAt: field => serverTime(field, time),
      createdBy: field => callerId(call, field),
      updatedBy: field => callerId(call, field),
    }),
    ...values,
    ...(resource.tenant && { [resource.tenant.name]: tenantId }),
  }
}

/** A default that is the current time gives way to the server's: `createdAt` and `updatedAt` of a new row are the same moment. */
function atServerTime({ roles: { createdAt } }: Resource, defaults: Values, time: Date): Values {
  if (!createdAt || !isCurrentTime(createdAt, defaults[createdAt.name], time)) return defaults
  return { ...defaults, [createdAt.name]: serverTime(createdAt, time) }
}

/** Longer than a row takes to be made ready. */
const A_MOMENT = 60_000

/** Written as the server writes it: seconds, or text of another format, stay as the table makes them. */
function isCurrentTime(field: Field, value: unknown, time: Date): boolean {
  if (value === undefined || value === null) return false
  const made = value instanceof Date ? value : new Date(typeof value === 'string' ? value : Number(value))
  return Math.abs(made.getTime() - time.getTime()) < A_MOMENT && String(serverTime(field, made)) === String(value)
}

export function updateValues({ resource }: WritePlan, values: Values, call: Call, time: Date): Values {
  return {
    ...updateDefaultsOf(resource.fields),
    ...byRole(resource.roles, { updatedAt: field => serverTime(field, time), updatedBy: field => callerId(call, field) }),
    ...values,
  }
}

export function trashValues({ resource, reason }: WritePlan, deletionId: string, call: Call, time: Date): Values {
  return byRole(resource.roles, {
    deletedAt: field => serverTime(field, time),
    deletedBy: field => callerId(call, field),
    deletionId: () => deletionId,
    deletedReason: () => reason ?? null,
  })
}

/** The stamp of the rows that go along, as driver values; their `deletionId` is read off the row above them. */
export function cascadeTrashValues(
  { reason }: WritePlan,
  { facts, roles }: GraphNode,
  call: Call,
  time: Date,
): { column: Column, value: unknown }[] {
  const kindOf = (column: Column) => facts.columns.find(own => own.column === column)!.kind
  const encode = (column: Column, value: unknown) => (value === null ? null : column.mapToDriverValue(value))
  return [
    ...(roles.deletedAt
      ? [{ column: roles.deletedAt, value: encode(roles.deletedAt, serverTime({ kind: kindOf(roles.deletedAt) }, time)) }]
      : []),
    ...(roles.deletedBy ? [{ column: roles.deletedBy, value: encode(roles.deletedBy, callerIdFor(call, kindOf(roles.deletedBy))) }] : []),
    ...(roles.deletedReason ? [{ column: roles.deletedReason, value: reason ?? null }] : []),
  ]
}

const untouchables = { keyed: new WeakMap<Resource, ReadonlySet<string>>(), made: new WeakMap<Resource, ReadonlySet<string>>() }

/** What no write may set, hooks included: the key of a row that exists, its tenant, and the trash columns. */
export function unwritableNames({ resource, kind }: WritePlan): ReadonlySet<string> {
  const known = kind === 'update' ? untouchables.keyed : untouchables.made
  let names = known.get(resource)
  if (!names) known.set(resource, names = findUntouchable(resource, kind))
  return names
}

function findUntouchable(resource: Resource, kind: WritePlan['kind']): ReadonlySet<string> {
  const { deletedAt, deletedBy, deletionId, deletedReason } = resource.roles
  return new Set(
    [deletedAt, deletedBy, deletionId, deletedReason, resource.tenant, ...(kind === 'update' ? resource.primaryKey : [])].flatMap(field =>
      field ? [field.name] : [],
    ),
  )
}

function byRole(roles: Readonly<Partial<Record<Role, Field>>>, values: Partial<Record<Role, (field: Field) => unknown>>): Values {
  const stamps: Values = {}
  for (const role of Object.keys(values) as Role[]) {
    const field = roles[role]
    if (field) stamps[field.name] = values[role]!(field)
  }
  return stamps
}

type Makers = readonly (readonly [name: string, make: () => unknown])[]

/** `$defaultFn` of the table; defaults of the database stay the database's. */
const defaultsOf = madeBy(({ defaultFn, onUpdateFn }) => defaultFn ?? onUpdateFn)

/** `$onUpdateFn` of the table. */
const updateDefaultsOf = madeBy(({ onUpdateFn }) => onUpdateFn)

/** The values that functions of the table make; which columns have one is found once. */
function madeBy(makerOf: (column: Column) => (() => unknown) | undefined): (fields: ReadonlyMap<string, Field>) => Values {
  const found = new WeakMap<ReadonlyMap<string, Field>, Makers>()
  return (fields) => {
    let makers = found.get(fields)
    if (!makers) {
      found.set(fields, makers = [...fields.values()].flatMap(({ name, column }) => {
        const make = makerOf(column)
        return make ? [[name, make] as const] : []
      }))
    }
    const values: Values = {}
    for (const [name, make] of makers) values[name] = make()
    return values
  }
}

/** The server's time in the form the column keeps it; plain numbers are milliseconds. */
export function serverTime(field: Pick<Field, 'kind'>, time: Date): unknown {
  switch (field.kind) {
    case 'date': return time
    case 'integer': case 'number': return time.getTime()
    case 'bigint': return BigInt(time.getTime())
    default: return time.toISOString()
  }
}

/** The caller's id as the column would hold it; null for an anonymous caller and for an id that does not fit. */
function callerId({ ctx }: Call, field: Field): unknown {
  const id = ctx.user?.id
  if (id === undefined || id === null) return null
  const value = field.fits(id) ? id : field.fromText(String(id))
  return value === INVALID ? null : value
}

/** As {@link callerId}, for a column of a table that may not be registered. */
function callerIdFor({ ctx }: Call, kind: Kind): unknown {
  const id = ctx.user?.id
  if (id === undefined || id === null) return null
  const value = WIRE_FORMATS[kind].fromText(String(id))
  return value === INVALID ? null : value
}
