/**
 * Describes resources as plain data (names and flags) for the build. The description includes facts that TypeScript types lack, such as
 * the targets of foreign keys.
 */
import { sql } from 'drizzle-orm'
import type { AutoApiConfig } from '../../shared/config'
import { DEFAULT_MULTI_TENANCY } from '../../shared/defaults'
import { computed } from '../computed'
import type { ResourceRegistration } from '../registration'
import type { Relation, Resource } from './model'
import { findOwned } from './presets/mark'
import { relationColumns, resourceOf } from './relation-columns'
import { createResources } from './resource'

export interface RelationDescription {
  readonly name: string
  readonly to: string
  readonly many: boolean
  /** Whether the relation is many-to-many, over a junction table. */
  readonly linked: boolean
  /** The name of the junction table's resource, if the junction table is registered. */
  readonly via?: string
}

export interface NestedDescription {
  readonly to: string
  readonly actions: readonly string[]
  /** The foreign key of the children. */
  readonly key: readonly string[]
}

export interface ResourceDescription {
  readonly name: string
  /** The primary key, in key order. */
  readonly key: readonly string[]
  readonly hidden: readonly string[]
  /** The columns that a client can send in a create. */
  readonly create: readonly string[]
  /** The columns that a client can send in an update. */
  readonly update: readonly string[]
  /** The columns of `create` that the server sets if the client does not send them. */
  readonly filled: readonly string[]
  readonly relations: readonly RelationDescription[]
  /** The children that the body of a write can contain, by the name of their relation. */
  readonly nested?: Readonly<Record<string, NestedDescription>>
  /** Whether its rows belong to tenants. */
  readonly tenantScoped: boolean
  /** Whether the table has the tenant column. The column of a plugin's table does not count: the plugin sets it. */
  readonly hasTenantColumn: boolean
  /** Set if the rows are those of a view. */
  readonly readOnly?: true
  /** The resources whose commits change the rows of a view; `*` for those of every resource. */
  readonly tracks?: readonly string[]
  /** The first resource of the same table, if this is a later one. */
  readonly sameTableAs?: string
}

/** @throws The same error that the server throws at startup, if a table cannot be used as a resource. */
export function describeResources(
  registrations: readonly ResourceRegistration[],
  modules: readonly Record<string, unknown>[],
  config: AutoApiConfig,
): ResourceDescription[] {
  const resources = createResources(registrations.map(withPlaceholders), modules, config)
  const { tenantIdField } = config.multiTenancy || DEFAULT_MULTI_TENANCY
  const firstOf = ({ name, table }: Resource) => {
    const first = resourceOf(table, resources)!.name
    return first === name ? {} : { sameTableAs: first }
  }
  return [...resources.values()].map(resource => ({
    name: resource.name,
    key: resource.primaryKey.map(({ name }) => name),
    hidden: [...resource.hidden].filter(name => resource.fields.has(name)),
    create: [...resource.writable.create],
    update: [...resource.writable.update],
    filled: [...resource.writable.create].filter(name => name === resource.roles.createdAt?.name),
    relations: [...resource.relations.values()]
      .filter(relation => !isHidden(resource, relation))
      .map(({ name, target, ...relation }) => ({
        name,
        to: target.name,
        many: relation.kind !== 'one',
        linked: relation.kind === 'manyToMany',
        ...(relation.kind === 'manyToMany' && relation.junction.registered && { via: relation.junction.resource.name }),
      })),
    ...resource.nested.size > 0 && { nested: Object.fromEntries([...resource.nested].map(([name, { relation, actions }]) => {
      const key = relation.kind === 'many' ? relation.foreignColumns.map(({ name }) => name) : []
      return [name, { to: relation.target.name, actions: [...actions], key }]
    })) },
    tenantScoped: resource.tenant !== undefined,
    hasTenantColumn: resource.facts.columns.some(({ name, column }) => name === tenantIdField && !findOwned(column)),
    ...resource.readOnly && { readOnly: true, tracks: resource.tracks ?? ['*'] },
    ...firstOf(resource),
  }))
}

/** Only the names of computed fields count in a description. */
function withPlaceholders({ computedNames, ...registration }: ResourceRegistration): ResourceRegistration {
  const fields = computedNames?.map(name => [name, computed.json(sql`null`)])
  return fields ? { ...registration, computed: Object.fromEntries(fields) as ResourceRegistration['computed'] } : registration
}

/** Whether a relation compares a hidden column on either side. No caller can read such a relation. */
function isHidden(resource: Resource, relation: Relation): boolean {
  return relationColumns(resource, relation).some(([holder, fields]) => fields.some(({ name }) => holder.hidden.has(name)))
}
