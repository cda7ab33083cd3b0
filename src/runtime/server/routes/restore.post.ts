/** `POST /:resource/:id/restore` */
import { executeWrite } from '../core/execute/write'
import { parseRestore } from '../core/parse/write'
import { planRestore } from '../core/plan/write'
import { writtenRecord } from '../core/respond'
import { defineRoute } from '../http'

export default defineRoute({ operation: 'restore', parse: parseRestore, plan: planRestore, execute: executeWrite, respond: writtenRecord })
