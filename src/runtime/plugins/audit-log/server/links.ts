/** Links over junctions that are not registered. Their entries belong to the resource whose relation the link is. */
import type { Api, AutoApiContext } from '../../../server/kit/call'
import type { ChangedRows } from '../../../server/kit/listen'
import type { ForeignKeyFacts, ManyToMany, Resource } from '../../../server/kit/rows'
import { memoized } from '../../../server/kit/process'

export interface LinkOwner {
  readonly resource: string
  readonly relation: string
  /** The columns of the junction that contain the id of the record. `undefined` if its foreign key does not refer to the primary key. */
  readonly foreignKey: readonly string[] | undefined
  /** The columns of the junction that contain the id of the other record. `undefined` in the same case. */
  readonly otherKey: readonly string[] | undefined
  /** Whether the junction has a tenant column. */
  readonly hasTenant: boolean
  readonly hasTrash: boolean
}

type Owners = ReadonlyMap<string, readonly LinkOwner[]>

const ownersOf = memoized((resources: Api['resources']): Owners => {
  const found = new Map<string, LinkOwner[]>()
  for (const resource of resources.values()) {
    for (const relation of unregisteredLinks(resource)) {
      const table = relation.junction.resource.facts.name
      found.set(table, [...found.get(table) ?? [], toOwner(resource, relation)])
    }
  }
  return found
})

/** The relations of a resource whose links are recorded as changes of the resource. */
export const unregisteredLinks = memoized(({ relations }: Resource): readonly ManyToMany[] =>
  [...relations.values()].flatMap(relation => relation.kind === 'manyToMany' && !relation.junction.registered ? [relation] : []))

function toOwner({ name, primaryKey }: Resource, { name: relation, target, junction }: ManyToMany): LinkOwner {
  const { sourceKey, targetKey, resource } = junction
  return {
    resource: name,
    relation,
    foreignKey: idColumns(sourceKey, primaryKey),
    otherKey: idColumns(targetKey, target.primaryKey),
    hasTenant: resource.tenant !== undefined,
    hasTrash: resource.roles.deletedAt !== undefined,
  }
}

/** The columns of a foreign key that contain the id of the record, in the order of its primary key. */
function idColumns({ columns, foreignColumns }: ForeignKeyFacts, primaryKey: Resource['primaryKey']): readonly string[] | undefined {
  const found = primaryKey.map(field => columns[foreignColumns.indexOf(field.name)])
  return found.length === columns.length && !found.includes(undefined) ? found as string[] : undefined
}

/**
 * Finds the relation to which changed rows of an unregistered junction belong: the relation of the body or of the path, otherwise a
 * relation of the resource of the request, otherwise any.
 */
export function findLinkOwner(
  api: Pick<Api, 'resources'>, { table, relation: named }: Pick<ChangedRows, 'table' | 'relation'>, ctx: AutoApiContext,
): LinkOwner | undefined {
  const found = ownersOf(api.resources).get(table) ?? []
  const own = found.filter(({ resource }) => resource === (named?.resource ?? ctx.resource))
  return own.find(({ relation }) => relation === (named?.name ?? ctx.params.relation)) ?? own[0] ?? found[0]
}

/** The kind of the entry. Other changes of a junction row, such as a delete together with its record, do not change the link. */
export function linkKind({ kind }: ChangedRows, { hasTrash }: LinkOwner): 'link' | 'unlink' | undefined {
  if (kind === 'link' || kind === 'create') return 'link'
  return kind === 'unlink' || kind === 'purge' || (kind === 'delete' && !hasTrash) ? 'unlink' : undefined
}

/** Those of {@link unregisteredLinks} whose entries contain the id of the other record. */
export const linksWithId = memoized((resource: Resource): readonly ManyToMany[] =>
  unregisteredLinks(resource).filter(({ junction, target }) => idColumns(junction.targetKey, target.primaryKey)))
