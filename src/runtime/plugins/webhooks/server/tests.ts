/**
 * Limits the tests of webhooks. Each of them sends a request to an address of the caller's choice, and the caller waits for the answer.
 * So a webhook has one test at a time, and a user some tests in a minute: nobody can use the server to flood somebody else.
 */
import { sql } from 'drizzle-orm'
import { rateLimited } from '../../../server/kit/errors'
import { createMemoryCounter, toSeconds } from '../../../server/plugin/counter/memory'
import type { WebhooksPolicy } from '../options'
import { deliveryColumns, type DeliveryRow, type WebhookRow } from './rows'
import type { OwnTable } from './tables'

/** The tests of one user in a minute, for each server. */
const MAX_TESTS = 20
const MINUTE = 60_000
const MAX_USERS = 10_000
/** Milliseconds beyond the time limit of a request after which the server that sends a test must have stopped. */
const LOST = 30_000

export type TestLimits = ReturnType<typeof createTestLimits>

export function createTestLimits({ access, table }: OwnTable, { timeout }: WebhooksPolicy) {
  const counter = createMemoryCounter(MAX_USERS)
  const { id, webhookId, resource, recordId, status, createdAt } = deliveryColumns(table)
  return {
    /** @throws 429 for too many tests of this user, also of several webhooks or of those that were deleted meanwhile */
    count({ owner, organizationId }: WebhookRow): void {
      const { count, left } = counter.hit(JSON.stringify([owner, organizationId]), MINUTE)
      if (count > MAX_TESTS) throw rateLimited(toSeconds(left))
    },
    /**
     * Called after the row of the test was inserted: of two at the same time, at least one sees the other.
     * @throws 429 while another test of the webhook waits for its answer. The row is removed.
     */
    async assertAlone(event: unknown, own: string, webhook: WebhookRow): Promise<void> {
      const limit = timeout * 1000
      const since = new Date(Date.now() - limit - LOST)
      // Only tests have no resource, so an index finds them.
      const [other] = await access.select<DeliveryRow>(event, sql`where ${webhookId} = ${webhook.id} and ${resource} is null
        and ${recordId} is null and ${status} = 'pending' and ${createdAt} > ${sql.param(since, createdAt)} and ${id} <> ${own} limit 1`)
      if (!other) return
      await access.remove(event, sql`${id} = ${own}`)
      throw rateLimited(toSeconds(other.createdAt.getTime() + limit - Date.now()))
    },
  }
}
