/** Finds the rows that a request names: in its path, in its body, and in its error. */
import type { Operation } from '../../shared/operations'
import type { Resource } from '../schema/model'
import type { Explaining } from './explain'

export interface Subject {
  readonly resource: Resource
  readonly operation: Operation
  readonly id: string
}

const MAX_SUBJECTS = 20

/** The row of the path comes first, because the request ends there if it cannot be seen. */
export function findSubjects({ api, resource, operation, session, exchange, error }: Explaining): Subject[] {
  if (!resource) return []
  const { id, relation = error.relation } = session.ctx.params
  const target = relation === undefined ? undefined : resource.relations.get(relation)?.target
  const named = [...error.ids ?? [], ...idsIn(exchange.body)].map(String)
  const subjects = [
    // A part of the path, such as `bulk`, takes the place of an id.
    ...id === undefined || api.reservedIds.has(id) ? [] : [{ resource, operation, id }],
    ...named.map((id): Subject => target ? { resource: target, operation: 'read', id } : { resource, operation, id }),
  ]
  const distinct = new Map(subjects.map(subject => [`${subject.resource.name}/${subject.id}`, subject]))
  return [...distinct.values()].slice(0, MAX_SUBJECTS)
}

/** The ids of a body: of `ids`, of `id` in items, and of a list of ids. */
function idsIn(body: unknown, depth = 0): unknown[] {
  if (typeof body !== 'object' || body === null || depth > 3) return []
  const isId = (value: unknown) => typeof value === 'string' || typeof value === 'number'
  if (Array.isArray(body)) return body.flatMap((item: unknown) => isId(item) ? [item] : idsIn(item, depth + 1))
  return Object.entries(body).flatMap(([key, value]: [string, unknown]) => {
    if (key === 'id') return isId(value) ? [value] : []
    return typeof value === 'object' ? idsIn(value, depth + 1) : []
  })
}
