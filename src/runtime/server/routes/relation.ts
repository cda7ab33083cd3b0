/** `/:resource/:id/relations/:relation`: the records that a record is linked with. */
import { executeLink } from '../core/execute/relations/run'
import { executeRelated } from '../core/execute/relations/list'
import { readOperations } from '../core/parse/params'
import { linkCountsAs, parseLink, parseRelated } from '../core/parse/relation'
import { toRoute } from '../core/pipeline'
import { planLink, planRelated } from '../core/plan/relation'
import { linkCounts, listEnvelope } from '../core/respond'
import { defineRoutes } from '../http'

/** PUT replaces the links, POST adds to them, DELETE removes from them. */
const link = toRoute({
  operation: 'update',
  countsAs: linkCountsAs,
  parse: parseLink,
  plan: planLink,
  execute: executeLink,
  respond: linkCounts,
})

export default defineRoutes({
  GET: toRoute({
    operation: readOperations,
    operations: ['read'],
    parse: parseRelated,
    plan: planRelated,
    execute: executeRelated,
    respond: listEnvelope,
  }),
  PUT: link,
  POST: link,
  DELETE: link,
})
