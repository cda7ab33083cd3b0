/** The SQL with which drizzle-kit creates tables. */
import { createRequire } from 'node:module'
import type { Dialect } from '../../src/runtime/shared/dialects'

/** @param tables the exports of a schema */
export async function createTablesSql(dialect: Dialect, tables: object): Promise<string> {
  const kit = createRequire(import.meta.url)('drizzle-kit/api') as typeof import('drizzle-kit/api')
  const schema = tables as never
  const statements = dialect === 'sqlite'
    ? await kit.generateSQLiteMigration(await kit.generateSQLiteDrizzleJson({}), await kit.generateSQLiteDrizzleJson(schema))
    : dialect === 'pg'
      ? await kit.generateMigration(kit.generateDrizzleJson({}), kit.generateDrizzleJson(schema))
      : await kit.generateMySQLMigration(await kit.generateMySQLDrizzleJson({}), await kit.generateMySQLDrizzleJson(schema))
  return statements.join('\n')
}
