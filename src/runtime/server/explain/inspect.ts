/** Describes resources and the access of a caller for the page of the developer tools. */
import type { DevtoolsAccess, DevtoolsResource } from '../../shared/devtools'
import { FALLBACKS, OPERATIONS } from '../../shared/operations'
import type { ServerApi } from '../api/create'
import { requireSession } from '../core/request/session'
import type { AutoApiContext, Permission } from '../registration'
import { describePermission } from '../schema/access-matrix'
import { findMissingIndexes } from '../schema/inspect'
import type { Resource } from '../schema/model'
import { getTableName } from 'drizzle-orm'
import { callerOf } from './caller'
import { explainPermission } from './permission'
import { withPlace, type Places } from './places'

export const describeForDevtools = ({ resources }: ServerApi, places: Places): DevtoolsResource[] =>
  [...resources.values()].map(resource => ({
    ...withPlace({ rule: resource.name }, places).place !== undefined && { place: places[resource.name]! },
    name: resource.name,
    table: getTableName(resource.table),
    readOnly: resource.readOnly,
    fields: fieldsOf(resource),
    relations: [...resource.relations.values()].map(({ name, kind, target }) => ({ name, kind, target: target.name })),
    rules: rulesOf(resource).map(({ name, requires }) => {
      const { place } = withPlace({ rule: `${resource.name}.${name}` }, places)
      return { name, requires, ...place !== undefined && { place } }
    }),
    missingIndexes: findMissingIndexes(resource).map(({ columns, reason }) => ({ columns, reason })),
  }))

function fieldsOf({ fields, primaryKey, hidden, tenant, roles }: Resource): DevtoolsResource['fields'] {
  const roleOf = new Map(Object.entries(roles).map(([role, field]) => [field, role]))
  return [...fields.values()].map((field) => {
    const role = field === tenant ? 'tenant' : roleOf.get(field)
    return {
      name: field.name, type: field.kind, key: primaryKey.includes(field), hidden: hidden.has(field.name), computed: !field.stored,
      ...role !== undefined && { role },
    }
  })
}

const CODE = 'a function'

function rulesOf({ auth, disabled }: Resource): { name: string, requires: string }[] {
  if (!auth) return [{ name: 'permissions', requires: 'nobody: the resource has no authorization' }]
  const permission = (name: string, value: Permission | undefined) =>
    value === undefined ? [] : [{ name, requires: describePermission(value) }]
  return [
    ...OPERATIONS.flatMap((operation) => {
      const name = `permissions.${operation}`
      if (disabled.has(operation)) return [{ name, requires: 'disabled' }]
      const own = permission(name, auth.permissions?.[operation])
      return own.length > 0 || FALLBACKS[operation] ? own : [{ name, requires: 'nobody' }]
    }),
    ...auth.listFilter ? [{ name: 'listFilter', requires: CODE }] : [],
    ...auth.objectLevel ? [{ name: 'objectLevel', requires: CODE }] : [],
    ...Object.entries(auth.fields ?? {}).flatMap(([field, rule]) =>
      [...permission(`fields.${field}.read`, rule?.read), ...permission(`fields.${field}.write`, rule?.write)]),
    ...Object.entries(auth.custom ?? {}).flatMap(([gate, { permissions = {} }]) =>
      Object.entries(permissions).flatMap(([operation, value]) => permission(`custom.${gate}.permissions.${operation}`, value))),
  ]
}

/** Explains each operation of each resource for the caller of a recorded request. */
export async function describeAccess({ resources }: ServerApi, ctx: AutoApiContext, places: Places): Promise<DevtoolsAccess> {
  const session = requireSession(ctx)
  const described = []
  for (const resource of resources.values()) {
    const decisions = []
    for (const operation of OPERATIONS) decisions.push(await explainPermission(session, resource, operation, places))
    described.push({ name: resource.name, decisions })
  }
  return { caller: callerOf(session), resources: described }
}
