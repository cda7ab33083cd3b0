/** `nuxt-auto-api/schema/sqlite`: columns and tables for SQLite, those of plugins included. */
export * from '../server/schema/presets/sqlite'
export { apiTokensColumns, apiTokensTable } from './api-tokens/tables/sqlite'
export { auditLogColumns, auditLogTable } from './audit-log/tables/sqlite'
export { idempotencyKeysTable } from './idempotency/tables/sqlite'
export { webhookDeliveriesColumns, webhookDeliveriesTable, webhooksColumns, webhooksTable } from './webhooks/tables/sqlite'
