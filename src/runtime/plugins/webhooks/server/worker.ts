/** Delivers what is due: after commits, when a retry is due, and every minute. Each webhook has a few attempts at the same time. */
import type { Api } from '../../../server/kit/call'
import { logError } from '../../../server/kit/process'
import type { WebhooksPolicy } from '../options'
import { attempt } from './attempt'
import { createQueue } from './queue'
import { openOwnerSession } from './reader'
import type { DeliveryRow, WebhookRow } from './rows'
import type { Tables } from './tables'
import type { FindUser } from '../../../server/plugin/owner'

/** The webhooks that one server serves at the same time, and the attempts of one of them. So a slow receiver takes no place of others. */
const MAX_WEBHOOKS = 50
const MAX_ATTEMPTS = 4
/** The deliveries of a webhook in one turn. Then webhooks that wait have theirs. */
const MAX_TURN = 200
/** Milliseconds beyond the time limit of a request for which a delivery belongs to its server. */
const LEASE = 30_000
/** Milliseconds between two searches for deliveries that other servers have left. */
const POLL = 15_000

export interface WorkerOptions {
  readonly tables: Tables
  readonly policy: WebhooksPolicy
  readonly findUser: FindUser
}

export type Worker = ReturnType<typeof createWorker>

export function createWorker({ tables, policy, findUser }: WorkerOptions) {
  const queue = createQueue(tables)
  /** The webhooks that this server serves now. */
  const served = new Set<string>()
  let running: Promise<void> | undefined
  /** Whether deliveries were added since the search began. */
  let isAsked = false
  let isStopped = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let timerAt = Infinity

  /** Delivers everything that is due. At the same time, it runs once. */
  function run(api: Api, event?: unknown): Promise<void> {
    isAsked = true
    return running ??= search(api, event).finally(() => void (running = undefined))
  }

  async function search(api: Api, event: unknown): Promise<void> {
    while (isAsked && !isStopped) {
      isAsked = false
      const webhooks = await queue.dueWebhooks(event, new Date())
      const waiting = webhooks.filter(({ id }) => !served.has(id)).values()
      const work = async () => {
        for (const webhook of waiting) if (await serve(webhook, api, event)) isAsked = true
      }
      await Promise.all(Array.from({ length: Math.min(MAX_WEBHOOKS, webhooks.length) }, work))
    }
  }

  /** @returns whether the webhook has further deliveries */
  async function serve(webhook: WebhookRow, api: Api, event: unknown): Promise<boolean> {
    served.add(webhook.id)
    try {
      return await serveTurn(webhook, api, event)
    }
    catch (error) {
      logError({ event }, `webhooks: the deliveries of \`${webhook.id}\` could not be read or written.`, error)
      return false
    }
    finally {
      served.delete(webhook.id)
    }
  }

  async function serveTurn(webhook: WebhookRow, api: Api, event: unknown): Promise<boolean> {
    let left = MAX_TURN
    let isPaused = false
    // One owner for a turn: a turn is short, and the rights are those of now.
    let session: ReturnType<typeof openOwnerSession> | undefined
    const openSession = () => session ??= openOwnerSession(webhook, { api, findUser, event })
    const options = { tables, queue, policy, event }

    /** Attempts a delivery and the later ones of its record. */
    async function deliver(first: DeliveryRow): Promise<void> {
      for (let delivery: DeliveryRow | undefined = first; delivery && left > 0 && !isPaused && !isStopped;) {
        left--
        const lease = crypto.randomUUID()
        if (!await queue.claim(event, delivery, lease, new Date(Date.now() + policy.timeout * 1000 + LEASE))) return
        const attempted = await attempt({ delivery, webhook, lease }, openSession, options)
        if (attempted.result === 'later') return wakeAt(attempted.at, api)
        isPaused ||= attempted.result === 'paused'
        delivery = await queue.next(event, delivery, new Date())
      }
    }

    while (left > 0 && !isPaused && !isStopped) {
      const heads = await queue.heads(event, webhook.id, new Date(), MAX_ATTEMPTS * 4)
      if (heads.length === 0) return false
      const before = left
      const waiting = heads.values()
      const work = async () => {
        for (const delivery of waiting) await deliver(delivery)
      }
      await Promise.all(Array.from({ length: MAX_ATTEMPTS }, work))
      // Other servers have claimed all of them.
      if (left === before) return false
    }
    return !isPaused
  }

  /** Runs again at a time, on platforms whose processes go on. */
  function wakeAt(at: Date, api: Api): void {
    if (isStopped || at.getTime() >= timerAt) return
    clearTimeout(timer)
    timerAt = at.getTime()
    timer = setTimeout(() => {
      timerAt = Infinity
      void run(api).catch((error: unknown) => logError({ event: undefined }, 'webhooks: the deliveries could not be read.', error))
        .finally(() => wakeAt(new Date(Date.now() + POLL), api))
    }, Math.max(0, at.getTime() - Date.now()))
    timer.unref?.()
  }

  return {
    queue,
    run,
    wakeAt,
    stop(): void {
      isStopped = true
      clearTimeout(timer)
    },
    /** Waits for the attempts that have begun. */
    ended: async (): Promise<void> => running?.catch(() => {}),
  }
}
