/** Deletes old entries, in batches. */
import { sql } from 'drizzle-orm'
import { useRuntime } from '../../../server/kit/api'
import type { TaskRun } from '../../../server/plugin/contract'
import type { AuditLog } from './log'
import { columnsOf, resourceOf } from './log'
import { inTuples, where } from '../../../server/kit/where'

const DAY = 24 * 60 * 60 * 1000
const BATCH = 1000

export async function deleteOldEntries(log: AuditLog, days: number, { due, event }: TaskRun): Promise<void> {
  const runtime = useRuntime(event)
  const engine = runtime.database.engine(event)
  const id = resourceOf(runtime.api(), log).fields.get('id')!
  const { at } = columnsOf(log.table)
  const before = sql.param(new Date(due.getTime() - days * DAY), at)
  for (;;) {
    const rows = await engine.query(engine.render(
      sql`select ${id.column} from ${log.table} where ${at} < ${before} order by ${at} limit ${sql.raw(String(BATCH))}`,
    ))
    if (rows.length === 0) return
    const those = inTuples(engine, [id], rows)
    await engine.commit([{ ...engine.render(where`delete from ${log.table} where ${those}`.getSQL()), atomic: true }])
  }
}
