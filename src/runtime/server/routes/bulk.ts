/** `/:resource/bulk`. A delete with `?force=true` is a purge. It can also purge all rows of one cascading deletion. */
import { executeWrite } from '../core/write/run'
import { deleteOperation, parseBulkCreate, parseBulkDelete, parseBulkUpdate, purgeCountsAs } from '../core/parse/write'
import { withIncluded } from '../core/entries/included'
import { toRoute } from '../core/entries/route'
import { planCreate, planDelete, planUpdate } from '../core/plan/write'
import { withUpsert } from '../core/entries/upsert/route'
import { bulkEnvelope } from '../core/entries/respond'
import { defineRoutes } from '../http/handlers'

export default defineRoutes({
  POST: withUpsert('bulk-create', toRoute(withIncluded({
    name: 'bulk-create',
    operation: 'create',
    parse: parseBulkCreate,
    plan: planCreate,
    execute: executeWrite,
    respond: bulkEnvelope,
  }))),
  PATCH: toRoute(withIncluded({
    name: 'bulk-update',
    operation: 'update',
    parse: parseBulkUpdate,
    plan: planUpdate,
    execute: executeWrite,
    respond: bulkEnvelope,
  })),
  DELETE: toRoute({
    name: 'bulk-delete',
    operation: deleteOperation,
    operations: ['delete', 'purge'],
    countsAs: purgeCountsAs,
    parse: parseBulkDelete,
    plan: planDelete,
    execute: executeWrite,
    respond: bulkEnvelope,
  }),
})
