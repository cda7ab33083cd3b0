/** `/_m2m/detect/:name` */
import { detectRelationships } from '../core/describe/junctions'
import { defineGlobalRoutes } from '../http/handlers'

export default defineGlobalRoutes({ GET: detectRelationships })
