/** Reads the relations that an app declares with Drizzle's `relations()`. */
import type { ResourceRegistration } from '../registration'
import { describeForeignKeys } from './drizzle/foreign-keys'
import { describeRelations, type DeclaredRelation } from './drizzle/relations'
import type { Resource } from './model'
import { resourceOf } from './relation-columns'

export interface ResolvedRelation {
  readonly name: string
  readonly kind: 'one' | 'many'
  readonly target: Resource
  readonly columns: readonly string[]
  readonly foreignColumns: readonly string[]
}

/** Drizzle's own names with the columns they join, so that they can take the place of the derived ones. */
export function resolveDeclaredRelations(
  resource: Resource,
  registration: ResourceRegistration,
  resources: ReadonlyMap<string, Resource>,
  registrations: readonly ResourceRegistration[],
): ResolvedRelation[] {
  return readDeclared(registration).flatMap((relation): ResolvedRelation[] => {
    const target = resourceOf(relation.target, resources)
    if (!target) return []
    const { name, columns, foreignColumns } = relation
    if (columns && foreignColumns) return [{ name, kind: 'one', target, columns, foreignColumns }]
    const back = findInverse(
      resource,
      relation,
      registrations.find(({ name }) => name === target.name)!,
    )
    return back ? [{ name, kind: 'many', target, columns: back.foreignColumns, foreignColumns: back.columns }] : []
  })
}

function readDeclared(registration: ResourceRegistration): DeclaredRelation[] {
  if (registration.relations === undefined) return []
  try {
    return describeRelations(registration.relations).relations
  }
  catch (error) {
    throw new Error(`[auto-api] \`${registration.name}.relations\` is ${(error as Error).message}.`, { cause: error })
  }
}

/** The side that holds the key of a declared to-many: the same relation name, or the only way back. */
function findInverse(
  resource: Resource,
  relation: DeclaredRelation,
  child: ResourceRegistration,
): { columns: readonly string[], foreignColumns: readonly string[] } | undefined {
  const ones = readDeclared(child).flatMap(({ columns, foreignColumns, target, relationName }) =>
    columns && foreignColumns && target === resource.table ? [{ columns, foreignColumns, relationName }] : [],
  )
  const keys = describeForeignKeys(child.schema).filter(key => key.foreignTable === resource.table)
  return relation.relationName
    ? ones.find(one => one.relationName === relation.relationName)
    : ones.length === 1
      ? ones[0]
      : keys.length === 1
        ? keys[0]
        : undefined
}
