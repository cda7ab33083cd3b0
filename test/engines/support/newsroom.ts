/** The newsroom on any engine: its tables in the dialect, the same rows in each, behind the real routes. */
import { createServer } from '../../support/server'
import type { TableName } from '../../support/newsdata/columns'
import { createRows } from '../../support/newsdata/rows'
import { asKept, seedText } from '../../support/newsdata/seed'
import { createRegistrations, NEWS_CONFIG, type Served } from '../../support/newsdata/server'
import { createTables, createTableText } from '../../support/newsdata/tables'
import type { EngineCase, Opened } from './databases'

export interface Newsroom extends Served { readonly opened: Opened }

export async function openNewsroom({ dialect, engine, habits, open }: EngineCase): Promise<Newsroom> {
  const opened = await open()
  const tables = createTables(dialect)
  const data = asKept(dialect, createRows())
  for (const [name, table] of Object.entries(tables)) await opened.exec(createTableText(name as TableName, table))
  await opened.exec(seedText(dialect, tables, data))
  const server = await createServer({ db: opened.db, engine, modules: [tables], registrations: createRegistrations(tables), config: NEWS_CONFIG })
  return { ...server, data, habits, opened }
}
