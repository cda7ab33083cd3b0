/** Turns a failed commit into the error of the response. Causes: an unmet expectation, a busy database or a violated constraint. */
import { findViolation, type Violation } from '../../engines/violation'
import { BusyError, ExpectationError } from '../../engines/engine'
import type { Call } from '../request/session'
import { busy, changedMeanwhile, conflict, invalidReference, notFound, preconditionFailed, validationFailed } from '../error'
import { readableFields } from '../access/fields'
import type { Plan, Scoped } from '../access/row-scope'
import type { WriteKind, WritePlan } from '../plan/write'
import type { Expectation, WriteOperation } from './operation'

export type WritingPlan = Scoped<Plan & Pick<WritePlan, 'kind' | 'groupRows'>>

/** The error of a failed commit. The commit has written nothing. */
export class CommitFailed extends Error {
  /**
   * @param reason the error of the response.
   * @param item the index of the item that failed, if it is known.
   * @param expectation the expectation that the statement did not meet, if that is the cause.
   * @param violation the constraint that the write violated, if that is the cause.
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

/**
 * Returns the error of an operation whose expectation is not met. A row that the request names was loaded before the commit. If the
 * commit does not find it, another write has deleted or changed it since.
 */
function expectationError(plan: Scoped<Plan>, { expectation, field }: WriteOperation): Error {
  if (expectation === 'reference') return invalidReference(field)
  if (expectation === 'restrict') return conflict('Other records still refer to this one.')
  if (expectation === 'condition') return preconditionFailed()
  return plan.accepts || expectation === 'group' ? changedMeanwhile() : notFound()
}

/**
 * Returns the error of a violated constraint. It names only fields that the caller can read, and never the tenant field. It does not
 * contain the message of the database.
 */
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

/**
 * Returns the fields of this resource in a violated constraint, in the order of the table. The result is empty if neither the database
 * nor the table facts name the columns.
 */
export function violatedFields({ columns, key, table }: Violation, { resource: { fields, facts }, engine }: Call): readonly string[] {
  // The constraint belongs to another table: a dependent of the row violates it.
  if (table !== undefined && table !== facts.name) return []
  // The table facts list the columns of a named constraint. The constraint of a single column can have the name of that column.
  const constrained = key === undefined ? undefined : key === 'PRIMARY' ? facts.primaryKey : facts.keys.get(key) ?? facts.checks.get(key)
  const reported = [...columns, ...key === undefined ? [] : [key]]
  return [...fields.values()]
    .filter(({ stored }) => stored)
    .filter(({ name, column }) => (constrained ? constrained.includes(name) : reported.includes(engine.columnName(column))))
    .map(({ name }) => name)
}
