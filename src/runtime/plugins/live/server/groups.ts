/** The groups of subscribers, and the signals that they receive after commits. */
import type { WatchedRow } from '../../../server/kit/listen'
import { createChanges } from './changes'
import { createEventIds } from './event-id'
import { eventText } from './event-text'
import { emit, judge, receives, type Group, type Judged, type Member, type Scope, type Signal } from './group'

/** Milliseconds for which commits are collected. */
const COLLECT = 50
/** Milliseconds for which a group without members goes on, for a member who connects again. */
const KEEP = 60_000
/** Groups without members that go on. Each of them costs a statement per commit, and a rule with the time makes a new group each time. */
const MAX_UNUSED = 100
/** The changes that wait to be judged. With more, the streams of their tables are reset. */
const MAX_WAITING = 20_000
/** Everything has to be read again. */
const RESET = eventText('reset', {})
/** Milliseconds for which signals are sent before requests can run. */
const TURN = 10
/** The groups that ask the database at the same time. */
const AT_ONCE = 4

export type Groups = ReturnType<typeof createGroups>

/** @param onError reports an error of the database. The members of the group then read everything again. */
export function createGroups(onError: (error: unknown) => undefined) {
  const ids = createEventIds()
  const groups = new Set<Group>()
  const byText = new Map<string, Group>()
  /** The groups without members, and when the last one has left. */
  const unused = new Map<Group, number>()
  /** The tables whose rows a group needs, with the number of groups. */
  const tables = new Map<string, number>()
  let last = 0
  let changes = createChanges()
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Whether the time of collecting is over. */
  let isDue = false
  let isJudging = false

  function find(scope: Scope): Group {
    const known = scope.isJudged ? undefined : byText.get(scope.text)
    if (known) return known
    // Nobody has followed its rows until now, so an earlier position says nothing.
    const group: Group = { scope, members: new Set(), recent: [], completeSince: ++last }
    add(group)
    keep(group)
    return group
  }

  function add(group: Group): void {
    groups.add(group)
    if (!group.scope.isJudged) byText.set(group.scope.text, group)
    for (const table of tablesOf(group.scope)) tables.set(table, (tables.get(table) ?? 0) + 1)
  }

  function keep(group: Group): void {
    unused.set(group, Date.now())
    if (unused.size > MAX_UNUSED) remove(unused.keys().next().value!)
  }

  function remove(group: Group): void {
    unused.delete(group)
    if (!groups.delete(group)) return
    if (byText.get(group.scope.text) === group) byText.delete(group.scope.text)
    for (const table of tablesOf(group.scope)) {
      const left = tables.get(table)! - 1
      if (left === 0) tables.delete(table)
      else tables.set(table, left)
    }
  }

  /** Commits wait for nothing. */
  function onRows(rows: readonly WatchedRow[]): void {
    if (changes.size + rows.length > MAX_WAITING) return missed(new Set(rows.map(({ table }) => table)))
    changes.add(rows)
    timer ??= setTimeout(() => {
      timer = undefined
      isDue = true
      if (!isJudging) void judgeCollected()
    }, COLLECT)
  }

  /** One after the other, so that the signals about a record keep their order. A server that is busy collects for longer. */
  async function judgeCollected(): Promise<void> {
    isJudging = true
    while (isDue) {
      isDue = false
      const collected = changes
      changes = createChanges()
      await judgeAll(collected).catch(onError)
    }
    isJudging = false
  }

  /** No group sends before all are judged: the order of events would say which of them had more to judge. */
  async function judgeAll(collected: typeof changes): Promise<void> {
    const all = [...groups]
    const found: (readonly Judged[] | undefined)[] = []
    const waiting = all.entries()
    const work = async () => {
      for (const [index, group] of waiting) found[index] = await judge(group, collected).catch(onError)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    let began = performance.now()
    for (const [index, group] of all.entries()) {
      send(group, found[index])
      if (performance.now() - began < TURN) continue
      // Requests do not wait for thousands of streams.
      await new Promise(resolve => setImmediate(resolve))
      began = performance.now()
    }
  }

  function send(group: Group, found: readonly Judged[] | undefined): void {
    if (!found) return reset(group)
    const resource = group.scope.resource.name
    emit(group, found.map(({ id, event, fields }) => {
      const position = ++last
      return { position, id: ids.toId(position), text: eventText(event, { resource, id }), fields }
    }))
  }

  /** Nobody knows what the members have missed. */
  function reset(group: Group): void {
    group.completeSince = ++last
    group.recent.length = 0
    const events = [toReset()]
    for (const { send } of group.members) send(events)
  }

  /** Rows of these tables may have changed without a signal. @default any table */
  function missed(names?: Iterable<string>): void {
    const changed = names && [...names]
    for (const group of groups) if (!changed || changed.some(name => tablesOf(group.scope).has(name))) reset(group)
  }

  const lastId = () => ids.toId(last)
  const toReset = () => ({ text: RESET, id: lastId() })

  return {
    find,
    onRows,
    lastId,
    toReset,
    isUsed: () => groups.size > 0,
    watches: ({ table }: Pick<WatchedRow, 'table'>) => tables.has(table),
    tables: () => tables.keys(),
    missed,
    join(group: Group, member: Member): void {
      // Others have come since it was found.
      if (!groups.has(group)) {
        group.completeSince = ++last
        add(group)
      }
      unused.delete(group)
      group.members.add(member)
    },
    leave(group: Group, member: Member): void {
      group.members.delete(member)
      if (group.members.size > 0) return
      // Nobody else can join it.
      if (group.scope.isJudged) remove(group)
      else keep(group)
    },
    removeUnused(now: number): void {
      for (const [group, since] of unused) if (now - since > KEEP) remove(group)
    },
    /** Returns the events after an event, or `undefined` if nobody knows all of them. */
    missedBy(members: readonly (Member & { readonly group: Group })[], eventId: string): readonly Signal[] | undefined {
      const since = ids.toPosition(eventId)
      if (since === undefined || members.some(({ group }) => group.completeSince > since)) return undefined
      const missed = members.flatMap(member => member.group.recent.filter(signal => signal.position > since && receives(member, signal)))
      return missed.sort((one, other) => one.position - other.position)
    },
  }
}

function tablesOf({ resource, rows, links }: Scope): ReadonlySet<string> {
  const read = [rows, ...links.flatMap(({ other, junction }) => [other, ...junction ? [junction] : []])].flatMap(({ reads }) => reads)
  const records = [resource, ...read, ...links.map(({ side }) => side.other)].map(({ facts }) => facts.name)
  return new Set([...records, ...links.map(({ side }) => side.table)])
}
