/**
 * Explains rows: which rule hides a row, and how many rows each rule leaves. It reads rows of every tenant, so no route of a production
 * build may use it.
 */
import { getTableName } from 'drizzle-orm'
import type { Decision, ExplainedRows } from '../../shared/explanation'
import type { Operation } from '../../shared/operations'
import type { TrashMode } from '../../shared/query'
import { allFields } from '../core/access/fields'
import { callFor } from '../core/access/authorize'
import { namedFilters, objectLevelRule, tenantClauses, trashClauses } from '../core/access/row-rules'
import type { Call, Session } from '../core/request/session'
import { runCount } from '../core/read/count'
import { decoder, type RecordValues } from '../core/read/rows/decode'
import { selectList } from '../core/read/rows/select'
import { equals, whereClause } from '../core/sql/conditions'
import { statement } from '../core/sql/parameterize'
import { where, value, type Where } from '../core/sql/where'
import type { Resource } from '../schema/model'
import { toKey } from '../schema/record-id'
import { withPlace, type Places } from './places'

/** A rule that hides rows: SQL, or code that judges one row. */
type RowRule = Pick<Decision, 'kind' | 'place'> & { readonly rule: string } & (
  | { readonly clauses: readonly Where[], readonly accepts?: undefined }
  | { readonly accepts: (row: RecordValues) => unknown, readonly clauses?: undefined }
)

/** Rules in code judge at most this many rows of a table. */
const MAX_JUDGED = 1000

/** The rows that a request looks for. */
export function trashModeOf(operation: Operation, query: Readonly<Record<string, unknown>>): TrashMode {
  if (operation === 'restore' || query.onlyDeleted === 'true') return 'trashed'
  return operation === 'purge' || query.includeDeleted === 'true' ? 'both' : 'active'
}

/** The rules of a resource in the order in which a row is explained. */
async function rulesOf(call: Call, trash: TrashMode, places: Places): Promise<RowRule[]> {
  const { resource, ctx: { operation }, api } = call
  const { name, table, auth, tenant, roles: { deletedAt } } = resource
  const rules: RowRule[] = []
  if (tenant) rules.push({ kind: 'tenant', rule: `multiTenancy: ${name}.${tenant.name}`, clauses: tenantClauses(call, resource, table) })
  if (trash === 'trashed' || (trash === 'active' && deletedAt))
    rules.push({ kind: 'trash', rule: `${name}.${deletedAt?.name ?? 'trash'}`, clauses: trashClauses(resource, trash) })
  for (const { plugin, clause } of namedFilters(call, resource, operation, table)) {
    const found = await clause()
    const named = plugin === undefined
      ? { kind: 'listFilter', rule: `${name}.authorization.listFilter` } as const
      : { kind: 'plugin rows', rule: `rows of the plugin ${plugin}` } as const
    rules.push({ ...named, clauses: found ? [found] : [] })
  }
  if (auth?.objectLevel)
    rules.push({ kind: 'objectLevel', rule: `${name}.authorization.objectLevel`, accepts: objectLevelRule(call, resource, operation)! })
  for (const toCheck of api.rowChecks.get(resource) ?? []) {
    const accepts = await toCheck(call.ctx)
    if (accepts) rules.push({ kind: 'plugin rows', rule: 'the row check of a plugin', accepts })
  }
  return rules.map(rule => withPlace(rule, places))
}

/** Explains a row: each rule, in its order. The first one that does not pass hides the row. */
export async function explainRow(
  session: Session, resource: Resource, operation: Operation, id: string, trash: TrashMode, places: Places,
): Promise<Decision[]> {
  const call = callFor(session, resource, operation)
  const { name } = resource
  const about = { resource: name, operation, id }
  const isRow = toKey(resource, id)?.map((value, index) => equals(resource.primaryKey[index]!, value))
  const [row] = isRow ? await readRows(call, isRow, 1) : []
  if (!row) return [{ ...about, kind: 'missing', passed: false, rule: name, text: `There is no row ${id} in \`${name}\`.` }]
  const decisions: Decision[] = []
  for (const rule of await rulesOf(call, trash, places)) {
    const passed = rule.clauses ? await countRows(call, [...isRow!, ...rule.clauses]) > 0 : Boolean(await rule.accepts(row))
    const { kind, place } = rule
    const text = rowText(rule, `row ${id} of \`${name}\``, passed, trash)
    decisions.push({ ...about, kind, rule: rule.rule, passed, text, ...place && { place } })
  }
  return decisions
}

function rowText({ kind, rule }: RowRule, row: string, passed: boolean, trash: TrashMode): string {
  if (kind === 'tenant') return `The ${row} belongs to ${passed ? 'the' : 'another'} tenant${passed ? ' of the caller' : ''}.`
  const isWanted = (trash === 'trashed') === passed
  if (kind === 'trash') return `The ${row} is ${isWanted ? '' : 'not '}in the trash.`
  return `\`${rule}\` ${passed ? 'shows' : 'hides'} the ${row}.`
}

/** Counts the rows that each rule leaves of a whole table. */
export async function explainRows(
  session: Session, resource: Resource, operation: Operation, trash: TrashMode, places: Places,
): Promise<ExplainedRows> {
  const call = callFor(session, resource, operation)
  const rules: ExplainedRows['rules'][number][] = []
  const clauses: Where[] = []
  const total = await countRows(call, clauses)
  let left = total
  let judged: readonly RecordValues[] | undefined
  let truncated = false
  for (const { clauses: own, accepts, ...rule } of await rulesOf(call, trash, places)) {
    if (own) clauses.push(...own)
    else if (!judged) {
      judged = await readRows(call, clauses, MAX_JUDGED)
      truncated = judged.length < left
      left = judged.length
    }
    if (accepts) judged = await filterRows(judged!, accepts)
    const now = judged ? judged.length : await countRows(call, clauses)
    rules.push({ ...rule, hidden: left - now })
    left = now
  }
  return { resource: resource.name, operation, total, rules, visible: left, ...truncated && { truncated } }
}

async function filterRows(rows: readonly RecordValues[], accepts: (row: RecordValues) => unknown): Promise<RecordValues[]> {
  const kept: RecordValues[] = []
  for (const row of rows) if (await accepts(row)) kept.push(row)
  return kept
}

const countRows = (call: Call, conditions: readonly Where[]) =>
  runCount(statement(call, where`select count(*) from ${call.resource.table}${whereClause(conditions)}`), call)

async function readRows(call: Call, conditions: readonly Where[], limit: number): Promise<RecordValues[]> {
  const columns = allFields(call.resource)
  const rows = where`select ${selectList(columns)} from ${call.resource.table}${whereClause(conditions)} limit ${value(limit)}`
  return (await call.engine.query(statement(call, rows))).map(decoder(columns))
}

/** Whether the SQL text names the table of a resource. */
export function readsTable(text: string, { table }: Resource): boolean {
  const name = getTableName(table)
  return text.includes(`"${name}"`) || text.includes(`\`${name}\``)
}
