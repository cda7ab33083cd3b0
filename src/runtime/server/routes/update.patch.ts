/** `PATCH /:resource/:id` */
import { executeWrite } from '../core/execute/write'
import { parseUpdate } from '../core/parse/write'
import { planUpdate } from '../core/plan/write'
import { writtenRecord } from '../core/respond'
import { defineRoute } from '../http'

export default defineRoute({ operation: 'update', parse: parseUpdate, plan: planUpdate, execute: executeWrite, respond: writtenRecord })
