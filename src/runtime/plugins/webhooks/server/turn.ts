/** The turn of a webhook: some of its deliveries, a few at the same time. Those of one record follow each other. */
import type { Api, Session } from '../../../server/kit/call'
import type { FindUser } from '../../../server/plugin/owner'
import type { WebhooksPolicy } from '../options'
import { attempt } from './attempt'
import type { Queue } from './queue'
import { openOwnerSession } from './reader'
import type { DeliveryRow, WebhookRow } from './rows'
import type { Tables } from './tables'

/** The attempts of a webhook at the same time. */
const MAX_ATTEMPTS = 4
/** The deliveries of a turn, and its milliseconds. Then webhooks that wait have theirs. */
const MAX_DELIVERIES = 200
const MAX_TIME = 10_000
/** Milliseconds beyond the time limit of a request for which a delivery belongs to its server. */
const LEASE = 30_000
/** Milliseconds after which the webhook and the rights of its owner are read again. */
const FRESH = 1000

export interface TurnOptions {
  readonly tables: Tables
  readonly queue: Queue
  readonly policy: WebhooksPolicy
  readonly findUser: FindUser
  readonly api: Api
  /** The event of the request or of the task, on platforms where the database comes with it. */
  readonly event: unknown
  readonly isStopped: () => boolean
  /** A delivery failed, and its next attempt is due then. */
  readonly onRetry: (at: Date) => void
}

/** What a delivery needs that can change while others are attempted. */
interface Current {
  readonly webhook: WebhookRow
  /** Opened by the first delivery that needs it. */
  readonly openSession: () => Promise<Session | undefined>
}

/** @returns whether the webhook has further deliveries that this server can attempt now */
export async function takeTurn({ id }: WebhookRow, options: TurnOptions): Promise<boolean> {
  const { queue, event, policy, isStopped, onRetry } = options
  const end = Date.now() + MAX_TIME
  let left = MAX_DELIVERIES
  let isPaused = false
  const goesOn = () => left > 0 && !isPaused && !isStopped() && Date.now() < end
  const findCurrent = currentOf(id, options)

  /** Attempts a delivery and the later ones of its record. */
  async function deliver(first: DeliveryRow): Promise<void> {
    let delivery: DeliveryRow | undefined = first
    while (delivery && goesOn()) {
      left--
      const lease = crypto.randomUUID()
      if (!await queue.claim(event, delivery, lease, new Date(Date.now() + policy.timeout * 1000 + LEASE))) return
      const current = await findCurrent()
      if (!current) {
        isPaused = true
        await queue.finish(event, delivery, lease, { dueAt: new Date() })
        return
      }
      const attempted = await attempt({ delivery, webhook: current.webhook, lease }, current.openSession, options)
      if (attempted.result === 'later') return onRetry(attempted.at)
      isPaused ||= attempted.result === 'paused'
      delivery = await queue.next(event, delivery, new Date())
    }
    // It can wait for the attempt before it, which has ended.
    if (delivery) await queue.release(event, delivery, new Date())
  }

  while (goesOn()) {
    const { due, hasMore } = await queue.heads(event, id, new Date())
    if (due.length === 0 && !hasMore) return false
    // Requests go on between the searches, also with a database that answers at once.
    await nextTurnOfRequests()
    if (due.length === 0) continue
    const before = left
    const waiting = due.values()
    const work = async () => {
      for (const delivery of waiting) await deliver(delivery)
    }
    await Promise.all(Array.from({ length: MAX_ATTEMPTS }, work))
    // Nothing was left for this server.
    if (left === before) return false
  }
  return !isPaused
}

const nextTurnOfRequests = () => new Promise(resolve => setTimeout(resolve))

/** Reads the webhook and its owner at most once a second. Returns `undefined` if it was deleted or switched off. */
function currentOf(id: string, { tables: { webhooks }, event, api, findUser }: TurnOptions): () => Promise<Current | undefined> {
  let found: Promise<Current | undefined> | undefined
  let until = 0
  async function read(): Promise<Current | undefined> {
    const webhook = await webhooks.access.find<WebhookRow>(event, ['id'], id)
    if (!webhook?.active) return undefined
    let session: ReturnType<typeof openOwnerSession> | undefined
    return { webhook, openSession: () => session ??= openOwnerSession(webhook, { api, findUser, event }) }
  }
  return () => {
    if (!found || Date.now() >= until) {
      until = Date.now() + FRESH
      found = read()
    }
    return found
  }
}
