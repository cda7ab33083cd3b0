/** `GET /_m2m/detect/:name` */
import { detectRelationships } from '../core/junctions'
import { defineGlobalRoute } from '../http'

export default defineGlobalRoute(detectRelationships)
