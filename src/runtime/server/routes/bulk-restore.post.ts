/** `POST /:resource/bulk/restore` */
import { executeWrite } from '../core/execute/write'
import { parseBulkRestore } from '../core/parse/write'
import { planRestore } from '../core/plan/write'
import { bulkEnvelope } from '../core/respond'
import { defineRoute } from '../http'

export default defineRoute({ operation: 'restore', parse: parseBulkRestore, plan: planRestore, execute: executeWrite, respond: bulkEnvelope })
