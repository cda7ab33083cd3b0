/**
 * The deliveries that wait. `dueAt` is the time of the next attempt, and while a server attempts one, the end of its lease: if that server
 * stops, another one takes the delivery then. A delivery waits for the earlier ones of its record.
 */
import { aliasedTable, and, eq, sql, type SQL } from 'drizzle-orm'
import { deliveryColumns, webhookColumns, type DeliveryRow, type WebhookRow } from './rows'
import type { Tables } from './tables'

export type Queue = ReturnType<typeof createQueue>

/** The values of a delivery after an attempt. */
export type Outcome = Partial<Pick<DeliveryRow,
  'status' | 'attempts' | 'responseStatus' | 'responseBody' | 'error' | 'deliveredAt' | 'dueAt' | 'columns' | 'image'>>

/** The webhooks of one round. */
const MAX_WEBHOOKS = 500
/** The old deliveries that one statement removes. D1 accepts 100 values. */
const MAX_REMOVED = 90

export function createQueue({ webhooks, deliveries }: Tables) {
  const columns = deliveryColumns(deliveries.table)
  const owner = webhookColumns(webhooks.table)
  const time = (date: Date) => sql.param(date, columns.dueAt)
  const isDue = (now: Date) => sql`${columns.dueAt} <= ${time(now)}`

  /** An earlier delivery of the same record that is not finished. */
  function isBlocked(): SQL {
    const table = aliasedTable(deliveries.table, 'earlier')
    const earlier = deliveryColumns(table)
    return sql`exists (select 1 from ${deliveries.table} ${table} where ${earlier.webhookId} = ${columns.webhookId}
      and ${earlier.resource} = ${columns.resource} and ${earlier.recordId} = ${columns.recordId} and ${earlier.dueAt} is not null
      and (${earlier.position} < ${columns.position} or (${earlier.position} = ${columns.position} and ${earlier.id} < ${columns.id})))`
  }

  return {
    /** The active webhooks with deliveries that are due. */
    async dueWebhooks(event: unknown, now: Date): Promise<readonly WebhookRow[]> {
      const hasDue = sql`exists (select 1 from ${deliveries.table} where ${columns.webhookId} = ${owner.id} and ${isDue(now)})`
      return webhooks.access.select<WebhookRow>(event,
        sql`where ${owner.active} = ${sql.param(true, owner.active)} and ${hasDue} limit ${sql.raw(String(MAX_WEBHOOKS))}`)
    },
    /** The deliveries of a webhook that can be attempted now, in the order of their changes. */
    async heads(event: unknown, webhookId: string, now: Date, limit: number): Promise<readonly DeliveryRow[]> {
      const isHead = sql`${columns.webhookId} = ${webhookId} and ${isDue(now)} and not ${isBlocked()}`
      return deliveries.access.select<DeliveryRow>(event,
        sql`where ${isHead} order by ${columns.dueAt}, ${columns.position} limit ${sql.raw(String(limit))}`)
    },
    /** The next delivery of the record, if it is due. */
    async next(event: unknown, { webhookId, resource, recordId }: DeliveryRow, now: Date): Promise<DeliveryRow | undefined> {
      if (resource === null || recordId === null) return undefined
      const [next] = await deliveries.access.select<DeliveryRow>(event, sql`where ${and(
        eq(columns.webhookId, webhookId), eq(columns.resource, resource), eq(columns.recordId, recordId),
      )} and ${columns.dueAt} is not null order by ${columns.position}, ${columns.id} limit 1`)
      return next && next.dueAt!.getTime() <= now.getTime() ? next : undefined
    },
    /** Takes a delivery for this server. @returns whether no other server has taken it */
    async claim(event: unknown, { id, dueAt }: DeliveryRow, lease: string, until: Date): Promise<boolean> {
      const isSame = sql`${columns.id} = ${id} and ${columns.dueAt} = ${time(dueAt!)}`
      return await deliveries.access.update(event, { dueAt: until, lease }, isSame) > 0
    },
    /** Ends an attempt, unless another server has taken the delivery since. */
    async finish(event: unknown, { id }: DeliveryRow, lease: string, outcome: Outcome): Promise<boolean> {
      const isOwn = sql`${columns.id} = ${id} and ${columns.lease} = ${lease}`
      return await deliveries.access.update(event, { ...outcome, lease: null }, isOwn) > 0
    },
    /** Lets the later deliveries of a record wait for the next attempt of this one, so that no search finds them before. */
    async delayLater(event: unknown, { webhookId, resource, recordId, position }: DeliveryRow, until: Date): Promise<void> {
      if (resource === null || recordId === null) return
      await deliveries.access.update(event, { dueAt: until }, sql`${and(
        eq(columns.webhookId, webhookId), eq(columns.resource, resource), eq(columns.recordId, recordId),
      )} and ${columns.position} > ${position} and ${columns.lease} is null and ${columns.dueAt} < ${time(until)}`)
    },
    /** Removes a delivery about which its owner must not learn. */
    async remove(event: unknown, { id }: DeliveryRow, lease: string): Promise<void> {
      await deliveries.access.remove(event, sql`${columns.id} = ${id} and ${columns.lease} = ${lease}`)
    },
    /** Gives up the deliveries of a webhook that was deleted. Those that nobody has judged yet are removed: they would become visible. */
    async abandon(event: unknown, webhookId: string): Promise<void> {
      await deliveries.access.remove(event, sql`${columns.webhookId} = ${webhookId} and ${columns.columns} is not null`)
      await deliveries.access.update(event,
        { status: 'dead', dueAt: null, lease: null, error: 'The webhook was deleted.' },
        sql`${columns.webhookId} = ${webhookId} and ${columns.dueAt} is not null`)
    },
    /** Removes old deliveries, finished or not. */
    async removeOld(event: unknown, before: Date): Promise<void> {
      for (;;) {
        const isOld = sql`where ${columns.createdAt} < ${sql.param(before, columns.createdAt)}`
        const rows = await deliveries.access.select<DeliveryRow>(event,
          sql`${isOld} order by ${columns.createdAt} limit ${sql.raw(String(MAX_REMOVED))}`)
        if (rows.length === 0) return
        const ids = rows.map(({ id }) => sql`${id}`)
        await deliveries.access.remove(event, sql`${columns.id} in (${sql.join(ids, sql`, `)})`)
      }
    },
  }
}
