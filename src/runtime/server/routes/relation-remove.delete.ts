/** `DELETE /:resource/:id/relations/:relation` */
import { executeLink } from '../core/execute/link'
import { parseLink } from '../core/parse/relation'
import { planLink } from '../core/plan/relation'
import { linkAnswer } from '../core/respond'
import { defineRoute } from '../http'

export default defineRoute({ operation: 'update', parse: parseLink, plan: planLink, execute: executeLink, respond: linkAnswer })
