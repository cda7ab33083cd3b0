/** What callers do with a webhook or a delivery beside the generated routes: test, rotate, retry. */
import { sql } from 'drizzle-orm'
import { type Api, authorize, type AutoApiContext, callFor, requireSession } from '../../../server/kit/call'
import { conflict, notFound } from '../../../server/kit/errors'
import { uuidv7 } from '../../../server/kit/process'
import type { IssuedSecrets } from '../../../server/plugin/issued'
import { isOwn, organizationOf } from '../../../server/plugin/owned-rows'
import type { FindUser } from '../../../server/plugin/owner'
import type { PluginServer } from '../../../server/plugin/server'
import type { WebhooksPolicy } from '../options'
import { attempt } from './attempt'
import { TEST } from './events'
import { assertUnlimited } from './manage'
import { nextPosition } from './outbox'
import type { Queue } from './queue'
import { deliveryColumns, type DeliveryRow, type WebhookRow } from './rows'
import { createSecret } from './sign'
import { createTestLimits } from './tests'
import type { OwnTable, Tables } from './tables'

export interface ActionOptions {
  readonly policy: WebhooksPolicy
  readonly tables: Tables
  readonly queue: Queue
  readonly issued: IssuedSecrets<WebhookRow>
  readonly findUser: FindUser
  readonly plugins: Pick<PluginServer, 'get' | 'update'>
  /** Delivers what is due, in this process or after the response to this request. */
  readonly deliverSoon: (api: Api, event: object | undefined) => void
}

const HOUR = 60 * 60 * 1000

type Answer = Promise<Readonly<Record<string, unknown>>>

export function createActions({ policy, tables, queue, issued, findUser, plugins, deliverSoon }: ActionOptions) {
  const { webhooks, deliveries } = tables
  const { grace } = policy
  const limits = createTestLimits(deliveries, policy)

  /** The response is a delivery. A caller who cannot read it is refused before anything is sent. @throws 403 */
  async function assertReads(ctx: AutoApiContext): Promise<void> {
    const session = requireSession(ctx)
    const resource = session.api.resources.get(deliveries.name)!
    await authorize(callFor(session, resource, 'read'), resource, ['read'])
  }

  return {
    /** Sends an event without data, once, and returns the delivery. */
    async test(ctx: AutoApiContext): Answer {
      await assertReads(ctx)
      const webhook = await requireOwn<WebhookRow>(webhooks, ctx)
      limits.count(webhook)
      const { api, engine } = requireSession(ctx)
      const [id, lease] = [uuidv7(), crypto.randomUUID()]
      const position = nextPosition(engine, deliveries.table)
      await deliveries.access.insert(ctx.event, {
        id, webhookId: webhook.id, event: TEST, status: 'pending', createdAt: new Date(), lease, owner: webhook.owner,
        organizationId: organizationOf(ctx), ...position && { position },
      })
      await limits.assertAlone(ctx.event, id, webhook)
      const delivery = await deliveries.access.find<DeliveryRow>(ctx.event, ['id'], id)
      await attempt({ delivery: delivery!, webhook, lease }, async () => undefined, { tables, queue, policy, api, event: ctx.event })
      return plugins.get(ctx, deliveries.name, id)
    },
    /** Replaces the secret. For some hours, deliveries have the signatures of both. */
    async rotate(ctx: AutoApiContext): Answer {
      await assertUnlimited(ctx, findUser)
      const row = await requireOwn<WebhookRow>(webhooks, ctx)
      const secret = createSecret()
      issued.beginRotation(ctx, row)
      const record = await plugins.update(ctx, webhooks.name, row.id, {
        secret,
        previousSecret: grace > 0 ? row.secret : null,
        previousUntil: grace > 0 ? new Date(Date.now() + grace * HOUR) : null,
      })
      issued.add(ctx, secret)
      return record
    },
    /** Sends a delivery again as soon as possible. */
    async retry(ctx: AutoApiContext): Answer {
      await assertReads(ctx)
      const row = await requireOwn<DeliveryRow>(deliveries, ctx)
      if (row.columns !== null) throw notFound()
      const webhook = await webhooks.access.find<WebhookRow>(ctx.event, ['id'], row.webhookId)
      if (!webhook) throw conflict('The webhook of this delivery was deleted.')
      if (!webhook.active) throw conflict('The webhook of this delivery is switched off. Switch it on first.')
      if (row.event === TEST) throw conflict('A test is not sent again. Send a new one.')
      const { id, lease } = deliveryColumns(deliveries.table)
      const values = { status: 'pending', attempts: 0, dueAt: new Date(), error: null }
      const isFree = sql`${id} = ${row.id} and ${lease} is null`
      if (await deliveries.access.update(ctx.event, values, isFree) === 0) throw conflict('The delivery is being attempted now.')
      deliverSoon(requireSession(ctx).api, ctx.event)
      return plugins.get(ctx, deliveries.name, row.id)
    },
  }
}

/** Finds a row that belongs to the caller. @throws 404 also for a row of somebody else: the response must not show that it exists. */
async function requireOwn<Row extends WebhookRow | DeliveryRow>({ access, toRowId }: OwnTable, ctx: AutoApiContext): Promise<Row> {
  const row = await access.find<Row>(ctx.event, ['id'], toRowId(ctx.params.id!))
  if (!row || !isOwn({ userId: row.owner, organizationId: row.organizationId }, ctx)) throw notFound()
  return row
}
