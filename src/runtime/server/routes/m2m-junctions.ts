/** `/_m2m/junctions` */
import { listJunctions } from '../core/describe/junctions'
import { defineGlobalRoutes } from '../http/handlers'

export default defineGlobalRoutes({ GET: listJunctions })
