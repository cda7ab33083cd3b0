/** `/_m2m/junctions` */
import { listJunctions } from '../core/junctions'
import { defineGlobalRoutes } from '../http'

export default defineGlobalRoutes({ GET: listJunctions })
