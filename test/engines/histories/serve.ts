/** One instance of the API over the cells. */
import type { Table } from 'drizzle-orm'
import { auditLog } from '../../../src/runtime/plugins/audit-log/index'
import { batch } from '../../../src/runtime/plugins/batch/index'
import { auditLogTable as mysqlLog } from '../../../src/runtime/plugins/schema-mysql'
import { auditLogTable as pgLog } from '../../../src/runtime/plugins/schema-pg'
import { auditLogTable as sqliteLog } from '../../../src/runtime/plugins/schema-sqlite'
import type { ResourceHooks } from '../../../src/runtime/server/registration'
import { serveApi, type ServedApi } from '../../../src/runtime/testing/api/serve'
import { DEFAULT_CONFIG } from '../../../src/runtime/shared/defaults'
import type { Connected } from './connect'
import { TABLES } from './tables'

const LOGS = { sqlite: sqliteLog, pg: pgLog, mysql: mysqlLog }

const HOOKS = ['beforeCreate', 'beforeUpdate', 'beforeDelete', 'beforeLink'] as const

export interface ServeOptions {
  /** Whether the audit log records the writes of cells. */
  readonly log: boolean
  /** Waits between the checks of a write and its commit. */
  readonly pause: () => Promise<unknown> | undefined
}

export async function serveCells({ db, engine, dialect }: Omit<Connected, 'close'>, { log, pause }: ServeOptions): Promise<ServedApi> {
  const tables = TABLES[dialect]()
  const { cells, entries, tags, pins } = tables
  const permissions = { read: true, create: true, update: true, delete: true } as const
  const hooks = Object.fromEntries(HOOKS.map(name => [name, pause])) as ResourceHooks
  const plugins = [batch(), ...log ? [auditLog({ resources: ['cells'] })] : []]
  const served = await serveApi({
    db,
    engine,
    registrations: [
      ...Object.entries<Table>({ cells, entries, tags, pins }).map(([name, schema]) => ({
        name, schema, authorization: { permissions }, hooks, ...name === 'cells' && { nested: { tags: ['link'] } as const },
      })),
      ...log ? [{ name: 'auditLog', schema: LOGS[dialect]() }] : [],
    ],
    modules: [tables],
    config: DEFAULT_CONFIG,
    plugins: plugins.map((plugin, index) => ({ where: `plugins[${index}]`, listed: () => plugin })),
    useRuntimeConfig: () => ({ autoApi: { secret: '' } }),
  })
  // Plugins that only wait for a promise are set up then.
  await new Promise(resolve => setImmediate(resolve))
  return served
}
