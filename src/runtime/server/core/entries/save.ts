/** Creates and updates many records in one commit, for plugins: with the rules of bulk requests. */
import { replicaCallOn } from './call'
import type { Awaitable } from '../awaitable'
import type { AutoApiContext } from '../../registration'
import { authorize, authorizeAny } from '../access/authorize'
import type { Call } from '../request/session'
import type { ApiError } from '../error'
import { createTurns } from '../process/turns'
import { countWritten } from './respond'
import { isSettable, keyFieldsOf } from './upsert/key'
import { runUpsert } from './upsert/run'

export interface SaveOptions {
  /**
   * The fields that find existing records, which are then updated. Every other record is created, also one whose key contains NULL.
   * Without a key, all records are created.
   */
  readonly key?: readonly string[]
}

export interface SaveCounts {
  readonly created: number
  readonly updated: number
}

/**
 * Creates and updates records in one commit: all of them, or none. Each record has the rules of an item of a bulk request. In a dry run,
 * the commit is rolled back, and after-hooks do not run.
 * @param records the bodies as JSON, or an error for a record that cannot be read. They are read after the caller is authorized. A value is
 * `undefined` if it is missing and its column has no default: an update is then refused.
 * @throws 401 and 403 for an operation that a record needs, `BULK_FAILED` with the failed records by index
 */
export type SaveRecords = (
  ctx: Pick<AutoApiContext, 'event'>,
  resource: string,
  records: Iterable<GivenRecord> | AsyncIterable<GivenRecord>,
  options?: SaveOptions,
) => Promise<SaveCounts>

type GivenRecord = Readonly<Record<string, unknown>> | ApiError

export const saveRecords: SaveRecords = async (ctx, name, given, { key } = {}) => {
  const [creating, updating] = [replicaCallOn(ctx, name, 'create'), replicaCallOn(ctx, name, 'update')]
  await authorizeSave(creating, key !== undefined)
  const fields = key && await keyFieldsOf(key, 'key', updating)
  const records: GivenRecord[] = []
  const pause = createTurns(TURN)
  for await (const record of given) {
    await pause()
    records.push(record)
  }
  const upsertKey = fields && { fields, where: [], isSettable: isSettable(fields, updating.resource) }
  const results = await runUpsert({ creating, updating, key: upsertKey, bulk: true, records })
  return countWritten(results)
}

/** Milliseconds. */
const TURN = 5

/** The records decide which operations are needed. A caller who can do none of them is refused before the records are read. */
function authorizeSave(call: Call, isUpsert: boolean): Awaitable<void> {
  return isUpsert ? authorizeAny(call, ['create', 'update']) : authorize(call, call.resource, ['create'])
}
