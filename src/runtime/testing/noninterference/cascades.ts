/** Deletes that reach a visible row only through a hidden one: then the visible rows that they delete depend on hidden rows. */
import { toPath } from '../access/probes'
import type { SentRequest } from './sent'
import { idOf, keyOf, type Row, type SeenResource, type Sight } from './sight'

interface Reached {
  readonly seen: SeenResource
  readonly row: Row
}

/** Whether a foreign key of a visible row refers to a hidden dependent of a row that the request names. */
export function passesHidden({ resources }: Sight, sent: SentRequest): boolean {
  const named = new Set([decodeURIComponent(sent.path.split('/')[2] ?? ''), ...leaves(sent.body)])
  const all = [...resources.values()].filter(({ resource }) => resource.primaryKey.length > 0)
  const queue = all.flatMap(seen => seen.rows.filter(row => isNamed(seen, row, named)).map((row): Reached => ({ seen, row })))
  const reached = new Set<string>()
  for (const { seen, row } of queue) {
    const isHidden = !seen.visible.has(keyOf(seen.resource, row))
    for (const dependent of dependentsOf(all, seen, row)) {
      const key = keyOf(dependent.seen.resource, dependent.row)
      if (isHidden && dependent.seen.visible.has(key)) return true
      if (reached.has(`${dependent.seen.resource.name} ${key}`)) continue
      reached.add(`${dependent.seen.resource.name} ${key}`)
      queue.push(dependent)
    }
  }
  return false
}

function isNamed({ resource }: SeenResource, row: Row, named: ReadonlySet<string>): boolean {
  return named.has(decodeURIComponent(toPath(idOf(resource.primaryKey, row))))
}

function dependentsOf(all: readonly SeenResource[], { resource }: SeenResource, row: Row): Reached[] {
  return all.flatMap(seen => seen.resource.foreignKeys.filter(({ foreignTable }) => foreignTable === resource.table)
    .flatMap(({ columns, foreignColumns }) => seen.rows
      .filter(dependent => columns.every((name, index) => String(dependent[name]) === String(row[foreignColumns[index]!])))
      .map(dependent => ({ seen, row: dependent }))))
}

/** The values in a body, as text. */
export function leaves(body: unknown): string[] {
  return typeof body === 'object' && body !== null ? Object.values(body).flatMap(leaves) : [String(body)]
}
