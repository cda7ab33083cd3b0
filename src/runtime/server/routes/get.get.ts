/** `GET /:resource/:id` */
import { executeGet } from '../core/execute/read'
import { parseGet } from '../core/parse/list'
import { readOperations } from '../core/parse/params'
import { planGet } from '../core/plan/read'
import { bareRecord } from '../core/respond'
import { defineRoute } from '../http'

export default defineRoute({ operation: readOperations, parse: parseGet, plan: planGet, execute: executeGet, respond: bareRecord })
