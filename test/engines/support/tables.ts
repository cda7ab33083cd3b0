/** Tables that are described once, with the same rows on any engine, behind the real routes. */
import type { Table } from 'drizzle-orm'
import type { AutoApiConfig } from '../../../src/runtime/shared/config'
import type { ResourceRegistration } from '../../../src/runtime/server/registration'
import { createServer } from '../../support/server'
import type { Specs } from '../../support/newsdata/columns'
import type { Data } from '../../support/newsdata/rows'
import { asKept, seedText } from '../../support/newsdata/seed'
import { NEWS_CONFIG, type Served } from '../../support/newsdata/server'
import { createTables, createTableText, type Tables } from '../../support/newsdata/tables'
import type { EngineCase, Opened } from './databases'

export interface Filled extends Served { readonly opened: Opened }

const READ = { permissions: { read: true } }

export interface FillOptions<S extends Specs> {
  /** Without it every table is a resource that everybody can read. */
  readonly registrations?: (tables: Tables<S>) => ResourceRegistration[]
  readonly config?: Partial<AutoApiConfig>
  readonly plugins?: readonly unknown[]
  /** Creates the tables of the registrations. */
  readonly create?: typeof createTables
}

export async function openFilled<S extends Specs>(
  { dialect, engine, habits, open }: EngineCase,
  specs: S,
  rows: Data,
  { registrations, config = NEWS_CONFIG, plugins = [], create = createTables }: FillOptions<S> = {},
): Promise<Filled> {
  const opened = await open()
  const tables = createTables(dialect, specs)
  const named: Readonly<Record<string, Table>> = tables
  const data = asKept(dialect, specs, rows)
  for (const [name, spec] of Object.entries(specs)) await opened.exec(createTableText(spec, named[name]!))
  await opened.exec(seedText(dialect, specs, named, data))
  const served = create(dialect, specs)
  const registered = registrations?.(served)
    ?? Object.entries<Table>(served).map(([name, schema]) => ({ name, schema, authorization: READ }))
  const server = await createServer({ db: opened.db, engine, modules: [served], registrations: registered, config, plugins })
  return { ...server, data, habits, opened }
}
