/** Finds the junctions on whose sides a resource is. A link changes the records on both of its sides. */
import type { Api } from '../../../server/kit/call'
import type { WatchedRow } from '../../../server/kit/listen'
import { memoized } from '../../../server/kit/process'
import { type Field, type RecordValues, type Resource, toId } from '../../../server/kit/rows'

/** A resource on one side of a junction. */
export interface Side {
  /** The name of the junction's table in the database. */
  readonly table: string
  /** The junction, if the app registers it. Then its rules decide who can see a link. */
  readonly junction?: Resource
  /** The resource on the other side. */
  readonly other: Resource
  /** The links that a row of the junction is before and after a change. A row in the trash is none. */
  readonly linksOf: (row: WatchedRow) => readonly Link[]
}

/** The ids of both records. */
export interface Link {
  readonly own: string
  readonly other: string
}

type Sides = ReadonlyMap<string, readonly Side[]>

const NO_SIDES: readonly Side[] = []

export const sidesOf = ({ resources }: Api, { name }: Resource): readonly Side[] => allSides(resources).get(name) ?? NO_SIDES

const allSides = memoized((resources: ReadonlyMap<string, Resource>): Sides => {
  const sides = new Map<string, Side[]>()
  const add = (own: Resource, side: Side) => {
    const known = sides.get(own.name) ?? []
    sides.set(own.name, known)
    if (!known.some(({ table, other }) => table === side.table && other === side.other)) known.push(side)
  }
  for (const source of resources.values()) {
    for (const relation of source.relations.values()) {
      if (relation.kind !== 'manyToMany') continue
      const { columns, foreignColumns, target, junction: { resource, registered, sourceKey, targetKey } } = relation
      const end = (record: Resource, names: readonly string[], of: readonly Field[]) => ({ record, names, of })
      const ends = [end(source, sourceKey.columns, columns), end(target, targetKey.columns, foreignColumns)] as const
      for (const [own, other] of [ends, [ends[1], ends[0]] as const]) {
        add(own.record, {
          table: resource.facts.name,
          ...registered && { junction: resource },
          other: other.record,
          linksOf: row => linksOf(row, resource, values => ({ own: idAt(own, values), other: idAt(other, values) })),
        })
      }
    }
  }
  return sides
})

interface End {
  readonly record: Resource
  /** The names of the columns of the junction, and the columns to which they refer. */
  readonly names: readonly string[]
  readonly of: readonly Field[]
}

/** `undefined` if a column is NULL, or the link does not refer to the primary key. */
function idAt({ record, names, of }: End, row: RecordValues): string | undefined {
  const key = record.primaryKey.map(field => row[names[of.indexOf(field)] ?? ''] ?? undefined)
  return key.includes(undefined) ? undefined : toId(record, key)
}

function linksOf(
  { before, after }: WatchedRow, { roles: { deletedAt } }: Resource,
  toLink: (row: RecordValues) => { readonly own: string | undefined, readonly other: string | undefined },
): readonly Link[] {
  const [old, current] = [before, after].map((row) => {
    const link = row && (!deletedAt || row[deletedAt.name] === null) ? toLink(row) : undefined
    return link?.own !== undefined && link.other !== undefined ? link as Link : undefined
  })
  const isSame = old && current && old.own === current.own && old.other === current.other
  return isSame ? [] : [old, current].filter(link => link !== undefined)
}
