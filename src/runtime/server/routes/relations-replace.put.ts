/** `PUT /:resource/:id/relations` */
import { executeLink } from '../core/execute/link'
import { parseLinks } from '../core/parse/relation'
import { planLink } from '../core/plan/relation'
import { linkAnswer } from '../core/respond'
import { defineRoute } from '../http'

export default defineRoute({ operation: 'update', parse: parseLinks, plan: planLink, execute: executeLink, respond: linkAnswer })
