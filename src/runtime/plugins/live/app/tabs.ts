/**
 * Shares one stream between the tabs of a browser. The tab that holds a lock is the leader: it has the stream, and passes what it receives
 * to the others. When it closes or crashes, the browser gives the lock to another tab.
 */
import { focusManager } from '@tanstack/vue-query'
import type { Browser } from './browser'
import { NO_NEEDS, unite, type Needs, type StreamMessage } from './messages'
import type { Stream } from './stream'
import type { Timing } from './timing'

export interface TabsSource {
  /** Tabs with the same name share a stream. */
  readonly name: string
  readonly browser: Browser
  readonly timing: Timing
  readonly openStream: (deliver: (message: StreamMessage) => void, last: string | undefined) => Stream
  /** Receives each message of the stream, whichever tab has it. */
  readonly receive: (message: StreamMessage) => void
}

export interface Tabs {
  readonly need: (needs: Needs) => void
  /** The session of the browser has changed: the stream of the previous caller ends. */
  readonly changeCaller: () => void
  readonly leave: () => void
}

/** What the tabs send to each other. */
type Post
  /** To the leader. A page that has just been loaded can have another session than the stream. */
  = | { readonly kind: 'needs', readonly tab: string, readonly needs: Needs, readonly loaded: boolean }
    | { readonly kind: 'caller' }
  /** From the leader. */
    | { readonly kind: 'leader' }
    | { readonly kind: 'stream', readonly message: StreamMessage }

export function joinTabs({ name, browser: { locks, openChannel }, timing, openStream, receive }: TabsSource): Tabs {
  const tab = Array.from(crypto.getRandomValues(new Uint32Array(4)), part => part.toString(36)).join('')
  const left = new AbortController()
  let needs = NO_NEEDS
  let last: string | undefined
  let leader: Leader | undefined
  let channel: ReturnType<NonNullable<typeof openChannel>> | undefined

  const post = (message: Post) => channel?.postMessage(message)
  const lockOf = (of: string) => `${name}#${of}`
  const hear = (message: StreamMessage) => {
    if (left.signal.aborted) return
    last = message.last
    receive(message)
  }

  function lead(): void {
    leader = createLeader(timing, deliver => openStream(deliver, last), (message) => {
      hear(message)
      post({ kind: 'stream', message })
    })
    leader.set(tab, needs)
    post({ kind: 'leader' })
  }

  /** The leader learns that a tab has crashed when it gets the lock of the tab. */
  function watch(of: string): void {
    void locks!.request(lockOf(of), { signal: left.signal }, async () => leader?.set(of, NO_NEEDS)).catch(() => {})
  }

  const handlers: { readonly [K in Post['kind']]: (message: Extract<Post, { kind: K }>) => void } = {
    needs({ tab: of, needs, loaded }) {
      if (!leader) return
      if (!leader.knows(of)) watch(of)
      leader.set(of, needs, loaded)
    },
    caller: () => leader?.forget(),
    leader: () => post({ kind: 'needs', tab, needs, loaded: false }),
    stream: ({ message }) => hear(message),
  }

  const untilLeft = () => new Promise<void>(resolve => left.signal.addEventListener('abort', () => resolve()))

  function join(): void {
    channel = locks && openChannel?.(name)
    if (!locks || !channel) return lead()
    channel.addEventListener('message', ({ data }) => handlers[(data as Post).kind]?.(data as never))
    // The tab holds its own lock before the leader hears of it.
    const hold = () => {
      post({ kind: 'needs', tab, needs, loaded: true })
      return untilLeft()
    }
    const lock = (of: string, run: () => Promise<void>) => locks.request(lockOf(of), { signal: left.signal }, run)
    const alone = () => {
      if (left.signal.aborted || leader) return
      channel?.close()
      channel = undefined
      lead()
    }
    lock(tab, hold).catch(() => {})
    lock('leader', () => {
      lead()
      return untilLeft()
    }).catch(alone)
  }

  join()
  return {
    need(next) {
      needs = next
      if (leader) leader.set(tab, needs)
      else post({ kind: 'needs', tab, needs, loaded: false })
    },
    changeCaller: () => leader ? leader.forget() : post({ kind: 'caller' }),
    leave() {
      post({ kind: 'needs', tab, needs: NO_NEEDS, loaded: false })
      leader?.close()
      left.abort()
      channel?.close()
    },
  }
}

interface Leader {
  /** @param isLoaded whether the page has just been loaded: the stream opens anew */
  readonly set: (tab: string, needs: Needs, isLoaded?: boolean) => void
  readonly knows: (tab: string) => boolean
  /** Opens the stream of the next caller. */
  readonly forget: () => void
  readonly close: () => void
}

/** Opens the stream with the resources of all tabs. It waits a moment, so that the changes of a page load open it once. */
function createLeader(
  { gather, linger }: Timing, open: (deliver: (message: StreamMessage) => void) => Stream, deliver: (message: StreamMessage) => void,
): Leader {
  const needsOf = new Map<string, Needs>()
  const stream = open(deliver)
  let wanted = NO_NEEDS
  let reopening: { readonly resume: boolean } | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let dueAt = Infinity

  function apply(): void {
    clearTimeout(timer)
    dueAt = Infinity
    wanted = unite(needsOf.values())
    if (reopening) stream.reopen(wanted, reopening)
    else stream.want(wanted)
    reopening = undefined
  }

  function applyIn(wait: number): void {
    // Browsers delay the timers of hidden tabs up to a minute, and other tabs wait for this one.
    if (wait <= gather && !focusManager.isFocused()) return apply()
    if (Date.now() + wait >= dueAt) return
    dueAt = Date.now() + wait
    clearTimeout(timer)
    timer = setTimeout(apply, wait)
  }

  return {
    set(tab, needs, isLoaded = false) {
      needsOf.set(tab, needs)
      if (isLoaded) reopening ??= { resume: true }
      const next = unite(needsOf.values())
      const known = new Set([...wanted.own, ...wanted.related])
      applyIn(!isLoaded && [...next.own, ...next.related].every(name => known.has(name)) ? linger : gather)
    },
    knows: tab => needsOf.has(tab),
    forget() {
      reopening = { resume: false }
      applyIn(0)
    },
    close() {
      clearTimeout(timer)
      stream.close()
    },
  }
}
