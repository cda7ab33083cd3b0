/** Selects for the view of the permissions which operations of the caller reach only some of the rows. */
import type { Operation } from '../../shared/operations'
import type { AdminConfig, AdminRowLimits, AdminRows } from '../../shared/types/admin'
import type { DescribedCapabilities } from '../../shared/types/description'
import { describeFor, findRowLimits } from '../../server/kit/describe'
import { type AutoApiContext, requireSession } from '../../server/kit/call'
import { refused } from '../../server/kit/errors'
import { canEnter } from './access'

/** The operation whose rule decides about the rows. A create has none, because its row is new, and the trash is read like a list. */
const OPERATIONS = {
  canRead: 'read', canUpdate: 'update', canDelete: 'delete', canAggregate: 'aggregate',
  canRestore: 'restore', canPurge: 'purge', canViewDeleted: 'read',
} as const satisfies Partial<Record<keyof DescribedCapabilities, Operation>>

type Limitable = keyof typeof OPERATIONS

/** @throws 401 or 403, like `GET /_admin`. Anonymous callers that a middleware lets pass receive no resource. */
export async function readRowLimits(ctx: AutoApiContext, config: AdminConfig): Promise<AdminRows> {
  const session = requireSession(ctx)
  if (!await canEnter(ctx, config)) throw refused(ctx)
  if (ctx.user === null) return { resources: {} }
  const found: [string, AdminRowLimits][] = []
  for (const [name, { capabilities }] of Object.entries((await describeFor(ctx)).resources)) {
    const allowed = Object.entries(OPERATIONS).filter(([capability]) => capabilities[capability as Limitable])
    const { tenant, operations } = await findRowLimits(session, session.api.resources.get(name)!, allowed.map(([, operation]) => operation))
    const limited = allowed.filter(([, operation]) => operations.includes(operation)).map(([capability]) => capability as Limitable)
    found.push([name, { tenant, limited }])
  }
  return { resources: Object.fromEntries(found) }
}
