/** `GET /:resource/aggregate` */
import { executeGroups } from '../core/execute/aggregate'
import { parseGroups } from '../core/parse/aggregate'
import { aggregateOperations } from '../core/parse/params'
import { planGroups } from '../core/plan/aggregate'
import { groupEnvelope } from '../core/respond'
import { defineRoute } from '../http'

export default defineRoute({ operation: aggregateOperations, parse: parseGroups, plan: planGroups, execute: executeGroups, respond: groupEnvelope })
