/** The open streams of this server: who listens to what, and when a stream ends. */
import type { Session } from '../../../server/kit/call'
import { ApiError, rateLimited } from '../../../server/kit/errors'
import { commitsEnded } from '../../../server/kit/process'
import { type ApiRequest, callerKey } from '../../../server/kit/request'
import { type ApiResponse, type Push, pushedBody } from '../../../server/kit/respond'
import type { Resource } from '../../../server/kit/rows'
import type { LivePolicy } from '../options'
import { createCallerChecks, type Checked, type Reason } from './caller-checks'
import { encode, eventText, HEARTBEAT, withId } from './event-text'
import type { Groups } from './groups'
import type { Group, Member, SentEvent } from './group'
import { createMarks, identityOf } from './identity'
import type { Subscription } from './scopes'

interface StreamFacts extends Omit<Checked, 'request'> {
  readonly caller: string
  /** The end of its event ids. A client with another mark could read something else when it received the event. */
  mark: string
}

interface Opening extends StreamFacts {
  readonly places: readonly Place[]
}

interface Stream extends StreamFacts {
  readonly request: ApiRequest
  readonly push: Push
  members: readonly (Member & { readonly group: Group })[]
  lastSent: number
  checkAt: number
  readonly endAt: number
  isChecking: boolean
}

/** The group in which a stream listens to a resource. */
interface Place {
  readonly group: Group
  readonly readable: ReadonlySet<string>
}

const SECOND = 1000
const HEARTBEAT_AFTER = 25 * SECOND
const MAX_AGE = 30 * 60 * SECOND
/** The bytes that wait for a client before it is dropped. */
const MAX_QUEUED = 256 * 1024
/** Seconds after which a client that was refused can try again. */
const RETRY_AFTER = 30

const busy = (reason: string) =>
  new ApiError('BUSY', `${reason} Try again later.`, {}, undefined, { 'Retry-After': String(RETRY_AFTER) })

const HEADERS = Object.freeze({
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'private, no-cache, no-transform',
  'x-accel-buffering': 'no',
})

/** A time around `milliseconds`, so that not all clients do something at once. */
const around = (milliseconds: number) => milliseconds * (0.75 + Math.random() / 2)

/** `follow` tells the other servers which rows the groups of this one follow, and resolves when they know it. */
export function createStreams(
  { maxStreams, maxStreamsPerCaller, recheck }: LivePolicy, groups: Groups, follow: () => Promise<void> = async () => {},
) {
  const streams = new Set<Stream>()
  const markOf = createMarks()
  const perCaller = new Map<string, number>()
  let timer: ReturnType<typeof setInterval> | undefined
  let closed = false
  const callers = createCallerChecks()

  /** @throws 401 and 403 for what the caller cannot read, 429 and 503 for too many streams */
  async function open(
    { api, ctx }: Session, request: ApiRequest, resources: readonly Resource[], subscriptions: readonly Subscription[],
  ): Promise<ApiResponse> {
    const caller = callerKey(ctx, request)
    assertRoom(caller)
    const identity = identityOf(ctx)
    const opening = { api, resources, caller, identity, mark: markOf(identity, subscriptions), places: subscriptions.map(toPlace) }
    startTimer()
    await follow()
    // Others can have come meanwhile.
    assertRoom(caller)
    return { status: 200, headers: HEADERS, body: bodyOf(request, opening) }
  }

  /** The body keeps nothing of the session, because a stream lives for a long time. */
  function bodyOf(request: ApiRequest, opening: Opening) {
    let unopened: Opening | undefined = opening
    let stream: Stream | undefined
    return pushedBody({
      maxQueued: MAX_QUEUED,
      start(push) {
        const { places, ...facts } = unopened!
        unopened = undefined
        // Others have begun since the check.
        if (!hasRoom(facts.caller)) return refuse(push)
        const now = Date.now()
        stream = {
          ...facts, request, push, members: [], lastSent: now,
          checkAt: now + around(recheck * SECOND), endAt: now + around(MAX_AGE), isChecking: false,
        }
        begin(stream, places, request.header('last-event-id'))
      },
      stop: () => stream && forget(stream),
    })
  }

  const hasTooMany = (caller: string) => (perCaller.get(caller) ?? 0) >= maxStreamsPerCaller
  const hasRoom = (caller: string) => !closed && !hasTooMany(caller) && streams.size < maxStreams

  function refuse(push: Push): void {
    push.send(encode(endText('closing', RETRY_AFTER)))
    push.end()
  }

  /** @throws 429 and 503 */
  function assertRoom(caller: string): void {
    if (hasTooMany(caller)) throw rateLimited(RETRY_AFTER)
    if (closed || streams.size >= maxStreams) throw busy(closed ? 'The server stops.' : 'Too many streams are open.')
  }

  const toPlace = ({ scope, readable }: Subscription): Place => ({ group: groups.find(scope), readable })

  function startTimer(): void {
    timer ??= setInterval(tick, SECOND)
    timer.unref?.()
  }

  function begin(stream: Stream, places: readonly Place[], lastEventId: string | undefined): void {
    streams.add(stream)
    perCaller.set(stream.caller, (perCaller.get(stream.caller) ?? 0) + 1)
    join(stream, places)
    // Sends the headers. Nobody learns of what the commits change that are running now, so the client has to read after them.
    send(stream, HEARTBEAT)
    void commitsEnded(stream.api).then(() => welcome(stream, lastEventId))
  }

  function welcome(stream: Stream, lastEventId: string | undefined): void {
    sendEvents(stream, [{ text: eventText('open', { id: crypto.randomUUID() }, Math.round(around(2 * SECOND))), id: groups.lastId() }])
    // The server has stopped since the stream was accepted.
    if (closed) return end(stream, 'closing')
    if (lastEventId === undefined) return
    const [id = '', mark] = lastEventId.split('.')
    const missed = mark === stream.mark ? groups.missedBy(stream.members, id) : undefined
    sendEvents(stream, missed ?? [groups.toReset()])
  }

  function join(stream: Stream, places: readonly Place[]): void {
    stream.members = places.map(({ group, readable }) => {
      const member = { readable, send: (events: readonly SentEvent[]) => sendEvents(stream, events), group }
      groups.join(member.group, member)
      return member
    })
  }

  const leave = ({ members }: Stream) => {
    for (const member of members) groups.leave(member.group, member)
  }

  function forget(stream: Stream): void {
    if (!streams.delete(stream)) return
    leave(stream)
    const left = perCaller.get(stream.caller)! - 1
    if (left === 0) perCaller.delete(stream.caller)
    else perCaller.set(stream.caller, left)
  }

  function send(stream: Stream, bytes: Uint8Array): void {
    stream.lastSent = Date.now()
    stream.push.send(bytes)
  }

  function sendEvents(stream: Stream, events: readonly SentEvent[]): void {
    if (events.length > 0) send(stream, encode(events.map(({ id, text }) => withId(text, `${id}.${stream.mark}`)).join('')))
  }

  function end(stream: Stream, reason: Reason): void {
    send(stream, encode(endText(reason, 5)))
    stream.push.end()
  }

  function tick(): void {
    const now = Date.now()
    for (const stream of streams) {
      if (stream.endAt <= now) end(stream, 'expired')
      else if (stream.checkAt <= now && !stream.isChecking && !callers.isFull()) void check(stream)
      else if (now - stream.lastSent >= HEARTBEAT_AFTER) send(stream, HEARTBEAT)
    }
    groups.removeUnused(now)
    if (streams.size > 0 || groups.isUsed()) return
    clearInterval(timer)
    timer = undefined
  }

  async function check(stream: Stream): Promise<void> {
    stream.isChecking = true
    const reason = await callers.check(stream, async subscriptions => streams.has(stream) ? update(stream, subscriptions) : undefined)
    stream.isChecking = false
    stream.checkAt = Date.now() + around(recheck * SECOND)
    if (reason && streams.has(stream)) end(stream, reason)
  }

  /** If the caller can now read something else, the client reads everything again. */
  async function update(stream: Stream, subscriptions: readonly Subscription[]): Promise<void> {
    const isSame = subscriptions.every(({ scope, readable }, index) => {
      const member = stream.members[index]!
      if (scope.text !== member.group.scope.text || !isEqual(readable, member.readable)) return false
      // Rules in code decide by the caller of their request.
      if (scope.isJudged) member.group.scope = scope
      return true
    })
    if (isSame) return
    leave(stream)
    stream.mark = markOf(stream.identity, subscriptions)
    join(stream, subscriptions.map(toPlace))
    await follow()
    sendEvents(stream, [groups.toReset()])
  }

  return {
    open,
    answerCheck: callers.answerCheck,
    tokenOf: callers.tokenOf,
    /** Ends all streams, because the server stops. */
    close() {
      closed = true
      for (const stream of [...streams]) end(stream, 'closing')
    },
  }
}

const endText = (reason: Reason, seconds: number) => eventText('end', { reason }, Math.round(around(seconds * SECOND)))

const isEqual = (one: ReadonlySet<string>, other: ReadonlySet<string>) => one.size === other.size && [...one].every(name => other.has(name))
