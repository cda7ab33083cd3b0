/** `POST /:resource/bulk` */
import { executeWrite } from '../core/execute/write'
import { parseBulkCreate } from '../core/parse/write'
import { planCreate } from '../core/plan/write'
import { bulkEnvelope } from '../core/respond'
import { defineRoute } from '../http'

export default defineRoute({ operation: 'create', parse: parseBulkCreate, plan: planCreate, execute: executeWrite, respond: bulkEnvelope })
