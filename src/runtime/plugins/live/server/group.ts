/** Subscribers who can read the same rows of a resource. The server asks the database once for all of them. */
import type { ReadableRows, RecordValues, Resource } from '../../../server/kit/rows'
import { addDifferences, changedFields, type ChangedRecord, type Changes } from './changes'
import type { Side } from './sides'

type Visible = Awaited<ReturnType<ReadableRows['find']>>

/** A stream that listens to one resource. */
export interface Member {
  /** The fields that the caller can read. */
  readonly readable: ReadonlySet<string>
  /** Sends events at once. Each stream adds its own mark to their ids. */
  readonly send: (events: readonly SentEvent[]) => void
}

export interface SentEvent {
  readonly id: string
  /** The event without its id. */
  readonly text: string
}

/** What the callers of a group can read. */
export interface Scope {
  readonly resource: Resource
  readonly rows: ReadableRows
  /** The links that the callers can read, with the rules of the records on the other side. */
  readonly links: readonly LinkScope[]
  /** Scopes with the same text read the same rows, unless a rule runs in code. */
  readonly text: string
  readonly isJudged: boolean
}

export interface LinkScope {
  readonly side: Side
  readonly other: ReadableRows
  readonly junction?: ReadableRows
}

/** An event of a group. */
export interface Signal extends SentEvent {
  readonly position: number
  /** The fields whose values have changed. Absent if every member receives the event. */
  readonly fields?: ReadonlySet<string>
}

export interface Group {
  scope: Scope
  readonly members: Set<Member>
  /** The last events, for members who connect again. */
  readonly recent: Signal[]
  /** The position after which `recent` is complete. */
  completeSince: number
}

/** The events that a group keeps. */
const MAX_RECENT = 1000

export const receives = ({ readable }: Pick<Member, 'readable'>, { fields }: Signal): boolean => {
  if (!fields) return true
  for (const name of fields) if (readable.has(name)) return true
  return false
}

export function emit(group: Group, signals: readonly Signal[]): void {
  const { recent, members } = group
  recent.push(...signals)
  if (recent.length > MAX_RECENT) group.completeSince = recent.splice(0, recent.length - MAX_RECENT).at(-1)!.position
  for (const member of members) {
    const received = signals.filter(signal => receives(member, signal))
    if (received.length > 0) member.send(received)
  }
}

/** A record about which the members of a group receive a signal. */
export interface Judged {
  readonly id: string
  readonly event: 'changed' | 'gone'
  readonly fields?: ReadonlySet<string>
}

/** Finds the records of which a group learns. One statement, and more only for links that have changed. */
export async function judge({ scope: { rows, links, resource } }: Group, changes: Changes): Promise<readonly Judged[]> {
  const records = changes.recordsOf(resource.facts.name)
  const linked = await linkedRecords(links, changes)
  // In the order of their ids: the order of the changes could be that of changes that the members cannot see.
  const ids = [...new Set([...records.keys(), ...linked])].sort()
  if (ids.length === 0) return []
  const { now, before } = await ask(rows, ids, [...records.values()], changes)
  return ids.flatMap((id): Judged[] => {
    const record = records.get(id)
    const current = now.get(id)
    if (!current) return record?.before.some(image => before.has(image)) ? [{ id, event: 'gone' }] : []
    if (linked.has(id) || !record) return [{ id, event: 'changed' }]
    // A record that the caller could not read at some time is new to it, whatever has changed.
    const isNew = record.isNew || record.before.some(image => !before.has(image))
    const fields = isNew ? undefined : fieldsOf(record, current, before)
    return [{ id, event: 'changed', ...fields && { fields } }]
  })
}

/** The fields that have changed, with computed fields, which change with columns that the caller cannot read. */
function fieldsOf(record: ChangedRecord, current: RecordValues, before: Visible['before']): ReadonlySet<string> | undefined {
  const fields = changedFields(record, current)
  if (!fields) return undefined
  const found = new Set(fields)
  for (const image of record.before) addDifferences(found, computedOf(before.get(image)!, image), current)
  return found
}

const computedOf = (values: RecordValues, image: RecordValues): RecordValues =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !(name in image)))

const ask = (
  rows: ReadableRows, ids: readonly string[], records: readonly ChangedRecord[], changes: Changes,
): Promise<Visible> => rows.find({
  ids, rows: records.flatMap(({ before }) => before), whole: records.some(({ needsCurrent }) => needsCurrent),
  earlier: ({ facts: { name } }) => changes.earlierOf(name),
})

/** The records whose links have changed, if the callers can see the link and the record on its other side. */
async function linkedRecords(links: readonly LinkScope[], changes: Changes): Promise<ReadonlySet<string>> {
  const linked = new Set<string>()
  for (const { side, other, junction } of links) {
    const rows = changes.recordsOf(side.table)
    const found = [...rows].flatMap(([id, record]) => record.rows.flatMap(row => side.linksOf(row)).map(link => ({ ...link, id })))
    if (found.length === 0) continue
    const canSee = await findSeen(other, [...new Set(found.map(link => link.other))], side.other.facts.name, changes)
    const canSeeLink = junction ? await findSeen(junction, [...new Set(found.map(({ id }) => id))], side.table, changes) : () => true
    for (const link of found) if (canSee(link.other) && canSeeLink(link.id)) linked.add(link.own)
  }
  return linked
}

/** Finds out which records the callers can read, or could read before a commit. */
async function findSeen(
  rows: ReadableRows, ids: readonly string[], table: string, changes: Changes,
): Promise<(id: string) => boolean> {
  const changed = changes.recordsOf(table)
  const { now, before } = await ask(rows, ids, ids.flatMap(id => changed.get(id) ?? []), changes)
  return id => now.has(id) || changed.get(id)?.before.some(image => before.has(image)) === true
}
