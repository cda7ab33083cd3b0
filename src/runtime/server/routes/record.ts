/** `/:resource/:id`. A delete with `?force=true` is a purge. */
import { executeGet } from '../core/read/get'
import { executeWrite } from '../core/write/run'
import { parseGet } from '../core/parse/list'
import { readOperations } from '../core/parse/params'
import { deleteOperation, parseDelete, parseUpdate, purgeCountsAs } from '../core/parse/write'
import { withIncluded } from '../core/entries/included'
import { toRoute } from '../core/entries/route'
import { planGet } from '../core/plan/read'
import { planDelete, planUpdate } from '../core/plan/write'
import { bareRecord, deletion, writtenRecord } from '../core/entries/respond'
import { defineRoutes, type Methods } from '../http/handlers'

export const methods = {
  GET: toRoute({
    name: 'get',
    operation: readOperations,
    operations: ['read'],
    parse: parseGet,
    plan: planGet,
    execute: executeGet,
    respond: bareRecord,
  }),
  PATCH: toRoute(withIncluded({
    name: 'update',
    operation: 'update',
    parse: parseUpdate,
    plan: planUpdate,
    execute: executeWrite,
    respond: writtenRecord,
  })),
  DELETE: toRoute({
    name: 'delete',
    operation: deleteOperation,
    operations: ['delete', 'purge'],
    countsAs: purgeCountsAs,
    parse: parseDelete,
    plan: planDelete,
    execute: executeWrite,
    respond: deletion,
  }),
} satisfies Methods

export default defineRoutes(methods)
