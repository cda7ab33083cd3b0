/** What the tabs of a browser share: locks and channels. Tests replace it. */

export interface Channel {
  readonly addEventListener: (type: 'message', listener: (event: { readonly data: unknown }) => void) => void
  readonly postMessage: (message: unknown) => void
  readonly close: () => void
}

/** The part of Web Locks that elects a leader. */
export interface Locks {
  readonly request: (name: string, options: { readonly signal?: AbortSignal }, hold: () => Promise<void>) => Promise<unknown>
}

/** Without one of them, each tab has a stream of its own. */
export interface Browser {
  readonly locks?: Locks
  readonly openChannel?: (name: string) => Channel | undefined
}

/** Web Locks need HTTPS or localhost. */
export function thisBrowser(): Browser {
  const { locks } = globalThis.navigator as Partial<Navigator>
  if (!locks || typeof BroadcastChannel === 'undefined') return {}
  return {
    locks: { request: (name, options, hold) => locks.request(name, options, hold) },
    openChannel(name) {
      try {
        return new BroadcastChannel(name)
      }
      catch {
        // A frame of another site has no storage.
        return undefined
      }
    },
  }
}
