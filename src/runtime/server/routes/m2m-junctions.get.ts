/** `GET /_m2m/junctions` */
import { listJunctions } from '../core/junctions'
import { defineGlobalRoute } from '../http'

export default defineGlobalRoute(listJunctions)
