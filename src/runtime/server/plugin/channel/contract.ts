/** What carries the messages between the servers of an app. */

/** How a server receives what the channel carries. */
export interface Receiver {
  /** Runs for each text that a server has published, this one included. */
  readonly receive: (text: string) => void
  /** Runs if the connection ends. */
  readonly lose: (error: unknown) => void
}

export interface Connection {
  /** Resolves when the text is sent. */
  readonly publish: (text: string) => Promise<unknown>
  /** Publishes on another connection. Absent if the texts of `publish` come back in the same way as those of other servers. */
  readonly publishElsewhere?: (text: string) => Promise<unknown>
  readonly close: () => Promise<unknown>
}

export type Channels = readonly [own: string, ...others: string[]]

export interface Transport {
  /** The most characters of one text. */
  readonly maxLength: number
  /**
   * Subscribes to channels, and publishes on the first one.
   * @param names letters, digits and `_`
   * @throws {UnfitError} if it can never connect
   */
  readonly connect: (names: Channels, receiver: Receiver) => Promise<Connection>
}

/** The app's database or storage cannot carry messages. */
export class UnfitError extends Error {}
