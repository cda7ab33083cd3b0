/** The other servers of the app, as this one knows them from their messages. */

/** What a server says about itself, when something has changed and every few seconds. */
export interface ServerState {
  /** The tables whose rows its streams follow. */
  readonly tables: readonly string[]
  /** The number of the list of tables. A changed list has the next number. */
  readonly version: number
  /** Whether it reports every row that it changes, because it does not know all other servers yet. */
  readonly tellsAll: boolean
  /** Whether it has changed rows that it could not report. */
  readonly untold: boolean
  /** The other servers that it knows, with the version of their tables. The meeting is another one after it has forgotten the server. */
  readonly knows: Readonly<Record<string, { readonly meeting: string, readonly version: number }>>
}

export interface Peer {
  readonly meeting: string
  heardAt: number
  /** The number of its last message. Absent after this server has missed some. */
  number?: number
  tables: ReadonlySet<string>
  version: number
  tellsAll: boolean
  /** Which of the lists of this server it knows, since which meeting. */
  knownVersion: number
  knownMeeting?: string
}

export const createPeer = (meeting: string, now: number): Peer =>
  ({ meeting, heardAt: now, tables: new Set(), version: -1, tellsAll: false, knownVersion: 0 })

/**
 * Stores what a server says.
 * @param peer the server
 * @param state what it says
 * @param id the id of this server
 * @param opened the version of the tables for which this server has opened streams
 * @returns whether the server may have changed rows without a report to this one, which streams of this one follow
 */
export function learn(peer: Peer, state: ServerState, id: string, opened: number): boolean {
  const { tables, version, tellsAll, knows } = state
  peer.tables = new Set(tables)
  peer.version = version
  peer.tellsAll = tellsAll
  const own = Object.hasOwn(knows, id) ? knows[id] : undefined
  if (!own) return false
  const known = own.meeting === peer.knownMeeting ? peer.knownVersion : 0
  peer.knownMeeting = own.meeting
  peer.knownVersion = own.version
  return known < opened && known < own.version && !tellsAll
}
