/** The changes that custom code reports for its own statements. Only a commit can report them to the listeners. */
import type { Table } from 'drizzle-orm'
import { didYouMean } from '../../../shared/suggest'
import type { AutoApiContext } from '../../registration'
import type { Awaitable } from '../awaitable'
import { isTable } from '../../schema/drizzle/config'
import { describeTable } from '../../schema/drizzle/table'
import { toId, toKey } from '../../schema/record-id'
import type { Resource } from '../../schema/model'
import type { Api } from '../api'
import { CHANGE_KINDS, REPORTED, type Change } from '../extensions/changes'
import { BusyError, ExpectationError, type BuiltStatement, type Engine, type Outcome } from '../../engines/engine'
import { repeat } from '../../engines/retry'
import type { GraphNode } from '../../schema/graph'
import { requireSession, type Call, type Session } from '../request/session'
import { hasParticipants } from '../commit/changes/report'
import type { PlannedEntry } from '../commit/changes/plan'
import { planReported, type PlanAttempt, type ReportedRow } from '../commit/changes/reported'
import { changedTable } from '../commit/changes/table'
import { emitRows } from '../commit/changes/watched-rows'
import { isWatching, watchCommit } from '../commit/changes/watching'
import { emitChanges } from '../extensions/listeners'
import type { CallerContext } from './call'
import { createAttached } from '../process/request-scoped'

interface ChangedRow {
  readonly kind: Change['kind']
  /** The row's id, as the API returns it. The id of a composite key contains its URL-encoded values, separated by `,`. */
  readonly id: string | number | bigint
}

/** A row that custom code changes, named by its resource or by its table. */
export type ReportedChange = ChangedRow & (
  | { readonly resource: string, readonly table?: undefined }
  /** A Drizzle table, or the name of a known table in the database. */
  | { readonly table: Table | string, readonly resource?: undefined }
)

declare const entryOfAtomicWrites: unique symbol

/** An entry for `atomicWrites`. It has no effect anywhere else. */
export interface ReportedChanges {
  readonly [entryOfAtomicWrites]: true
}

interface Report {
  readonly session: Session
  readonly ctx: AutoApiContext
  readonly changes: readonly Change[]
  readonly reported: readonly Reported[]
}

interface Reported {
  readonly change: Change
  readonly source: Resource | GraphNode
}

const reports = createAttached<Report>('report')

/** @throws {TypeError} When the API did not create `ctx`, or an entry does not describe a row of a known table. */
export function createReport(ctx: CallerContext, changes: readonly ReportedChange[]): ReportedChanges {
  const session = requireSession(ctx)
  if (!Array.isArray(changes)) throw invalid('the second argument is not an array of changes.')
  const entry = {} as ReportedChanges
  const reported = changes.map(change => toReported(change, session.api))
  reports.set(entry, { session, ctx: ctx as AutoApiContext, changes: reported.map(({ change }) => change), reported })
  return Object.freeze(entry)
}

/** Returns the report of an entry, if {@link createReport} created the entry. */
export const findReport = (entry: unknown): Report | undefined => reports.get(entry)

/** Reports the changes to the commit listeners, in the order of the reports. Runs after the commit. */
export async function emitReports(reported: readonly Report[]): Promise<void> {
  const [first] = reported
  if (first) await emitChanges(first.session.api.listeners, reported.flatMap(({ changes }) => changes), first.ctx)
}

function toReported(change: ReportedChange, api: Api): Reported {
  if (typeof change !== 'object' || change === null) throw invalid('an entry is not an object.')
  const { resource: name, table, kind, id } = change
  if (!CHANGE_KINDS.includes(kind)) {
    const suggestion = didYouMean(String(kind), CHANGE_KINDS)
    throw invalid(`\`${String(kind)}\` is not a kind of change. Use one of: ${CHANGE_KINDS.join(', ')}.${suggestion}`)
  }
  if ((name === undefined) === (table === undefined)) throw invalid('an entry needs either `resource` or `table`.')
  if (typeof id !== 'bigint' && typeof id !== 'number' && typeof id !== 'string')
    throw invalid('the `id` of an entry is not a string, a number or a bigint.')
  return name === undefined ? changeOfTable(table!, kind, String(id), api) : changeOfResource(findResource(name, api), kind, String(id))
}

function findResource(name: string, { resources }: Api): Resource {
  const resource = resources.get(name)
  if (!resource) throw invalid(`there is no resource \`${name}\`.${didYouMean(name, [...resources.keys()])}`)
  return resource
}

function changeOfResource(resource: Resource, kind: Change['kind'], id: string): Reported {
  const key = toKey(resource, id)
  if (!key) throw invalid(`no record of \`${resource.name}\` can have the id \`${id.slice(0, 100)}\`.`)
  return { change: { resource: resource.name, table: resource.facts.name, kind, id: toId(resource, key) }, source: resource }
}

function changeOfTable(table: Table | string, kind: Change['kind'], id: string, { graph }: Api): Reported {
  if (typeof table === 'object' && !isTable(table)) throw invalid('the `table` of an entry is not a Drizzle table.')
  const nodes = [...graph.values()]
  const node = nodes.find(({ table: known, facts }) => known === table || facts.name === table)
  if (!node && typeof table === 'string')
    throw invalid(`there is no table \`${table}\`. Pass the Drizzle table.${didYouMean(table, nodes.map(({ facts }) => facts.name))}`)
  if (node?.resource) return changeOfResource(node.resource, kind, id)
  const source = node ?? unknownTable(table as Table)
  return { change: { table: source.facts.name, kind, id }, source }
}

/** A table that no file of a registered table exports. */
const unknownTable = (table: Table): GraphNode => ({ table, facts: describeTable(table), roles: {}, keys: [], children: [] })

/**
 * Commits statements that the app builds, with the statements of plugins for the reported changes.
 * @returns the outcomes of the statements of the app
 * @throws The error with which a plugin refuses the commit. {@link BusyError} when other commits changed the rows in every attempt.
 */
export async function commitReports(
  statements: readonly BuiltStatement[],
  reported: readonly Report[],
  engine: Engine,
): Promise<readonly Outcome[]> {
  const [first] = reported
  const run = () => commitPlanned(statements, reported, engine)
  return first ? watchCommit(first.session, run) : run()
}

async function commitPlanned(
  statements: readonly BuiltStatement[], reported: readonly Report[], engine: Engine,
): Promise<readonly Outcome[]> {
  const { plan, emit } = await planReports(statements, reported)
  let entries: Awaited<ReturnType<typeof plan>> = []
  const commit = async () => {
    entries = await plan()
    if (entries.length === 0) return []
    const outcomes = await engine.commit(entries.map(({ entry }) => entry))
    await emit(entries, outcomes)
    return outcomes.filter((_, index) => entries[index]!.operation !== undefined)
  }
  const isOutdated = (error: unknown) => error instanceof ExpectationError && entries[error.index]?.checksRead === true
  return repeat(commit, isOutdated, error => new BusyError(error))
}

interface Planned {
  readonly plan: PlanAttempt
  /** Passes the rows of a commit to the plugins that follow them. */
  readonly emit: (entries: readonly PlannedEntry[], outcomes: readonly Outcome[]) => Awaitable<void>
}

async function planReports(statements: readonly BuiltStatement[], reported: readonly Report[]): Promise<Planned> {
  const [first] = reported
  const [resource] = first?.session.api.resources.values() ?? []
  if (!first || !resource)
    return { plan: async () => statements.map((entry, operation) => ({ entry, operation })), emit: () => undefined }
  const ctx = Object.create(first.ctx, { [REPORTED]: { value: true } }) as AutoApiContext
  const call: Call = { ...first.session, ctx, resource }
  const isUsed = hasParticipants(call) || isWatching(call)
  const rows = isUsed ? reported.flatMap(({ reported }) => reported).map(change => toRow(change, call)) : []
  return {
    plan: await planReported(statements, rows, call),
    emit: (entries, outcomes) => emitRows(
      [...entries, ...rows.map(({ table, kind, key }) => ({ changes: { table, kind, keys: [key] } }))], outcomes, call),
  }
}

function toRow({ change: { kind, id }, source }: Reported, call: Call): ReportedRow {
  const table = changedTable(call, source)
  const key = toKey(table, id)
  if (!key) throw invalid(`no row of the table \`${table.name}\` can have the id \`${id.slice(0, 100)}\`.`)
  return { table, kind, key }
}

const invalid = (problem: string) => new TypeError(`[auto-api] reportChanges(): ${problem}`)
