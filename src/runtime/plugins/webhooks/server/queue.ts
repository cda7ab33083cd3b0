/**
 * The deliveries that wait. `dueAt` is the time of the next attempt, and while a server attempts one, the end of its lease: if that server
 * stops, another one takes the delivery then. A delivery waits for the earlier ones of its record. No statement reads more than some rows,
 * however many wait: in the order of the times, the first ones of a webhook, and by their record, the first one of each.
 */
import { aliasedTable, sql, type SQL } from 'drizzle-orm'
import { deliveryColumns, webhookColumns, type DeliveryRow, type WebhookRow } from './rows'
import type { Tables } from './tables'

export type Queue = ReturnType<typeof createQueue>

/** The values of a delivery after an attempt. */
export type Outcome = Partial<Pick<DeliveryRow,
  'status' | 'attempts' | 'responseStatus' | 'responseBody' | 'error' | 'deliveredAt' | 'dueAt' | 'columns' | 'image'>>

/** Deliveries that can be attempted now. */
export interface Heads {
  readonly due: readonly DeliveryRow[]
  /** Others are behind deliveries that wait. A further search finds them. */
  readonly hasMore: boolean
}

/** The states of a delivery that has an earlier or a later attempt. An index contains them, so that the first one is found at once. */
const OPEN = ['pending', 'failed'] as const
/** The due deliveries of a webhook whose records one search looks at. D1 accepts 100 values. */
const MAX_SEARCHED = 90

/** The columns of the first due deliveries of a webhook. */
const FIRST = {
  id: sql.raw('first_due.of_id'), resource: sql.raw('first_due.of_resource'), recordId: sql.raw('first_due.of_record'),
}
/** The webhooks of one round. */
const MAX_WEBHOOKS = 500
/** The old deliveries that one statement removes. D1 accepts 100 values. */
const MAX_REMOVED = 90

export function createQueue({ webhooks, deliveries }: Tables) {
  const columns = deliveryColumns(deliveries.table)
  const owner = webhookColumns(webhooks.table)
  const time = (date: Date) => sql.param(date, columns.dueAt)
  const isDue = (now: Date) => sql`${columns.dueAt} <= ${time(now)}`

  /** The first due deliveries of a webhook, as a table with the columns `FIRST`. */
  const firstDue = (webhookId: string, now: Date) => sql`(select ${columns.id} as of_id, ${columns.resource} as of_resource,
    ${columns.recordId} as of_record from ${deliveries.table} where ${columns.webhookId} = ${webhookId} and ${isDue(now)}
    order by ${columns.dueAt}, ${columns.position} limit ${sql.raw(String(MAX_SEARCHED))}) first_due`

  /**
   * Selects the id of the first delivery of a record that has this state. On SQLite, steps of a batch that change one record can have one
   * position: its index returns them as they were inserted. MariaDB would sort all of them if the id were a part of the order.
   */
  function firstOf(status: typeof OPEN[number], webhookId: string, resource: SQL, recordId: SQL): SQL {
    const table = aliasedTable(deliveries.table, 'earliest')
    const first = deliveryColumns(table)
    return sql`select (select ${first.id} from ${deliveries.table} ${table} where ${first.webhookId} = ${webhookId}
      and ${first.resource} = ${resource} and ${first.recordId} = ${recordId} and ${first.status} = ${status}
      order by ${first.position} limit 1) as head_id`
  }

  /** Reads the deliveries whose ids the statements select. */
  const selectByIds = (event: unknown, statements: readonly SQL[]) => deliveries.access.select<DeliveryRow>(event,
    sql`inner join (${sql.join([...statements], sql` union `)}) heads on heads.head_id = ${columns.id}`)

  /** No server has claimed it since it was read. Times are not compared, because a database can store them less exactly or more exactly. */
  const isUnchanged = ({ id, lease, attempts }: DeliveryRow) => sql`${columns.id} = ${id} and ${columns.attempts} = ${attempts}
    and ${columns.dueAt} is not null and ${lease === null ? sql`${columns.lease} is null` : sql`${columns.lease} = ${lease}`}`

  return {
    /** The active webhooks with deliveries that are due. */
    async dueWebhooks(event: unknown, now: Date): Promise<readonly WebhookRow[]> {
      // For EXISTS, MariaDB would read all due deliveries. Without the order, Postgres would read the table. MariaDB reads the index
      // backwards, because it would read those that were delivered first, whose time is NULL.
      const hasDue = sql`(select 1 from ${deliveries.table} where ${columns.webhookId} = ${owner.id} and ${isDue(now)}
        order by ${columns.dueAt} desc, ${columns.position} desc limit 1) = 1`
      return webhooks.access.select<WebhookRow>(event,
        sql`where ${owner.active} = ${sql.param(true, owner.active)} and ${hasDue} limit ${sql.raw(String(MAX_WEBHOOKS))}`)
    },
    /**
     * The deliveries of a webhook that can be attempted now, in the order of their times. Those behind a delivery that waits get its time,
     * a few with each search: that of the next attempt, or the end of a lease.
     */
    async heads(event: unknown, webhookId: string, now: Date): Promise<Heads> {
      const found = await selectByIds(event, OPEN.map(status =>
        sql`${firstOf(status, webhookId, FIRST.resource, FIRST.recordId)} from ${firstDue(webhookId, now)}`))
      const heads = firstOfRecords(found)
      const waiting = heads.filter(({ dueAt }) => dueAt! > now)
      let hasMore = false
      // MariaDB would read the whole table to update rows of a subquery.
      const due = waiting.length === 0
        ? []
        : await deliveries.access.select<DeliveryRow>(event,
            sql`inner join ${firstDue(webhookId, now)} on ${FIRST.id} = ${columns.id}`)
      for (const { resource, recordId, dueAt } of waiting) {
        const behind = due.filter(row => row.resource === resource && row.recordId === recordId).map(({ id }) => sql`${id}`)
        if (behind.length === 0) continue
        const isBehind = sql`${columns.id} in (${sql.join(behind, sql`, `)}) and ${columns.lease} is null and ${isDue(now)}`
        if (await deliveries.access.update(event, { dueAt }, isBehind) > 0) hasMore = true
      }
      return { due: heads.filter(({ dueAt }) => dueAt! <= now), hasMore }
    },
    /** The next delivery of the record, if it can be attempted. One that only waited for this one can, whatever its time is. */
    async next(event: unknown, { webhookId, resource, recordId }: DeliveryRow, now: Date): Promise<DeliveryRow | undefined> {
      if (resource === null || recordId === null) return undefined
      const [next] = firstOfRecords(await selectByIds(event,
        OPEN.map(status => firstOf(status, webhookId, sql`${resource}`, sql`${recordId}`))))
      return next && (next.dueAt! <= now || isUntouched(next)) ? next : undefined
    },
    /** Ends the waiting of a delivery that only waited for an earlier one. */
    async release(event: unknown, delivery: DeliveryRow, now: Date): Promise<void> {
      if (delivery.dueAt! > now) await deliveries.access.update(event, { dueAt: now }, isUnchanged(delivery))
    },
    /** Takes a delivery for this server. @returns whether no other server has taken it */
    async claim(event: unknown, delivery: DeliveryRow, lease: string, until: Date): Promise<boolean> {
      return await deliveries.access.update(event, { dueAt: until, lease }, isUnchanged(delivery)) > 0
    },
    /** Ends an attempt, unless another server has taken the delivery since. */
    async finish(event: unknown, { id }: DeliveryRow, lease: string, outcome: Outcome): Promise<boolean> {
      const isOwn = sql`${columns.id} = ${id} and ${columns.lease} = ${lease}`
      return await deliveries.access.update(event, { ...outcome, lease: null }, isOwn) > 0
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

/** No server has attempted it, and none attempts it now. */
const isUntouched = ({ status, attempts, lease }: DeliveryRow) => status === 'pending' && attempts === 0 && lease === null

/** Steps of a batch that change one record can have one position on SQLite. Their ids are in their order. */
const comparePlaces = (one: DeliveryRow, other: DeliveryRow) => one.position - other.position || (one.id < other.id ? -1 : 1)

/** The first delivery of each record, in the order of their times. */
function firstOfRecords(rows: readonly DeliveryRow[]): readonly DeliveryRow[] {
  const firsts = new Map<string, DeliveryRow>()
  for (const row of rows) {
    const key = JSON.stringify([row.resource, row.recordId])
    const known = firsts.get(key)
    if (!known || comparePlaces(row, known) < 0) firsts.set(key, row)
  }
  return [...firsts.values()].sort((one, other) => one.dueAt!.getTime() - other.dueAt!.getTime() || comparePlaces(one, other))
}
