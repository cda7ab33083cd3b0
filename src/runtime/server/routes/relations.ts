/** `/:resource/:id/relations`: several relations of a record at once. */
import { executeLink } from '../core/write/link'
import { linkCountsAs, parseLinks } from '../core/parse/relation'
import { toRoute } from '../core/entries/route'
import { planLink } from '../core/plan/relation'
import { linkCounts } from '../core/entries/respond'
import { defineRoutes } from '../http/handlers'

export default defineRoutes({
  PUT: toRoute({
    name: 'relations-replace',
    operation: 'update',
    countsAs: linkCountsAs,
    parse: parseLinks,
    plan: planLink,
    execute: executeLink,
    respond: linkCounts,
  }),
})
