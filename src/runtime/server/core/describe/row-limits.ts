/** Decides for one caller which operations a rule limits to some of the rows. The decision contains neither the rule nor a row. */
import type { Operation } from '../../../shared/operations'
import type { Resource } from '../../schema/model'
import { callFor, contextFor } from '../access/authorize'
import { namedFilters } from '../access/row-rules'
import { tenantScope } from '../access/tenant'
import { logError } from '../process/log'
import type { Session } from '../request/session'

export interface RowLimits {
  /** Whether the caller reaches only rows of one tenant. */
  readonly tenant: boolean
  /** The operations for which `listFilter`, `objectLevel` or a plugin can hide rows from the caller. */
  readonly operations: readonly Operation[]
}

/** @param operations those that the caller can use */
export async function findRowLimits(session: Session, resource: Resource, operations: readonly Operation[]): Promise<RowLimits> {
  const scope = tenantScope(session.ctx, resource)
  const limited: Operation[] = []
  for (const operation of new Set(operations)) if (await isLimited(session, resource, operation)) limited.push(operation)
  return { tenant: scope === 'none' || !scope.all, operations: limited }
}

/** A rule that throws counts as one that hides rows. */
async function isLimited(session: Session, resource: Resource, operation: Operation): Promise<boolean> {
  if (resource.auth?.objectLevel) return true
  const call = callFor(session, resource, operation)
  try {
    for (const { clause } of namedFilters(call, resource, operation, resource.table)) if (await clause() !== undefined) return true
    for (const toCheck of session.api.rowChecks.get(resource) ?? [])
      if (await toCheck(contextFor(call, resource, operation))) return true
    return false
  }
  catch (error) {
    logError(call.ctx, `A row rule of \`${resource.name}\` (${operation}) threw.`, error)
    return true
  }
}
