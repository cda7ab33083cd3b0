/** The sets of changed rows that plugins receive before a commit, and the statements that they return. */
import type { Change, ChangedRows, ChangedRowsInsert, CommitStatement } from '../../extensions/changes'
import type { Call } from '../../request/session'
import type { Participant } from '../../extensions/listeners'
import { foreignIdValue, JSON_OPERANDS, operandValue, OPERANDS } from './operand'
import { isNewRow, isRemovedRow } from './image'
import type { ReportingOperation } from './report'
import type { ChangedTable } from './table'
import { toTarget, type Target } from './target'
import { memoized } from '../../memoized'

/** The rows of one table that a commit changes in one way. */
export interface ChangeSet {
  readonly table: ChangedTable
  readonly kind: Change['kind']
  readonly cascaded?: true
  readonly nested?: true
  readonly relation?: Change['relation']
}

/** Rows that a plugin inserts for the rows of a set. */
export interface Insertion {
  readonly set: ChangeSet
  readonly target: Target
}

export type RequestedStatement = Insertion | { readonly build: (db: never) => unknown }

const keyOf = ({ table, kind, cascaded, nested, relation }: ChangeSet) =>
  `${kind}${cascaded ? ' cascaded ' : ' '}${nested ? 'nested ' : ''}${relation ? textOf(relation) : ''}${nameOf(table)}`

const textOf = memoized(({ resource, name }: NonNullable<Change['relation']>) => `${JSON.stringify([resource, name])} `)

/** Finds the set of a report: reports of one table, resource and kind share a set. */
export type FindSet = (report: ChangeSet) => ChangeSet

export function groupSets(operations: readonly ReportingOperation[]): { readonly sets: readonly ChangeSet[], readonly setOf: FindSet } {
  const sets = new Map<string, ChangeSet>()
  for (const { changes } of operations) {
    if (!changes || sets.has(keyOf(changes))) continue
    const { table, kind, cascaded, nested, relation } = changes
    sets.set(keyOf(changes), { table, kind, ...cascaded && { cascaded }, ...nested && { nested }, ...relation && { relation } })
  }
  return { sets: [...sets.values()], setOf: report => sets.get(keyOf(report))! }
}

/** Names a table and its resource. The text is the same in every commit. */
const nameOf = memoized(({ name, resource }: ChangedTable) => JSON.stringify([name, resource]))

/**
 * Asks every plugin that takes part in commits for its statements.
 * @throws The error with which a plugin refuses the commit. `TypeError` when a plugin returns something else than statements.
 */
export async function requestStatements(sets: readonly ChangeSet[], call: Call): Promise<readonly RequestedStatement[]> {
  const insertions = new Map<unknown, Insertion>()
  const requested: RequestedStatement[] = []
  for (const participant of call.api.listeners.inCommit) {
    const changes = Object.freeze(sets.map(set => createChangedRows(set, participant, insertions, call)))
    const statements: unknown = await participant.run(changes, call.ctx)
    if (!Array.isArray(statements)) throw invalid(participant, 'did not return a list of statements')
    requested.push(...(statements as readonly CommitStatement[]).map(statement => toRequested(statement, participant, insertions)))
  }
  return requested
}

const AsyncFunction = (async () => {}).constructor

function toRequested(
  statement: CommitStatement,
  participant: Participant,
  insertions: ReadonlyMap<unknown, Insertion>,
): RequestedStatement {
  if (statement instanceof AsyncFunction) throw invalid(participant, 'returned an async function. Return the builder, without awaiting it')
  if (typeof statement === 'function') return { build: statement }
  const insertion = insertions.get(statement)
  if (!insertion) throw invalid(participant, 'returned a statement that is neither a function nor from `insertInto` of this commit')
  return insertion
}

function createChangedRows(
  set: ChangeSet,
  participant: Participant,
  insertions: Map<unknown, Insertion>,
  { engine }: Call,
): ChangedRows {
  const { table: { name, resource }, kind, cascaded, nested, relation } = set
  const changed = {
    // The values are not own properties, so that a copy or a log of the set does not read images that the plugin did not ask for.
    __proto__: operandsFor(participant),
    ...resource !== undefined && { resource },
    table: name,
    kind,
    ...cascaded && { cascaded },
    ...nested && { nested },
    ...relation && { relation },
    foreignId: (columns: readonly string[]) => {
      assertForeignKey(set, participant, columns)
      return foreignIdValue(columns)
    },
    insertInto(table: unknown, values: unknown, options: unknown): ChangedRowsInsert {
      const statement = Object.freeze({}) as ChangedRowsInsert
      insertions.set(statement, { set, target: toTarget(engine, set.table, table, values, options) })
      return statement
    },
  }
  return Object.freeze(changed) as unknown as ChangedRows
}

/** Returns an object with the values that a plugin can insert. It is the same in every commit. */
const operandsFor = memoized((participant: Participant): object => {
  const getters = OPERANDS.map(operand => [operand, { get: () => readOperand(operand, participant) }] as const)
  return Object.freeze(Object.create(Object.prototype, Object.fromEntries(getters)) as object)
})

function readOperand(operand: typeof OPERANDS[number], { name, images }: Participant) {
  if (!images && JSON_OPERANDS.has(operand))
    throw new TypeError(`[auto-api] The plugin \`${name}\` reads \`${operand}\` of changed rows. Add \`needs: { images: true }\` to it.`)
  return operandValue(operand)
}

function assertForeignKey({ kind, table }: ChangeSet, { name, images }: Participant, columns: readonly string[]): void {
  const where = `[auto-api] The plugin \`${name}\` reads \`foreignId\` of "${table.name}"`
  if (!images) throw new TypeError(`${where}. Add \`needs: { images: true }\` to it.`)
  if (!isNewRow(kind) && !isRemovedRow(kind, table)) throw new TypeError(`${where}, but the change \`${kind}\` keeps the row.`)
  const unknown = columns.find(column => !table.row.byName.has(column))
  if (columns.length === 0 || unknown !== undefined) throw new TypeError(`${where}, which has no column \`${String(unknown)}\`.`)
}

const invalid = ({ name }: Participant, problem: string) => new TypeError(`[auto-api] \`inCommit\` of the plugin \`${name}\` ${problem}.`)
