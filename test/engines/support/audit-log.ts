/** The table of the audit log in each dialect, as drizzle-kit creates it. */
import {
  generateDrizzleJson,
  generateMigration,
  generateMySQLDrizzleJson,
  generateMySQLMigration,
  generateSQLiteDrizzleJson,
  generateSQLiteMigration,
} from 'drizzle-kit/api'
import type { Table } from 'drizzle-orm'
import type { Dialect } from '../../../src/runtime/shared/dialects'
import { auditLogTable as mysqlTable } from '../../../src/runtime/plugins/schema-mysql'
import { auditLogTable as pgTable } from '../../../src/runtime/plugins/schema-pg'
import { auditLogTable as sqliteTable } from '../../../src/runtime/plugins/schema-sqlite'

export const AUDIT_LOGS: Readonly<Record<Dialect, Table>> = { sqlite: sqliteTable(), pg: pgTable(), mysql: mysqlTable() }

const MIGRATIONS: Readonly<Record<Dialect, (schema: Record<string, unknown>) => Promise<string[]>>> = {
  sqlite: async schema => generateSQLiteMigration(await generateSQLiteDrizzleJson({}), await generateSQLiteDrizzleJson(schema)),
  pg: async schema => generateMigration(generateDrizzleJson({}), generateDrizzleJson(schema)),
  mysql: async schema => generateMySQLMigration(await generateMySQLDrizzleJson({}), await generateMySQLDrizzleJson(schema)),
}

export async function auditLogSql(dialect: Dialect): Promise<string> {
  return (await MIGRATIONS[dialect]({ auditLog: AUDIT_LOGS[dialect] })).map(statement => `${statement.replace(/;\s*$/, '')};`).join('\n')
}
