/** One attempt of a delivery: reads what the owner can see now, signs it, sends it, and records what came of it. */
import { sql } from 'drizzle-orm'
import type { Api, Session } from '../../../server/kit/call'
import { logError } from '../../../server/kit/process'
import type { WebhooksPolicy } from '../options'
import { TEST } from './events'
import type { Outcome, Queue } from './queue'
import { isForeign, readContent, type Content } from './reader'
import { webhookColumns, type DeliveryRow, type PausedReason, type WebhookRow } from './rows'
import { send, type Sent } from './send'
import { signedHeaders } from './sign'
import type { Tables } from './tables'

/** Dead deliveries in a row after which a webhook is switched off. */
const MAX_FAILURES = 5
/** The part by which the time of the next attempt varies, so that receivers that return are not asked by everybody at once. */
const JITTER = 0.2
const GONE = 410

export interface AttemptOptions {
  readonly tables: Tables
  readonly queue: Queue
  readonly policy: WebhooksPolicy
  readonly api: Api
  /** The event of the request or of the task, on platforms where the database comes with it. */
  readonly event: unknown
}

/** A delivery that this server has claimed. */
export interface Claimed {
  readonly delivery: DeliveryRow
  readonly webhook: WebhookRow
  readonly lease: string
}

/** What an attempt means for the next delivery of the webhook. */
export type Attempted = { readonly result: 'next' } | { readonly result: 'later', readonly at: Date } | { readonly result: 'paused' }

const NEXT: Attempted = { result: 'next' }
const PAUSED: Attempted = { result: 'paused' }

/** @param openSession opens a session of the owner, or returns `undefined` if the owner is gone */
export async function attempt(
  claimed: Claimed, openSession: () => Promise<Session | undefined>, options: AttemptOptions,
): Promise<Attempted> {
  const { delivery, lease, webhook } = claimed
  const { queue, policy, event } = options
  if (delivery.event === TEST) return record(claimed, await sendContent(claimed, {}, policy), options)
  let content: Content
  try {
    content = await readContent(delivery, await openSession())
  }
  catch (error) {
    logError(undefined, `webhooks: the record of the delivery \`${delivery.id}\` could not be read. It is attempted again.`, error)
    return record(claimed, { error: 'The record could not be read.' }, options, KEPT)
  }
  const isOmitted = content.kind === 'revoked' && policy.onRevoked === 'omit'
  if (content.kind === 'unseen' || (isOmitted && isForeign(delivery, options.api))) {
    await queue.remove(event, delivery, lease)
    return NEXT
  }
  if (content.kind === 'revoked' && !isOmitted) {
    await pause(webhook, 'revoked', options)
    await queue.finish(event, delivery, lease, { dueAt: new Date() })
    return PAUSED
  }
  const { resource, recordId: id } = delivery
  const shown = content.kind === 'event' && content.record ? { record: content.record } : {}
  return record(claimed, await sendContent(claimed, { resource, id, ...shown }, policy), options)
}

async function sendContent({ delivery, webhook }: Claimed, data: object, policy: WebhooksPolicy): Promise<Sent> {
  const now = new Date()
  const body = JSON.stringify({ type: delivery.event, timestamp: delivery.createdAt.toISOString(), data })
  const { secret, previousSecret, previousUntil } = webhook
  const secrets = previousSecret !== null && previousUntil !== null && previousUntil > now ? [secret, previousSecret] : [secret]
  const headers = {
    'content-type': 'application/json', 'user-agent': 'nuxt-auto-api', ...await signedHeaders(`msg_${delivery.id}`, now, body, secrets),
  }
  return send({ url: webhook.url, headers, body }, policy)
}

/** An attempt that has read the record has found out that the owner could see the change. Then its image has done its work. */
const READ: Outcome = { columns: null, image: null }
const KEPT: Outcome = {}

async function record(claimed: Claimed, sent: Sent, options: AttemptOptions, judged = READ): Promise<Attempted> {
  const { delivery, webhook, lease } = claimed
  const { policy, queue, event } = options
  const attempts = delivery.attempts + 1
  const known: Outcome = {
    ...judged, attempts, responseStatus: sent.status ?? null, responseBody: sent.body ?? null, error: sent.error ?? null,
  }
  if (sent.error === undefined) {
    await queue.finish(event, delivery, lease, { ...known, status: 'delivered', deliveredAt: new Date(), dueAt: null })
    if (webhook.failures > 0) await updateWebhook(webhook, { failures: 0 }, options)
    return NEXT
  }
  const isTest = delivery.event === TEST
  const delay = sent.isFinal || sent.status === GONE || isTest ? undefined : policy.retries[attempts - 1]
  if (delay !== undefined) {
    const at = new Date(Date.now() + delay * 1000 * (1 + JITTER * (2 * Math.random() - 1)))
    await queue.finish(event, delivery, lease, { ...known, status: 'failed', dueAt: at })
    return { result: 'later', at }
  }
  if (!await queue.finish(event, delivery, lease, { ...known, status: 'dead', dueAt: null }) || isTest) return NEXT
  if (sent.status === GONE) return pause(webhook, 'gone', options)
  return countFailure(webhook, options)
}

/** Deliveries of a webhook end at the same time on several servers, so the database counts. */
async function countFailure(webhook: WebhookRow, options: AttemptOptions): Promise<Attempted> {
  const { access, table } = options.tables.webhooks
  const { failures } = webhookColumns(table)
  await updateWebhook(webhook, { failures: sql`${failures} + 1` }, options)
  const current = await access.find<WebhookRow>(options.event, ['id'], webhook.id)
  return current && current.failures >= MAX_FAILURES ? pause(webhook, 'dead', options) : NEXT
}

const WHY: Readonly<Record<PausedReason, string>> = {
  dead: `${MAX_FAILURES} deliveries in a row were given up`, gone: 'the receiver answered 410', revoked: 'its owner has lost its rights',
}

async function pause(webhook: WebhookRow, pausedReason: PausedReason, options: AttemptOptions): Promise<Attempted> {
  console.warn(`[auto-api] webhooks: the webhook \`${webhook.id}\` was switched off, because ${WHY[pausedReason]}.`)
  await updateWebhook(webhook, { active: false, pausedReason, updatedAt: new Date() }, options)
  return PAUSED
}

async function updateWebhook({ id }: WebhookRow, values: object, { tables: { webhooks }, event }: AttemptOptions): Promise<void> {
  await webhooks.access.update(event, values as Readonly<Record<string, unknown>>, sql`${webhookColumns(webhooks.table).id} = ${id}`)
}
