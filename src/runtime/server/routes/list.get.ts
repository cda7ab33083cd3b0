/** `GET /:resource`; with `groupBy` it answers as `/aggregate` does. */
import { executeGroups } from '../core/execute/aggregate'
import { executeList } from '../core/execute/read'
import { parseGroups } from '../core/parse/aggregate'
import { parseList } from '../core/parse/list'
import { readOperations } from '../core/parse/params'
import { toRoute } from '../core/pipeline'
import { planGroups } from '../core/plan/aggregate'
import { planList } from '../core/plan/read'
import { groupEnvelope, listEnvelope } from '../core/respond'
import { defineRoute } from '../http'

const list = toRoute({ operation: readOperations, parse: parseList, plan: planList, execute: executeList, respond: listEnvelope })
const groups = toRoute({ operation: readOperations, parse: parseGroups, plan: planGroups, execute: executeGroups, respond: groupEnvelope })

export default defineRoute(({ query }) => query.groupBy === undefined ? list : groups)
