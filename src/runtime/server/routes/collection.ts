/** `/:resource`; a list with `groupBy` answers as `/aggregate` does. */
import { executeGroups } from '../core/execute/aggregate'
import { executeList } from '../core/execute/read'
import { executeWrite } from '../core/execute/write'
import { parseGroups } from '../core/parse/aggregate'
import { parseList } from '../core/parse/list'
import { readOperations } from '../core/parse/params'
import { parseCreate } from '../core/parse/write'
import { toRoute } from '../core/pipeline'
import { planGroups } from '../core/plan/aggregate'
import { planList } from '../core/plan/read'
import { planCreate } from '../core/plan/write'
import { createdRecord, groupEnvelope, listEnvelope } from '../core/respond'
import { defineRoutes } from '../http'

const list = toRoute({ operation: readOperations, parse: parseList, plan: planList, execute: executeList, respond: listEnvelope })
const groups = toRoute({ operation: readOperations, parse: parseGroups, plan: planGroups, execute: executeGroups, respond: groupEnvelope })

export default defineRoutes({
  GET: (request, api) => (request.query.groupBy === undefined ? list : groups)(request, api),
  POST: toRoute({ operation: 'create', parse: parseCreate, plan: planCreate, execute: executeWrite, respond: createdRecord }),
})
