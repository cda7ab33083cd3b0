/** `DELETE /:resource/:id`; with `?force=true` a purge. */
import { executeWrite } from '../core/execute/write'
import { deleteOperation, parseDelete } from '../core/parse/write'
import { planDelete } from '../core/plan/write'
import { deletion } from '../core/respond'
import { defineRoute } from '../http'

export default defineRoute({ operation: deleteOperation, parse: parseDelete, plan: planDelete, execute: executeWrite, respond: deletion })
