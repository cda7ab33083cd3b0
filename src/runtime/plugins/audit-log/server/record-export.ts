/** Records exports: who exported which columns of which resource, with which query. */
import { type AutoApiContext, requireSession } from '../../../server/kit/call'
import type { Query } from '../../../server/kit/request'
import { uuidv7 } from '../../../server/kit/process'
import { callerTenant, entryContext } from './entries'
import { findAuditLog } from './log'
import { mentions, REDACTED } from './mentions'

/** An export whose file begins. */
export interface StartedExport {
  readonly format: string
  /** The number of records. */
  readonly rows: number
  /** The names of the exported columns. */
  readonly columns: readonly string[]
  /** The parameters of the list. */
  readonly query: Query
}

interface Insertable {
  readonly insert: (table: unknown) => { readonly values: (values: object) => unknown }
}

/** Writes the entry, if the API has an audit log that records the resource. An export that cannot be recorded must not begin. */
export async function recordExport(ctx: AutoApiContext, { format, rows, columns, query }: StartedExport): Promise<void> {
  const { api, engine } = requireSession(ctx)
  const log = findAuditLog(api)
  if (!log?.records(ctx.resource)) return
  const secrets = [...api.resources.keys()].flatMap(log.withoutValues)
  const recorded = Object.entries(query).map(([name, value]) => [name, mentions(name, value, secrets) ? REDACTED : value])
  const values = {
    ...entryContext(ctx),
    id: uuidv7(),
    kind: 'export',
    resource: ctx.resource,
    tenantId: callerTenant(ctx),
    columns,
    after: { format, rows, query: Object.fromEntries(recorded) },
  }
  await engine.commit([{ build: (db: unknown) => (db as Insertable).insert(log.table).values(values) }])
}
