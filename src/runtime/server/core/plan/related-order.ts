/** Plans an order by related rows: `author.name` sorts by a field of a to-one relation, `comments.$count` by a number of rows. */
import { COUNT_OPERATOR } from '../../../shared/relation-counts'
import type { Relation, Resource } from '../../schema/model'
import type { Call } from '../request/session'
import { invalidQuery, limitExceeded, quote, unknownField } from '../error'
import { readableFields, type Selection } from '../access/fields'
import type { RelatedOrder, RelatedValue } from '../access/plan'
import type { SortField } from '../parse/params'
import type { SortedValue } from '../sql/keyset'
import type { RelatedReads } from './filter'
import { sortable, type RelatedSorts } from './order'
import { findReadableRelation, isCheckedInCode, usableRelations } from '../access/readable-relation'

/** Whether `sort` can name related rows. A field whose own name has a dot takes precedence. */
export const sortsRelated = (sort: readonly SortField[]): boolean => sort.some(({ name }) => name.includes('.'))

/**
 * Resolves the names of `sort` that have a dot. The caller authorizes `reads.targets` when the whole request is planned.
 * @throws `UNKNOWN_FIELD`, `LIMIT_EXCEEDED`, and `INVALID_QUERY` for what has no order or cannot be sorted in SQL
 */
export async function planRelatedSorts(
  sort: readonly SortField[], resource: Resource, readable: Selection, call: Call, reads: RelatedReads, parameter = 'sort',
): Promise<RelatedSorts> {
  const planned = new Map<string, Pick<RelatedOrder, 'field' | 'related'>>()
  for (const { name } of sort) {
    if (!name.includes('.') || readable.byName.has(name) || planned.has(name)) continue
    planned.set(name, await planPath({ call, reads, parameter, path: name }, resource, name, 1))
  }
  return planned
}

interface Planner {
  readonly call: Call
  readonly reads: RelatedReads
  readonly parameter: string
  /** The whole name, for errors. */
  readonly path: string
}

async function planPath(
  planner: Planner, resource: Resource, path: string, depth: number,
): Promise<{ readonly field: SortedValue, readonly related: RelatedValue }> {
  const { call, parameter, reads } = planner
  const dot = path.indexOf('.')
  const name = path.slice(0, dot)
  const rest = path.slice(dot + 1)
  const relation = await findReadableRelation(call, resource, name)
  if (!relation) throw unknown(planner, path, (await usableRelations(call, resource)).map(name => `${name}.${rest}`))
  const { maxDepth, maxIncludes } = call.api.config.relations
  if (depth > maxDepth) throw limitExceeded(`\`${parameter}\` goes deeper than ${maxDepth} relations.`, parameter)
  if (--reads.remaining < 0) throw limitExceeded(`The filters and orders name more than ${maxIncludes} relations.`, parameter)
  if (isCheckedInCode(relation, call.api))
    throw invalidQuery(
      `\`${parameter}\`: a list cannot be sorted by ${quote(planner.path)}, because code checks the records of ${quote(name)}.`, parameter,
    )
  reads.targets.add(relation.target)
  return planValue(planner, relation, rest, depth)
}

async function planValue(planner: Planner, relation: Relation, name: string, depth: number): ReturnType<typeof planPath> {
  const { call, parameter } = planner
  const { target, kind } = relation
  const rows = {
    relation,
    plan: { resource: target, trash: 'active' as const, where: [] },
    ...relation.kind === 'manyToMany' && { through: { resource: relation.junction.resource, trash: 'active' as const } },
  }
  if (kind !== 'one') {
    if (name !== COUNT_OPERATOR)
      throw invalidQuery(
        `\`${parameter}\`: ${quote(relation.name)} is a list; only \`${COUNT_OPERATOR}\` of a list has an order.`, parameter,
      )
    return { field: COUNT, related: { ...rows, of: undefined } }
  }
  const readable = await readableFields(call, target)
  const field = readable.byName.get(name)
  if (field) return { field: { ...sortable(field, parameter, planner.path), nullable: true }, related: { ...rows, of: field } }
  if (!name.includes('.')) throw unknown(planner, name, [...readable.byName.keys()])
  const further = await planPath(planner, target, name, depth + 1)
  return { field: { ...further.field, nullable: true }, related: { ...rows, of: further.related } }
}

/** The error of a path whose end is unknown. */
function unknown({ parameter, path }: Planner, rest: string, known: readonly string[]): Error {
  const start = path.slice(0, path.length - rest.length)
  return unknownField(parameter, path, known.map(end => `${start}${end}`))
}

const COUNT: SortedValue = {
  name: COUNT_OPERATOR, kind: 'integer', nullable: false, ordered: true,
  isDriverValue: raw => Number.isSafeInteger(raw) && (raw as number) >= 0,
}
