/** `nuxt-auto-api/schema/pg`: columns and tables for Postgres, those of plugins included. */
export * from '../server/schema/presets/pg'
export { apiTokensColumns, apiTokensTable } from './api-tokens/tables/pg'
export { auditLogColumns, auditLogTable } from './audit-log/tables/pg'
export { idempotencyKeysTable } from './idempotency/tables/pg'
export { webhookDeliveriesColumns, webhookDeliveriesTable, webhooksColumns, webhooksTable } from './webhooks/tables/pg'
