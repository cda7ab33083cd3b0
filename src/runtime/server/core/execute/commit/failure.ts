/** Why a commit failed: an unmet expectation, a busy database or a violated constraint, as the error of the response. */
import { findViolation, type Violation } from '../../../engines/violation'
import { BusyError, ExpectationError } from '../../../engines/engine'
import type { Call } from '../../context'
import { busy, changedMeanwhile, conflict, invalidReference, notFound, validationFailed } from '../../error'
import { readableFields } from '../../access/fields'
import type { Plan, Scoped } from '../../access/row-scope'
import type { WriteKind } from '../../plan/write'
import type { Expectation, WriteOperation } from './operation'

export type WritingPlan = Scoped<Plan & { readonly kind: WriteKind }>

/** A commit of which nothing was written. */
export class CommitFailed extends Error {
  /**
   * @param reason the error of the response.
   * @param item the index of the item that failed, if it is known.
   * @param expectation the check that failed, if one did.
   * @param violation the constraint that the database enforced, if one did.
   */
  constructor(
    readonly reason: unknown,
    readonly item: number | undefined,
    readonly expectation?: Expectation,
    readonly violation?: Violation,
  ) {
    super('The commit failed.', { cause: reason })
    this.name = 'CommitFailed'
  }
}

export async function toCommitFailed(
  error: unknown,
  plan: WritingPlan,
  operations: readonly WriteOperation[],
  call: Call,
): Promise<CommitFailed> {
  const operation = error instanceof ExpectationError ? operations[error.index] : undefined
  if (operation) return new CommitFailed(expectationError(plan, operation), operation.item, operation.expectation)
  if (error instanceof BusyError) return new CommitFailed(busy(), undefined)
  const violation = findViolation(call.engine.dialect, error)
  return new CommitFailed(violation ? await violationError(violation, plan.kind, call) : error, undefined, undefined, violation)
}

/** A named row was loaded before the commit, so another write has deleted it or changed it in between. */
function expectationError(plan: Scoped<Plan>, { expectation, field }: WriteOperation): Error {
  if (expectation === 'reference') return invalidReference(field)
  if (expectation === 'restrict') return conflict('Other records still refer to this one.')
  return plan.accepts || expectation === 'group' ? changedMeanwhile() : notFound()
}

/** Names the columns that the caller can read, without the tenant's, and never quotes the database. */
async function violationError(violation: Violation, write: WriteKind, call: Call): Promise<Error> {
  const { kind } = violation
  const readable = await readableFields(call)
  const fields = violatedFields(violation, call).filter(name => readable.byName.has(name) && name !== call.resource.tenant?.name)
  switch (kind) {
    case 'unique':
      return conflict(fields.length ? `A record with this ${fields.join(', ')} already exists.` : 'The record already exists.', fields)
    case 'reference':
      return write === 'delete' || write === 'purge' ? conflict('Other records still refer to this one.') : invalidReference()
    case 'required':
    case 'check': {
      const { one, unnamed } = MESSAGES[kind]
      if (fields.length === 0) return validationFailed([{ path: [], message: unnamed, code: kind }])
      return validationFailed(fields.map(name => ({ path: [name], message: one, code: kind })))
    }
  }
}

const MESSAGES = {
  required: { one: 'A value is required.', unnamed: 'A required value is missing.' },
  check: { one: 'The value is not allowed.', unnamed: 'A value is not allowed.' },
} as const

/** The fields of this resource in a violated constraint, in the table's order, as far as the database or the table names them. */
export function violatedFields({ columns, key, table }: Violation, { resource: { fields, facts }, engine }: Call): readonly string[] {
  // The constraint of another table: a dependent of the row violates it.
  if (table !== undefined && table !== facts.name) return []
  // The table facts list the columns of a named constraint. The constraint of a single column can have the name of that column.
  const constrained = key === undefined ? undefined : key === 'PRIMARY' ? facts.primaryKey : facts.keys.get(key) ?? facts.checks.get(key)
  const reported = [...columns, ...key === undefined ? [] : [key]]
  return [...fields.values()]
    .filter(({ name, column }) => (constrained ? constrained.includes(name) : reported.includes(engine.columnName(column))))
    .map(({ name }) => name)
}
