/** `/:resource/aggregate` */
import { executeGroups } from '../core/read/aggregate/groups'
import { parseGroups } from '../core/parse/aggregate'
import { aggregateOperations } from '../core/parse/params'
import { toRoute } from '../core/entries/route'
import { planGroups } from '../core/plan/aggregate'
import { groupEnvelope } from '../core/entries/respond'
import { defineRoutes, type Methods } from '../http/handlers'

export const methods = {
  GET: toRoute({
    name: 'aggregate',
    operation: aggregateOperations,
    operations: ['aggregate'],
    parse: parseGroups,
    plan: planGroups,
    execute: executeGroups,
    respond: groupEnvelope,
  }),
} satisfies Methods

export default defineRoutes(methods)
