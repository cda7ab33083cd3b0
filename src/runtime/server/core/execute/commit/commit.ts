/** One commit, and what the database refused told in our words. */
import { findViolation, type Violation } from '../../../engines/violation'
import { BusyError, ExpectationError, type Outcome, type WriteStatement } from '../../../engines/engine'
import type { Call } from '../../context'
import { emitChanges } from '../../listeners'
import type { Change } from '../../changes'
import { busy, changedMeanwhile, conflict, invalidReference, notFound, validationFailed } from '../../error'
import { readableFields } from '../../access/fields'
import type { WriteKind } from '../../plan/write'
import type { Scoped, Plan } from '../../access/row-scope'

/** What it means when a statement touched another number of rows than it had to. */
export type Expectation = 'row' | 'group' | 'restrict' | 'reference'

export interface WriteOperation {
  readonly statement: WriteStatement
  readonly expectation?: Expectation
  /** The field that holds the reference a guard looks at. */
  readonly field?: string
  /** Whose statement it is, where it is one item's alone. */
  readonly item?: number
  /** `'lock'`: runs before any operation of the commit that removes a row. */
  readonly phase?: 'lock'
  readonly read?: (outcome: Outcome) => void
  /** The rows it changed, or is about to: asked for only when somebody listens. */
  readonly changes?: (outcome: Outcome) => readonly Change[]
}

/** A commit that was undone, and by which item and guard where that is known. */
export class CommitFailed extends Error {
  /** @param violation what the database refused, where it did */
  constructor(
    readonly reason: unknown,
    readonly item: number | undefined,
    readonly expectation?: Expectation,
    readonly violation?: Violation,
  ) {
    super('undone', { cause: reason })
    this.name = 'Undone'
  }
}

type WritingPlan = Scoped<Plan & { readonly kind: WriteKind }>

/** @throws {CommitFailed} Nothing was applied. */
export async function commitOperations(
  plan: Scoped<Plan & { readonly kind: WriteKind }>,
  steps: readonly WriteOperation[],
  call: Call,
): Promise<void> {
  let outcomes: readonly Outcome[]
  try {
    outcomes = await call.engine.commit(steps.map(step => step.statement))
  }
  catch (error) {
    throw await toCommitFailed(error, plan, steps, call)
  }
  steps.forEach((step, index) => step.read?.(outcomes[index]!))
  if (call.api.listeners.onCommit.length === 0) return
  await emitChanges(
    call.api.listeners,
    steps.flatMap((step, index) => step.changes?.(outcomes[index]!) ?? []),
    call.ctx,
  )
}

/** The end of a commit that is only tried: no engine lets it pass. */
const ROLL_BACK: WriteStatement = Object.freeze({ text: 'select 1', values: [], returnsRows: true, expectedRows: 0 })

/** Runs the steps and rolls them back, on every engine. @returns why they could not be committed; nothing where they could. */
export async function tryOperations(plan: WritingPlan, steps: readonly WriteOperation[], call: Call): Promise<CommitFailed | undefined> {
  const { checkDeferred } = call.engine.adapter
  // Without it, deferred constraints would be checked at a commit that never comes.
  const statements = [...steps.map(step => step.statement), ...checkDeferred ? [{ text: checkDeferred, values: [] }] : []]
  try {
    await call.engine.commit([...statements, ROLL_BACK])
  }
  catch (error) {
    return error instanceof ExpectationError && error.index === statements.length ? undefined : toCommitFailed(error, plan, steps, call)
  }
  throw new Error('[auto-api] The engine committed what was only tried.')
}

async function toCommitFailed(error: unknown, plan: WritingPlan, steps: readonly WriteOperation[], call: Call): Promise<CommitFailed> {
  const step = error instanceof ExpectationError ? steps[error.index] : undefined
  if (step) return new CommitFailed(expectationError(plan, step), step.item, step.expectation)
  if (error instanceof BusyError) return new CommitFailed(busy(), undefined)
  const violation = findViolation(call.engine.dialect, error)
  return new CommitFailed(violation ? await violationError(violation, plan.kind, call) : error, undefined, undefined, violation)
}

/** The row was there a moment ago: whoever took or changed it came first. */
function expectationError(plan: Scoped<Plan>, { expectation, field }: WriteOperation): Error {
  if (expectation === 'reference') return invalidReference(field)
  if (expectation === 'restrict') return conflict('Other records still refer to this one.')
  return plan.accepts || expectation === 'group' ? changedMeanwhile() : notFound()
}

/** Names the columns the caller may read, without the tenant's, and never quotes the database. */
async function violationError(violation: Violation, write: WriteKind, call: Call): Promise<Error> {
  const { kind } = violation
  const readable = await readableFields(call)
  const named = violatedFields(violation, call).filter(name => readable.byName.has(name) && name !== call.resource.tenant?.name)
  switch (kind) {
    case 'unique':
      return conflict(named.length ? `There is a record with this ${named.join(', ')} already.` : 'There is such a record already.', named)
    case 'reference':
      return write === 'delete' || write === 'purge' ? conflict('Other records still refer to this one.') : invalidReference()
    case 'required':
    case 'check': {
      const [one, some] = MESSAGES[kind]
      if (named.length === 0) return validationFailed([{ path: [], message: some, code: kind }])
      return validationFailed(named.map(name => ({ path: [name], message: one, code: kind })))
    }
  }
}

const MESSAGES = {
  required: ['A value is required.', 'A required value is missing.'],
  check: ['The value is not allowed.', 'A value is not allowed.'],
} as const

/** The fields of this resource that a violated constraint is about, in the table's order, as far as the database or the table says. */
export function violatedFields({ columns, key, table }: Violation, { resource: { fields, facts }, engine }: Call): readonly string[] {
  // Of a row that goes along, in another table.
  if (table !== undefined && table !== facts.name) return []
  // The name of a constraint stands for its columns; of a single column's it may be the column's own.
  const named = key === undefined ? undefined : key === 'PRIMARY' ? facts.primaryKey : facts.keys.get(key) ?? facts.checks.get(key)
  const told = [...columns, ...key === undefined ? [] : [key]]
  return [...fields.values()]
    .filter(({ name, column }) => (named ? named.includes(name) : told.includes(engine.columnName(column))))
    .map(({ name }) => name)
}
