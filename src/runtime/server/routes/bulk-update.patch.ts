/** `PATCH /:resource/bulk` */
import { executeWrite } from '../core/execute/write'
import { parseBulkUpdate } from '../core/parse/write'
import { planUpdate } from '../core/plan/write'
import { bulkEnvelope } from '../core/respond'
import { defineRoute } from '../http'

export default defineRoute({ operation: 'update', parse: parseBulkUpdate, plan: planUpdate, execute: executeWrite, respond: bulkEnvelope })
