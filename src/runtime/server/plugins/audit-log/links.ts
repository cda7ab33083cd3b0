/** Links over junctions that are not registered. Their entries belong to the resource whose relation the link is. */
import type { Api } from '../../core/api'
import type { ChangedRows } from '../../core/changes'
import type { AutoApiContext } from '../../registration'
import type { ManyToMany, Resource } from '../../schema/model'

export interface LinkOwner {
  readonly resource: string
  readonly relation: string
  /** The columns of the junction that contain the id of the record. Absent if its foreign key does not refer to the primary key. */
  readonly foreignKey?: readonly string[]
  /** Whether the junction has a tenant column. */
  readonly hasTenant: boolean
  readonly hasTrash: boolean
}

type Owners = ReadonlyMap<string, readonly LinkOwner[]>

const owners = new WeakMap<Api['resources'], Owners>()

function ownersOf({ resources }: Pick<Api, 'resources'>): Owners {
  let known = owners.get(resources)
  if (!known) {
    const found = new Map<string, LinkOwner[]>()
    for (const resource of resources.values()) {
      for (const relation of unregisteredLinks(resource)) {
        const table = relation.junction.resource.facts.name
        found.set(table, [...found.get(table) ?? [], toOwner(resource, relation)])
      }
    }
    owners.set(resources, known = found)
  }
  return known
}

const linksOf = new WeakMap<Resource, readonly ManyToMany[]>()

/** The relations of a resource whose links are recorded as changes of the resource. */
export function unregisteredLinks(resource: Resource): readonly ManyToMany[] {
  let links = linksOf.get(resource)
  if (!links) {
    const relations = [...resource.relations.values()]
    links = relations.flatMap(relation => relation.kind === 'manyToMany' && !relation.junction.registered ? [relation] : [])
    linksOf.set(resource, links)
  }
  return links
}

function toOwner({ name, primaryKey }: Resource, { name: relation, junction }: ManyToMany): LinkOwner {
  const { sourceKey: { columns, foreignColumns }, resource } = junction
  const foreignKey = primaryKey.map(field => columns[foreignColumns.indexOf(field.name)])
  const isKey = foreignKey.length === columns.length && !foreignKey.includes(undefined)
  return {
    resource: name,
    relation,
    ...isKey && { foreignKey: foreignKey as string[] },
    hasTenant: resource.tenant !== undefined,
    hasTrash: resource.roles.deletedAt !== undefined,
  }
}

/**
 * Finds the relation to which changed rows of an unregistered junction belong: the relation of the request, otherwise a relation of
 * the resource of the request, otherwise any.
 */
export function findLinkOwner(api: Pick<Api, 'resources'>, table: string, ctx: AutoApiContext): LinkOwner | undefined {
  const found = ownersOf(api).get(table) ?? []
  const own = found.filter(({ resource }) => resource === ctx.resource)
  return own.find(({ relation }) => relation === ctx.params.relation) ?? own[0] ?? found[0]
}

/** The kind of the entry. Other changes of a junction row, such as a delete together with its record, do not change the link. */
export function linkKind({ kind }: ChangedRows, { hasTrash }: LinkOwner): 'link' | 'unlink' | undefined {
  if (kind === 'link' || kind === 'create') return 'link'
  return kind === 'unlink' || kind === 'purge' || (kind === 'delete' && !hasTrash) ? 'unlink' : undefined
}
