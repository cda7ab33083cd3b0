/** Describes resources by names: facts for the build that TypeScript types lack, such as the targets of foreign keys. */
import type { AutoApiConfig } from '../../shared/config'
import type { ResourceRegistration } from '../registration'
import type { Relation, Resource } from './model'
import { relationColumns } from './relation-columns'
import { createResources } from './resource'

export interface RelationDescription {
  readonly name: string
  readonly to: string
  readonly many: boolean
  /** Many-to-many, over a junction. */
  readonly linked: boolean
  /** The registered resource that holds the links. */
  readonly via?: string
}

export interface ResourceDescription {
  readonly name: string
  /** The primary key, in key order. */
  readonly key: readonly string[]
  readonly hidden: readonly string[]
  /** Columns that a client can send. */
  readonly create: readonly string[]
  readonly update: readonly string[]
  /** The columns of `create` that the server sets when they are missing. */
  readonly filled: readonly string[]
  readonly relations: readonly RelationDescription[]
  /** Whether its rows belong to tenants. */
  readonly tenantScoped: boolean
}

/** @throws The server's startup error, when the tables cannot become resources. */
export function describeResources(
  registrations: readonly ResourceRegistration[],
  modules: readonly Record<string, unknown>[],
  config: AutoApiConfig,
): ResourceDescription[] {
  return [...createResources(registrations, modules, config).values()].map(resource => ({
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
    tenantScoped: resource.tenant !== undefined,
  }))
}

/** Nobody can read a relation that compares a hidden column, on either side. */
function isHidden(resource: Resource, relation: Relation): boolean {
  return relationColumns(resource, relation).some(([holder, fields]) => fields.some(({ name }) => holder.hidden.has(name)))
}
