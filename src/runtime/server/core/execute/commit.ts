/** One commit, and what the database refused told in our words. */
import { findViolation, type Violation } from '../../engines/constraint'
import { BusyError, GuardError, type Outcome, type WriteStatement } from '../../engines/engine'
import type { Call } from '../context'
import { tellCommit, type Change } from '../plugins'
import { busy, changedMeanwhile, conflict, invalidReference, notFound, validationFailed } from '../error'
import { readableFields } from '../fields'
import type { WriteKind } from '../plan/write'
import type { Scoped, Plan } from '../scope'

/** What it means when a statement touched another number of rows than it had to. */
export type Guard = 'row' | 'group' | 'restrict' | 'reference'

export interface Step {
  readonly statement: WriteStatement
  readonly guard?: Guard
  /** The field that holds the reference a guard looks at. */
  readonly field?: string
  /** Whose statement it is, where it is one item's alone. */
  readonly item?: number
  /** It looks at rows before any statement of the commit removes one. */
  readonly early?: boolean
  readonly read?: (outcome: Outcome) => void
  /** The rows it changed, or is about to: asked for only when somebody listens. */
  readonly changes?: (outcome: Outcome) => readonly Change[]
}

/** A commit that was undone, and by which item and guard where that is known. */
export class Undone extends Error {
  constructor(readonly reason: unknown, readonly item: number | undefined, readonly guard?: Guard) {
    super('undone', { cause: reason })
    this.name = 'Undone'
  }
}

/** @throws {Undone} Nothing was applied. */
export async function commitSteps(plan: Scoped<Plan & { readonly kind: WriteKind }>, steps: readonly Step[], call: Call): Promise<void> {
  let outcomes: readonly Outcome[]
  try {
    outcomes = await call.engine.commit(steps.map(step => step.statement))
  }
  catch (error) {
    const step = error instanceof GuardError ? steps[error.index] : undefined
    throw new Undone(step ? guardError(plan, step) : await toApiError(error, plan.kind, call), step?.item, step?.guard)
  }
  steps.forEach((step, index) => step.read?.(outcomes[index]!))
  if (call.api.plugins.onCommit.length === 0) return
  await tellCommit(call.api.plugins, steps.flatMap((step, index) => step.changes?.(outcomes[index]!) ?? []), call.ctx)
}

/** The row was there a moment ago: whoever took or changed it came first. */
function guardError(plan: Scoped<Plan>, { guard, field }: Step): Error {
  if (guard === 'reference') return invalidReference(field)
  if (guard === 'restrict') return conflict('Other records still refer to this one.')
  return plan.accepts || guard === 'group' ? changedMeanwhile() : notFound()
}

async function toApiError(error: unknown, kind: WriteKind, call: Call): Promise<unknown> {
  if (error instanceof BusyError) return busy()
  const violation = findViolation(call.engine.dialect, error)
  return violation ? violationError(violation, kind, call) : error
}

/** Names a column only to a caller who may read it, and never quotes the database. */
async function violationError({ kind, columns: told, key }: Violation, write: WriteKind, call: Call): Promise<Error> {
  const columns = key === undefined ? told : columnsOfKey(key, call)
  const readable = await readableFields(call)
  const fields = readable.fields.filter(field => columns.includes(call.engine.columnName(field.column))).map(field => field.name)
  const named = fields.length === columns.length ? fields : []
  switch (kind) {
    case 'unique': return conflict(named.length ? `There is a record with this ${named.join(', ')} already.` : 'There is such a record already.', named)
    case 'reference': return write === 'delete' || write === 'purge' ? conflict('Other records still refer to this one.') : invalidReference()
    case 'required': case 'check': return validationFailed(named.map(name => ({ path: [name], message: kind === 'required' ? 'A value is required.' : 'The value is not allowed.', code: kind })))
  }
}

/** MySQL names the key instead of its columns. */
function columnsOfKey(key: string, { resource, engine }: Call): readonly string[] {
  const { facts } = resource
  const names = key === 'PRIMARY' ? facts.primaryKey : facts.keys.get(key)
  return names ? names.map(name => engine.columnName(resource.fields.get(name)!.column)) : [key]
}
