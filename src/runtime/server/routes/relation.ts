/** `/:resource/:id/relations/:relation`: the records that a record is linked with. */
import { executeLink } from '../core/write/link'
import { executeRelated } from '../core/write/relations/list'
import { readOperations } from '../core/parse/params'
import { linkCountsAs, parseLink, parseRelated } from '../core/parse/relation'
import { toRoute } from '../core/entries/route'
import { planLink, planRelated } from '../core/plan/relation'
import { linkCounts, listEnvelope } from '../core/entries/respond'
import { defineRoutes } from '../http/handlers'
import type { RouteName } from '../../shared/routes'

/** PUT replaces the links, POST adds to them, DELETE removes from them. */
const link = (name: RouteName) => toRoute({
  name,
  operation: 'update',
  countsAs: linkCountsAs,
  parse: parseLink,
  plan: planLink,
  execute: executeLink,
  respond: linkCounts,
})

export default defineRoutes({
  GET: toRoute({
    name: 'related',
    operation: readOperations,
    operations: ['read'],
    parse: parseRelated,
    plan: planRelated,
    execute: executeRelated,
    respond: listEnvelope,
  }),
  PUT: link('relation-replace'),
  POST: link('relation-add'),
  DELETE: link('relation-remove'),
})
