/** Selects the columns that a write sets from the body and from hooks. */
import { TRASH_ROLES } from '../../../../shared/column-roles'
import type { Resource } from '../../../schema/model'
import type { WriteKind, WritePlan } from '../../plan/write'
import type { Item } from './items'

/** Drops the keys that are not columns, because only hooks read them. Also drops the columns that no write can set. */
export function writableValues({ resource, kind }: WritePlan, { values }: Item): Record<string, unknown> {
  const unwritable = unwritableNames(resource, kind)
  const result: Record<string, unknown> = {}
  for (const name of Object.keys(values)) {
    if (values[name] !== undefined && resource.fields.has(name) && !unwritable.has(name)) result[name] = values[name]
  }
  return result
}

const cache = { update: new WeakMap<Resource, ReadonlySet<string>>(), create: new WeakMap<Resource, ReadonlySet<string>>() }

/** Returns the columns that neither a body nor a hook can set: the primary key of an existing row, the tenant, and the trash columns. */
function unwritableNames(resource: Resource, kind: WriteKind): ReadonlySet<string> {
  const known = cache[kind === 'update' ? 'update' : 'create']
  let names = known.get(resource)
  if (!names) known.set(resource, names = findUnwritableNames(resource, kind))
  return names
}

function findUnwritableNames(resource: Resource, kind: WriteKind): ReadonlySet<string> {
  const fields = [...TRASH_ROLES.map(role => resource.roles[role]), resource.tenant, ...(kind === 'update' ? resource.primaryKey : [])]
  return new Set(fields.flatMap(field => field ? [field.name] : []))
}
