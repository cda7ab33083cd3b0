/** Reads the relations that an app declares with Drizzle. */
import type { ResourceRegistration } from '../registration'
import { describeForeignKeys } from './drizzle/foreign-keys'
import { describeRelations, type DeclaredRelation } from './drizzle/relations'
import { toTable } from './drizzle/view'
import type { Resource } from './model'
import { resourceOf } from './relation-columns'

export interface ResolvedRelation {
  readonly name: string
  readonly kind: 'one' | 'many' | 'manyToMany'
  readonly target: Resource
  readonly columns: readonly string[]
  readonly foreignColumns: readonly string[]
  readonly through?: DeclaredRelation['through']
}

/** Resolves the declared relations to the columns that they join. Their names replace derived names. */
export function resolveDeclaredRelations(
  resource: Resource,
  registration: ResourceRegistration,
  resources: ReadonlyMap<string, Resource>,
  registrations: readonly ResourceRegistration[],
): ResolvedRelation[] {
  return readDeclared(registration).flatMap((relation): ResolvedRelation[] => {
    const target = resourceOf(relation.target, resources)
    if (!target) return []
    const { name, columns, foreignColumns, many, through } = relation
    if (relation.unsupported !== undefined) {
      console.warn(`[auto-api] \`${resource.name}.relations\`: the API leaves out \`${name}\`, because it ${relation.unsupported}.`)
      return []
    }
    if (columns && foreignColumns)
      return [{ name, kind: through ? 'manyToMany' : many ? 'many' : 'one', target, columns, foreignColumns, ...through && { through } }]
    const inverse = findInverse(
      resource,
      relation,
      registrations.find(({ name }) => name === target.name)!,
    )
    return inverse ? [{ name, kind: 'many', target, columns: inverse.foreignColumns, foreignColumns: inverse.columns }] : []
  })
}

function readDeclared(registration: ResourceRegistration): DeclaredRelation[] {
  if (registration.relations === undefined) return []
  try {
    return describeRelations(registration.relations, toTable(registration.schema))
  }
  catch (error) {
    throw new Error(`[auto-api] \`${registration.name}.relations\` is ${(error as Error).message}.`, { cause: error })
  }
}

/**
 * Finds the to-one relation that is the inverse of a declared to-many relation, because only the to-one relation lists the columns.
 * The inverse has the same relation name. Without a relation name, it is the only to-one relation or the only foreign key.
 */
function findInverse(
  resource: Resource,
  relation: DeclaredRelation,
  child: ResourceRegistration,
): { columns: readonly string[], foreignColumns: readonly string[] } | undefined {
  const toOnes = readDeclared(child).flatMap(({ columns, foreignColumns, many, target, relationName }) =>
    columns && foreignColumns && !many && target === resource.table ? [{ columns, foreignColumns, relationName }] : [],
  )
  const keys = describeForeignKeys(toTable(child.schema)).filter(key => key.foreignTable === resource.table)
  return relation.relationName
    ? toOnes.find(one => one.relationName === relation.relationName)
    : toOnes.length === 1
      ? toOnes[0]
      : keys.length === 1
        ? keys[0]
        : undefined
}
