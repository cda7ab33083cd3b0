/** `nuxt-auto-api/schema/mysql`: columns and tables for MySQL, those of plugins included. */
export * from '../server/schema/presets/mysql'
export { apiTokensColumns, apiTokensTable } from './api-tokens/tables/mysql'
export { auditLogColumns, auditLogTable } from './audit-log/tables/mysql'
export { idempotencyKeysTable } from './idempotency/tables/mysql'
export { webhookDeliveriesColumns, webhookDeliveriesTable, webhooksColumns, webhooksTable } from './webhooks/tables/mysql'
