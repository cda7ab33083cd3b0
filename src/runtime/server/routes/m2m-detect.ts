/** `/_m2m/detect/:name` */
import { detectRelationships } from '../core/junctions'
import { defineGlobalRoutes } from '../http'

export default defineGlobalRoutes({ GET: detectRelationships })
