/** Selects the columns that a write sets from the body and from hooks, and checks the rules of the fields. */
import type { Awaitable } from '../awaitable'
import { TRASH_ROLES } from '../../../shared/column-roles'
import type { Resource } from '../../schema/model'
import { unwritableFields } from '../access/fields'
import type { Call } from '../request/session'
import { fieldForbidden } from '../error'
import type { WriteKind, WritePlan } from '../plan/write'
import { forEachItem, type Item } from './items'
import type { Field } from '../../schema/field'
import { memoized } from '../memoized'
import type { RecordValues } from '../read/rows/decode'

/**
 * Sets the error of each item with a field that the caller cannot write, the client sent, and the hooks have not removed: 403. A hook that
 * changes a fixed value gets the same error.
 */
export function checkWritable({ resource, selection }: WritePlan, items: readonly Item[], call: Call): Awaitable<void> {
  if (!resource.auth?.fields && !items.some(({ fixed }) => fixed)) return
  let checking: Promise<readonly string[]> | undefined
  return forEachItem(items, async ({ sent, sentKeys, values, fixed }) => {
    const unwritable = await (checking ??= unwritableFields(call, resource, [...resource.fields.keys()]))
    const refused = sent.filter(name => unwritable.includes(name) && Object.hasOwn(values, name))
    if (fixed) refused.push(...changedNames(resource, fixed, values))
    if (refused.length === 0) return
    // Validation can map a field that the client sent to a hidden column. The error must not name that column.
    throw fieldForbidden(call.ctx, refused.filter(name => sentKeys?.includes(name) || selection.byName.has(name)))
  })
}

function changedNames({ fields }: Resource, fixed: RecordValues, values: RecordValues): string[] {
  const textOf = (name: string, value: unknown) => String(fields.get(name)!.encode(value))
  return Object.keys(fixed).filter(name => textOf(name, values[name]) !== textOf(name, fixed[name]))
}

/** Drops the keys that are not columns, because only hooks read them. Also drops the columns that no write can set. */
export function writableValues({ resource, kind }: WritePlan, { values }: Item): Record<string, unknown> {
  const unwritable = unwritableNames(resource, kind)
  const result: Record<string, unknown> = {}
  for (const name of Object.keys(values)) {
    if (values[name] !== undefined && resource.fields.has(name) && !unwritable.has(name)) result[name] = values[name]
  }
  return result
}

const unwritableIn = {
  update: memoized((resource: Resource) => findUnwritableNames(resource, resource.primaryKey)),
  create: memoized((resource: Resource) => findUnwritableNames(resource, [])),
}

/** Returns the columns that neither a body nor a hook can set: the primary key of an existing row, the tenant, and the trash columns. */
const unwritableNames = (resource: Resource, kind: WriteKind) => unwritableIn[kind === 'update' ? 'update' : 'create'](resource)

function findUnwritableNames({ roles, tenant }: Resource, fixed: readonly Field[]): ReadonlySet<string> {
  const fields = [...TRASH_ROLES.map(role => roles[role]), tenant, ...fixed]
  return new Set(fields.flatMap(field => field ? [field.name] : []))
}
