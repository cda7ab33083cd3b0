/** `DELETE /:resource/bulk`; with `?force=true` a purge, of a cascade group too. */
import { executeWrite } from '../core/execute/write'
import { deleteOperation, parseBulkDelete } from '../core/parse/write'
import { planDelete } from '../core/plan/write'
import { bulkEnvelope } from '../core/respond'
import { defineRoute } from '../http'

export default defineRoute({ operation: deleteOperation, parse: parseBulkDelete, plan: planDelete, execute: executeWrite, respond: bulkEnvelope })
