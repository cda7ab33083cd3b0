/** `/:resource/:id/restore` */
import { executeWrite } from '../core/write/run'
import { parseRestore } from '../core/parse/write'
import { toRoute } from '../core/entries/route'
import { planRestore } from '../core/plan/write'
import { writtenRecord } from '../core/entries/respond'
import { defineRoutes, type Methods } from '../http/handlers'

export const methods = {
  POST: toRoute({
    name: 'restore',
    operation: 'restore',
    parse: parseRestore,
    plan: planRestore,
    execute: executeWrite,
    respond: writtenRecord,
  }),
} satisfies Methods

export default defineRoutes(methods)
