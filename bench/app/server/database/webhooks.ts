/** The tables of webhooks. Only the app that is built with `BENCH_WEBHOOKS` has them. */
import { webhookDeliveriesTable, webhooksTable } from 'nuxt-auto-api/schema/sqlite'

export const webhooks = webhooksTable()
export const webhookDeliveries = webhookDeliveriesTable()
