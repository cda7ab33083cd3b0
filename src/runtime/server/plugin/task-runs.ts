/** Claims due tasks in the database, so that one of several servers runs them. */
import { getTableColumns, getTableName, sql, type Column, type SQL, type Table } from 'drizzle-orm'
import type { Engine } from '../engines/engine'
import { findViolation } from '../engines/violation'

/** One due time of a task. */
export interface DueTask {
  readonly task: string
  readonly due: Date
  /** Milliseconds between two due times. */
  readonly interval: number
}

/**
 * Claims the due time of a task with one conditional update, which only one server can win. A recorded due time of the future comes from
 * a server whose clock is ahead. Beyond one interval, that clock is wrong: it must not stop the task until then.
 * @param isNow whether this is the minute of the due time. If not, a task without a row gets one and starts with its next due time.
 * @returns whether this server runs the task
 */
export async function claimTask(engine: Engine, table: Table, { task, due, interval }: DueTask, isNow: boolean): Promise<boolean> {
  const columns = getTableColumns(table) as { readonly task: Column, readonly due: Column }
  const name = (column: Column) => sql`${sql.identifier(engine.columnName(column))}`
  const time = (date: Date) => sql.param(date, columns.due)
  const run = async (statement: SQL) => (await engine.commit([{ ...engine.render(statement), atomic: true }]))[0]!.affectedRows

  const claimRow = async () => await run(sql`update ${table} set ${name(columns.due)} = ${time(due)} where ${columns.task} = ${task}
    and (${columns.due} < ${time(due)} or ${columns.due} > ${time(new Date(due.getTime() + interval))})`) > 0

  if (await claimRow()) return true
  const found = await engine.query(engine.render(sql`select 1 from ${table} where ${columns.task} = ${task}`))
  if (found.length > 0) return false
  try {
    await run(sql`insert into ${table} (${name(columns.task)}, ${name(columns.due)}) values (${task}, ${time(due)})`)
    return isNow
  }
  catch (error) {
    if (findViolation(engine.dialect, error)?.kind !== 'unique') throw error
    // Another server has added the row since. If its clock is behind, that can be the due time before this one.
    return claimRow()
  }
}

/** The error that is logged when the database refuses the claim. */
export function claimFailed(task: string, table: Table, cause: unknown): Error {
  return new Error(
    `[auto-api] The task \`${task}\` did not run, because the server could not record its run in the table \`${getTableName(table)}\`.`,
    { cause },
  )
}
