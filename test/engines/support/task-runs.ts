/** The table of task runs in each dialect, and the SQL with which drizzle-kit creates it. */
import type { Table } from 'drizzle-orm'
import * as mysql from '../../../src/runtime/plugins/schema-mysql'
import * as pg from '../../../src/runtime/plugins/schema-pg'
import * as sqlite from '../../../src/runtime/plugins/schema-sqlite'
import type { Dialect } from '../../../src/runtime/shared/dialects'
import { createTablesSql } from '../../support/create-tables'

export const TASK_RUNS: Readonly<Record<Dialect, Table>> = {
  sqlite: sqlite.taskRunsTable(),
  pg: pg.taskRunsTable(),
  mysql: mysql.taskRunsTable(),
}

export const taskRunsSql = (dialect: Dialect): Promise<string> => createTablesSql(dialect, { taskRuns: TASK_RUNS[dialect] })
