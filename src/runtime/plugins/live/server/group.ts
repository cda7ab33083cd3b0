/** Subscribers who can read the same rows of a resource. The server asks the database once for all of them. */
import { findVisible, type ReadableRows, type Resource, type Visible } from '../../../server/kit/rows'
import type { ChangedRecord, Changes } from './changes'
import type { Side } from './sides'

/** A stream that listens to one resource. */
export interface Member {
  /** The fields that the caller can read. */
  readonly readable: ReadonlySet<string>
  readonly send: (text: string) => void
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
export interface Signal {
  readonly position: number
  readonly text: string
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
  /** When the last member has left. */
  emptySince?: number
}

/** The events that a group keeps. */
const MAX_RECENT = 1000

export const receives = ({ readable }: Pick<Member, 'readable'>, { fields }: Signal): boolean => {
  if (!fields) return true
  for (const name of fields) if (readable.has(name)) return true
  return false
}

export function emit(group: Group, signal: Signal): void {
  group.recent.push(signal)
  if (group.recent.length > MAX_RECENT) group.completeSince = group.recent.shift()!.position
  for (const member of group.members) if (receives(member, signal)) member.send(signal.text)
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
  const ids = [...new Set([...records.keys(), ...linked])]
  if (ids.length === 0) return []
  const { now, before } = await ask(rows, ids, [...records.values()])
  return ids.flatMap((id): Judged[] => {
    const record = records.get(id)
    if (!now.has(id)) return record && before.has(id) ? [{ id, event: 'gone' }] : []
    // A record that the caller could not read before is new to it, whatever has changed.
    const isNew = record !== undefined && record.befores.length > (before.get(id) ?? 0)
    const isWhole = linked.has(id) || isNew || record?.fields === undefined
    return [{ id, event: 'changed', ...!isWhole && { fields: record!.fields } }]
  })
}

const ask = (rows: ReadableRows, ids: readonly string[], records: readonly ChangedRecord[]): Promise<Visible> =>
  findVisible(rows, { ids, rows: records.flatMap(({ befores }) => befores) })

/** The records whose links have changed, if the callers can see the link and the record on its other side. */
async function linkedRecords(links: readonly LinkScope[], changes: Changes): Promise<ReadonlySet<string>> {
  const linked = new Set<string>()
  for (const { side, other, junction } of links) {
    const junctionRows = changes.recordsOf(side.table)
    const found = [...junctionRows].flatMap(([id, { rows }]) => rows.flatMap(row => side.linksOf(row)).map(link => ({ ...link, id })))
    if (found.length === 0) continue
    const others = changes.recordsOf(side.other.facts.name)
    const visible = await ask(other, [...new Set(found.map(link => link.other))], [...others.values()])
    const shown = junction && await ask(junction, [...new Set(found.map(({ id }) => id))], [...junctionRows.values()])
    const has = ({ now, before }: Visible, id: string) => now.has(id) || before.has(id)
    for (const link of found) if (has(visible, link.other) && (!shown || has(shown, link.id))) linked.add(link.own)
  }
  return linked
}
