/** `POST /:resource` */
import { executeWrite } from '../core/execute/write'
import { parseCreate } from '../core/parse/write'
import { planCreate } from '../core/plan/write'
import { createdRecord } from '../core/respond'
import { defineRoute } from '../http'

export default defineRoute({ operation: 'create', parse: parseCreate, plan: planCreate, execute: executeWrite, respond: createdRecord })
