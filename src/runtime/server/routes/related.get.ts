/** `GET /:resource/:id/relations/:relation` */
import { executeRelated } from '../core/execute/related'
import { readOperations } from '../core/parse/params'
import { parseRelated } from '../core/parse/relation'
import { planRelated } from '../core/plan/relation'
import { listEnvelope } from '../core/respond'
import { defineRoute } from '../http'

export default defineRoute({ operation: readOperations, parse: parseRelated, plan: planRelated, execute: executeRelated, respond: listEnvelope })
