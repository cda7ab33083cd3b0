/** `/_m2m/junctions` */
import { listJunctions } from '../core/describe/junctions'
import { defineGlobalRoutes } from '../http'

export default defineGlobalRoutes({ GET: listJunctions })
