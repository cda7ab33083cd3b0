/** Records events that other plugins report, such as exports: who exported which columns of which resource, with which query. */
import { type AutoApiContext, requireSession } from '../../../server/kit/call'
import { uuidv7 } from '../../../server/kit/process'
import type { ReportedEvent } from '../../../server/plugin/events'
import { callerTenant, entryContext } from './entries'
import type { AuditLog } from './log'
import { mentions, REDACTED } from './mentions'

interface Insertable {
  readonly insert: (table: unknown) => { readonly values: (values: object) => unknown }
}

/** Writes the entry, if the log records the resource. */
export async function recordEvent(log: AuditLog, ctx: AutoApiContext, { kind, columns, query, details }: ReportedEvent): Promise<void> {
  if (!log.records(ctx.resource)) return
  const { api, engine } = requireSession(ctx)
  const secrets = [...api.resources.keys()].flatMap(log.withoutValues)
  const recorded = Object.entries(query).map(([name, value]) => [name, mentions(name, value, secrets) ? REDACTED : value])
  const values = {
    ...entryContext(ctx),
    id: uuidv7(),
    kind,
    resource: ctx.resource,
    tenantId: callerTenant(ctx),
    columns,
    after: { ...details, query: Object.fromEntries(recorded) },
  }
  await engine.commit([{ build: (db: unknown) => (db as Insertable).insert(log.table).values(values) }])
}
