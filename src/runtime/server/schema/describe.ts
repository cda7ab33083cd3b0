/** A resource as names: what the build needs of a table that TypeScript cannot see, such as where its foreign keys lead. */
import type { AutoApiConfig } from '../../shared/config'
import type { ResourceRegistration } from '../registration'
import type { Relation, Resource } from './model'
import { relationColumns } from './relation-columns'
import { createResources } from './resource'

export interface RelationDescription {
  readonly name: string
  readonly to: string
  readonly many: boolean
  /** Over a junction. */
  readonly linked: boolean
  /** The registered resource that holds the links. */
  readonly via?: string
}

export interface ResourceDescription {
  readonly name: string
  /** In key order. */
  readonly key: readonly string[]
  readonly hidden: readonly string[]
  /** Columns a client may send. */
  readonly create: readonly string[]
  readonly update: readonly string[]
  /** Of those of `create`, what the server fills in where it is missing. */
  readonly filled: readonly string[]
  readonly relations: readonly RelationDescription[]
  /** Its rows belong to tenants. */
  readonly tenantScoped: boolean
}

/** @throws As the server would, when the tables cannot become resources. */
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

/** A relation over a hidden column, on either side, is one that nobody can read. */
function isHidden(resource: Resource, relation: Relation): boolean {
  return relationColumns(resource, relation).some(([holder, fields]) => fields.some(({ name }) => holder.hidden.has(name)))
}
