/**
 * Other servers of the app: reports to them the rows that this one changes, if their streams follow them, and receives theirs. Whenever
 * rows may have changed without a report, the streams of this server are reset.
 */
import { randomUUID } from 'node:crypto'
import type { WatchedRow } from '../../../server/kit/listen'
import { openChannel } from '../../../server/plugin/channel/open'
import type { PluginServer } from '../../../server/plugin/server'
import type { ChannelPlace } from '../options'
import { createPeer, learn, type Peer, type ServerState } from './peers'
import { packRows, unpackRows } from './sent-rows'

interface Messages {
  readonly state: { readonly state: ServerState }
  readonly rows: { readonly rows: Uint8Array }
  /** Rows of these tables have changed, and are not sent. */
  readonly unsent: { readonly tables: readonly string[] }
  /** The server stops, and has reported everything. */
  readonly bye: object
}

type Message = { [Kind in keyof Messages]: { readonly kind: Kind } & Messages[Kind] }[keyof Messages]

export interface ServersOptions {
  readonly place: ChannelPlace
  /** Returns the tables whose rows the streams of this server follow. */
  readonly tables: () => Iterable<string>
  /** Receives the rows that another server has changed. */
  readonly onRows: (rows: readonly WatchedRow[]) => void
  /** Rows may have changed that no server has reported: of these tables, or of any. */
  readonly onMissed: (tables?: readonly string[]) => void
}

export interface Servers {
  /** Whether another server follows any rows, or can do so without the knowledge of this one. */
  readonly isActive: () => boolean
  readonly watches: (table: string) => boolean
  readonly tell: (rows: readonly WatchedRow[]) => void
  /** Tells the other servers which tables this one follows. Resolves when they know it, or late ones will cause a reset. */
  readonly follow: () => Promise<void>
  /** A promise while this server connects for the first time, for some seconds at most. */
  readonly whenReady: () => Promise<void> | undefined
  readonly close: () => Promise<void>
}

/** The time between two states, after which a silent server counts as ended, and for which others wait for an answer. In ms. */
export interface Times { readonly beat: number, readonly lease: number, readonly answer: number, readonly start: number }

export const TIMES: Times = { beat: 5_000, lease: 15_000, answer: 1_000, start: 2_000 }

const ROWS_PER_MESSAGE = 20
/** The rows that wait to be sent. */
const MAX_WAITING = 5_000
/** Milliseconds for which states are collected. */
const COLLECT = 5

export function createServers(server: PluginServer, { place, tables, onRows, onMissed }: ServersOptions, times = TIMES): Servers {
  const peers = new Map<string, Peer>()
  const waiters = new Set<() => void>()
  let waiting: WatchedRow[] = []
  let telling: Promise<void> | undefined
  let own: readonly string[] = []
  let version = 0
  let opened = 0
  let untold = false
  let upSince: number | undefined
  let beatAt = 0
  let soon: ReturnType<typeof setTimeout> | undefined
  let ready: (() => void) | undefined
  let starting: Promise<void> | undefined = new Promise(resolve => ready = resolve)
  setTimeout(started, times.start).unref?.()

  function started(): void {
    ready?.()
    starting = undefined
  }

  const channel = openChannel<Message>(server, {
    place, name: 'live', where: 'live.channel', onMessage,
    onUp() {
      upSince = Date.now()
      // One of them can have ended meanwhile.
      for (const peer of peers.values()) Object.assign(peer, { heardAt: upSince, number: undefined })
      onMissed()
      void beat()
      started()
    },
    onDown() {
      upSince = undefined
      wake()
    },
  })
  const { id } = channel

  const isSettled = () => channel.isUnfit() || (upSince !== undefined && Date.now() - upSince >= times.lease)
  const watches = (table: string) => !isSettled() || [...peers.values()].some(peer => peer.tables.has(table))
  const isKnown = (wanted: number) => [...peers.values()].every(({ tellsAll, knownVersion }) => tellsAll || knownVersion >= wanted)

  function onMessage(from: string, number: number, message: Message): void {
    const now = Date.now()
    let peer = peers.get(from)
    if (!peer) {
      peers.set(from, peer = createPeer(randomUUID(), now))
      beatSoon()
    }
    else if (peer.number !== undefined && number !== peer.number + 1) onMissed()
    peer.number = number
    peer.heardAt = now
    if (message.kind === 'state') onState(peer, message.state)
    else if (message.kind === 'rows') onRows(unpackRows(message.rows))
    else if (message.kind === 'unsent') onMissed(message.tables)
    else peers.delete(from)
    wake()
  }

  function onState(peer: Peer, state: ServerState): void {
    const isChanged = peer.version !== state.version
    const isMissed = learn(peer, state, id, opened)
    if (isMissed || state.untold) onMissed()
    if (isChanged) beatSoon()
  }

  function wake(): void {
    for (const check of waiters) check()
  }

  function beatSoon(): void {
    soon ??= setTimeout(() => {
      soon = undefined
      void beat()
    }, COLLECT)
  }

  async function beat(): Promise<void> {
    const found = [...tables()].sort()
    if (found.join('\0') !== own.join('\0')) {
      own = found
      version++
    }
    beatAt = Date.now()
    const wasUntold = untold
    untold = false
    const knows = Object.fromEntries([...peers].map(([name, peer]) => [name, { meeting: peer.meeting, version: peer.version }]))
    const isSent = await channel.post({ kind: 'state', state: { tables: own, version, tellsAll: !isSettled(), untold: wasUntold, knows } })
    if (wasUntold && !isSent) untold = true
  }

  async function follow(): Promise<void> {
    // A stream that opens earlier would soon be reset.
    await starting
    const known = new Set(own)
    if ([...tables()].some(table => !known.has(table))) void beat()
    const wanted = version
    if (channel.isUp() && !isKnown(wanted)) await untilKnown(wanted)
    opened = Math.max(opened, wanted)
  }

  function untilKnown(wanted: number): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer)
        waiters.delete(check)
        resolve()
      }
      const check = () => {
        if (!channel.isUp() || isKnown(wanted)) finish()
      }
      const timer = setTimeout(finish, times.answer)
      waiters.add(check)
    })
  }

  function tell(rows: readonly WatchedRow[]): void {
    if (channel.isUnfit()) return
    if (!channel.isUp()) {
      untold = true
      return
    }
    for (const row of rows) if (watches(row.table)) waiting.push(row)
    telling ??= tellWaiting().finally(() => telling = undefined)
  }

  async function tellWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const rows = waiting.length > MAX_WAITING ? waiting : waiting.slice(0, ROWS_PER_MESSAGE)
      waiting = waiting.slice(rows.length)
      if (!await channel.post(toMessage(rows))) untold = true
    }
  }

  let tickAt = Date.now()
  const timer = setInterval(() => {
    const now = Date.now()
    // A server that was busy has not read what has arrived meanwhile.
    const delay = now - tickAt
    tickAt = now
    if (!channel.isUp()) return
    for (const [name, peer] of peers) {
      if (delay > times.beat) peer.heardAt += delay
      if (now - peer.heardAt <= times.lease) continue
      // It can have ended between a commit and its report.
      peers.delete(name)
      onMissed()
      wake()
    }
    if (now - beatAt >= times.beat) void beat()
  }, Math.min(1_000, times.beat))
  timer.unref?.()

  return {
    isActive: () => !isSettled() || [...peers.values()].some(peer => peer.tables.size > 0),
    watches, tell, follow,
    whenReady: () => starting,
    async close() {
      clearInterval(timer)
      clearTimeout(soon)
      await telling
      await channel.close({ kind: 'bye' })
    },
  }
}

function toMessage(rows: readonly WatchedRow[]): Message {
  const packed = rows.length > ROWS_PER_MESSAGE ? undefined : packRows(rows)
  return packed ? { kind: 'rows', rows: packed } : { kind: 'unsent', tables: [...new Set(rows.map(({ table }) => table))] }
}
