/** Opens a whole list, which plugins read in batches: with the permissions, the fields and the row scope of the list route. */
import { replicaCallOn } from './call'
import { authorize, authorizeGate } from '../access/authorize'
import { applyScope } from '../access/row-scope'
import type { ApiRequest } from '../request/api-request'
import type { Call } from '../request/session'
import { invalidQuery } from '../error'
import { COUNT_PROPERTY } from '../../../shared/relation-counts'
import { countRows } from '../read/count'
import { executeScan, prepareScan } from '../read/scan'
import { toRequestError } from '../read/rows/invalid-value'
import { parseList } from '../parse/list'
import { readOperations } from '../parse/params'
import { planList } from '../plan/read'
import type { ReadPlan } from '../plan/read-plan'
import { wireRecords } from './respond'
import type { AutoApiContext } from '../../registration'
import type { Field } from '../../schema/field'

/** A record as the list route returns it. */
export type ScannedRecord = Readonly<Record<string, unknown>>

/** A column of the scanned records. */
export interface ScannedColumn {
  readonly name: string
  /** The kind of its values, which decides their form in JSON. */
  readonly kind: Field['kind']
}

/** The columns of the scanned records and of the records included in them. */
export interface ScannedColumns {
  readonly fields: readonly ScannedColumn[]
  /**
   * The included relations, and the counts under `_count`. `isList` is false if the record contains one related record, one object of
   * counts, or null.
   */
  readonly relations: readonly { readonly name: string, readonly isList: boolean, readonly columns: ScannedColumns }[]
}

export interface ScanOptions {
  /** A named gate of `authorization.custom`. If the resource has this gate and it declares `read`, it decides instead of `read`. */
  readonly gate?: string
}

/** A list that the caller can read, before its first row is read. */
export interface OpenedList {
  /** The columns of the records, in the order of the table. A hook can add properties that are not listed here. */
  readonly columns: ScannedColumns
  /**
   * Counts the visible rows with one statement that stops at `max` rows. Under `objectLevel`, it checks each row, in batches.
   * @returns the number of rows, at most `max`
   * @throws Under `objectLevel`, 400 after 100,000 checked rows (or `objectLevelMaxRows`, if it is larger).
   */
  readonly count: (max: number) => Promise<number>
  /** Reads the records. Each batch is read when the consumer asks for it; `return()` ends the reading. @throws As {@link Scan}. */
  readonly batches: () => AsyncGenerator<readonly ScannedRecord[], void>
}

/**
 * Authorizes the caller, resolves the query and runs `beforeList`. It reads no row.
 * @param query the `filter`, `sort`, `fields`, `include`, `counts`, `includeDeleted` and `onlyDeleted` of the list route
 * @throws The errors of the list route, and 400 for parameters that select a page or compute results.
 */
export type OpenList = (
  ctx: Pick<AutoApiContext, 'event'>, resource: string, query?: ApiRequest['query'], options?: ScanOptions,
) => Promise<OpenedList>

/**
 * Reads every record of a list in batches. Each batch is read when the consumer asks for it; `return()` ends the reading.
 * @param query the `filter`, `sort`, `fields`, `include`, `counts`, `includeDeleted` and `onlyDeleted` of the list route
 * @throws While iterating: the errors of the list route, and 400 for parameters that select a page or compute results. If the resource has
 * `objectLevel`: 400 after 100,000 checked rows (or `objectLevelMaxRows`, if it is larger).
 */
export type Scan = (
  ctx: Pick<AutoApiContext, 'event'>, resource: string, query?: ApiRequest['query'], options?: ScanOptions,
) => AsyncGenerator<readonly ScannedRecord[], void>

export const scanList: Scan = async function* (ctx, name, query, options) {
  yield* (await openList(ctx, name, query, options)).batches()
}

export const openList: OpenList = async (ctx, name, query = {}, { gate } = {}) => {
  const call = replicaCallOn(ctx, name, 'read')
  await authorizeScan(call, query, gate)
  const listQuery = { ...parseScan(query, call), position: { mode: 'offset', page: 1 } as const, count: false }
  const requested = await applyScope(call, await planList(listQuery, call))
  const toError = (error: unknown) => toRequestError(error, requested, call)
  const plan = await prepareScan(requested, call).catch(async error => Promise.reject(await toError(error)))
  return {
    columns: columnsOf(plan),
    count: max => countRows(plan, call, max).catch(async error => Promise.reject(await toError(error))),
    async* batches() {
      try {
        for await (const result of executeScan(plan, call)) yield wireRecords(result)
      }
      catch (error) {
        throw await toError(error)
      }
    },
  }
}

function columnsOf({ selection, include, counts }: Pick<ReadPlan, 'selection' | 'include' | 'counts'>): ScannedColumns {
  const relations = include.map(({ relation, plan }) => ({
    name: relation.name, isList: relation.kind !== 'one', columns: columnsOf(plan),
  }))
  return {
    fields: selection.fields.map(({ name, wire }) => ({ name, kind: wire })),
    relations: counts ? [...relations, { name: COUNT_PROPERTY, isList: false, columns: countColumns(counts) }] : relations,
  }
}

const countColumns = (counts: NonNullable<ReadPlan['counts']>): ScannedColumns =>
  ({ fields: counts.map(({ relation: { name } }) => ({ name, kind: 'integer' })), relations: [] })

async function authorizeScan(call: Call, query: ApiRequest['query'], gate: string | undefined): Promise<void> {
  const [read, ...further] = readOperations({ query })
  if (gate === undefined) await authorize(call, call.resource, [read, ...further])
  else await authorizeGate(call, gate, further)
}

/** The parameters of the list route that have no meaning for a whole list. */
const REFUSED = ['page', 'limit', 'cursor', 'cursorFields', 'count', 'aggregate', 'groupBy', 'having']

function parseScan(query: ApiRequest['query'], call: Call) {
  const refused = REFUSED.find(name => query[name] !== undefined)
  if (refused !== undefined) throw invalidQuery(`\`${refused}\` cannot be used here, because the response contains every record.`, refused)
  return parseList({ query }, call)
}
