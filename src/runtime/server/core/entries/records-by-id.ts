/** Reads rows and records by their ids for plugins, in one statement, within the row scope of the caller. It authorizes nothing. */
import type { TrashMode } from '../../../shared/query'
import { allFields, defaultFields, keyFields, readableFields, type Selection } from '../access/fields'
import { applyScope, type Scoped } from '../access/row-scope'
import { parseIncluded } from '../parse/list'
import type { ReadPlan } from '../plan/read-plan'
import { formOf, runReadHooks } from '../read/records'
import { decoder, type RecordValues } from '../read/rows/decode'
import { readRows, type Rows } from '../read/rows/rows'
import type { Call } from '../request/session'
import { inTuples } from '../sql/list/index'
import { idReader, keysOfIds } from './ids'
import { planIncluded, readIncluded } from './included'
import { wireRecords } from './respond'

/**
 * Reads whole rows, with hidden columns. Ids that no row can have, and rows that the caller cannot see, are absent.
 * @param trash the rows to look for @default 'active'
 * @returns the rows by id, with values as Drizzle returns them
 */
export async function findRows(
  call: Call, ids: readonly string[], trash: TrashMode = 'active',
): Promise<ReadonlyMap<string, RecordValues>> {
  const { columns, rows, idOf } = await readByIds(call, ids, trash, allFields(call.resource))
  const decode = decoder(columns)
  return new Map(rows.map(row => [idOf(row), decode(row)]))
}

interface FindOptions {
  /** Whether the records have the related ones that the query of the request includes. @default false */
  readonly include?: boolean
}

/**
 * Reads active records, each as the get route returns it to a caller who can read it: with the readable fields and `afterGet` hooks.
 * @returns the records by id, as JSON
 */
export async function findRecords(
  call: Call, ids: readonly string[], options: FindOptions = {},
): Promise<ReadonlyMap<string, RecordValues>> {
  const selection = defaultFields(await readableFields(call))
  const { plan, columns, rows, idOf } = await readByIds(call, ids, 'active', selection)
  const form = formOf(plan, 'afterGet', call)
  const decode = decoder(columns, selection, form)
  const found = new Map<string, RecordValues>()
  // A hook can hide values of the record.
  for (const row of rows) {
    const records = await runReadHooks(plan, 'afterGet', [decode(row)], call)
    found.set(idOf(row), wireRecords({ plan, records, form })[0]!)
  }
  const tree = options.include ? parseIncluded(call.ctx, call) : undefined
  if (!tree) return found
  const find = await readIncluded([...found.keys()], await planIncluded(tree, call))
  return new Map([...found].map(([id, record]) => [id, { ...record, ...find(id) }]))
}

interface FoundRows extends Rows {
  readonly plan: Scoped<ReadPlan>
  readonly idOf: (row: readonly unknown[]) => string
}

async function readByIds(call: Call, ids: readonly string[], trash: TrashMode, selection: Selection): Promise<FoundRows> {
  const { resource, engine } = call
  const { primaryKey } = resource
  const keys = keysOfIds(resource, ids)
  const read: ReadPlan = { resource, trash, selection, where: [inTuples(engine, primaryKey, keys)], order: [], count: false, include: [] }
  const plan = await applyScope(call, read, 'read')
  const extraColumns = keyFields(resource).fields
  const { columns, rows } = keys.length === 0
    ? { columns: selection, rows: [] }
    : await readRows(plan, { cursor: true, extraColumns }, call)
  return { plan, columns, rows, idOf: idReader(resource, columns) }
}
