/** `/:resource/bulk/restore` */
import { executeWrite } from '../core/write/run'
import { parseBulkRestore } from '../core/parse/write'
import { toRoute } from '../core/entries/route'
import { planRestore } from '../core/plan/write'
import { bulkEnvelope } from '../core/entries/respond'
import { defineRoutes } from '../http/handlers'

export default defineRoutes({
  POST: toRoute({
    name: 'bulk-restore',
    operation: 'restore',
    parse: parseBulkRestore,
    plan: planRestore,
    execute: executeWrite,
    respond: bulkEnvelope,
  }),
})
