/** The table of task runs in each dialect, and the SQL with which drizzle-kit creates it. */
import { createRequire } from 'node:module'
import type { Table } from 'drizzle-orm'
import * as mysql from '../../../src/runtime/server/schema/presets/mysql'
import * as pg from '../../../src/runtime/server/schema/presets/pg'
import * as sqlite from '../../../src/runtime/server/schema/presets/sqlite'
import type { Dialect } from '../../../src/runtime/shared/dialects'

export const TASK_RUNS: Readonly<Record<Dialect, Table>> = { sqlite: sqlite.taskRunsTable(), pg: pg.taskRunsTable(), mysql: mysql.taskRunsTable() }

export async function taskRunsSql(dialect: Dialect): Promise<string> {
  const kit = createRequire(import.meta.url)('drizzle-kit/api') as typeof import('drizzle-kit/api')
  const taskRuns = TASK_RUNS[dialect] as never
  const statements = dialect === 'sqlite'
    ? await kit.generateSQLiteMigration(await kit.generateSQLiteDrizzleJson({}), await kit.generateSQLiteDrizzleJson({ taskRuns }))
    : dialect === 'pg'
      ? await kit.generateMigration(kit.generateDrizzleJson({}), kit.generateDrizzleJson({ taskRuns }))
      : await kit.generateMySQLMigration(await kit.generateMySQLDrizzleJson({}), await kit.generateMySQLDrizzleJson({ taskRuns }))
  return statements.join('\n')
}
