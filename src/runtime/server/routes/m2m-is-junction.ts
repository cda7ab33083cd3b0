/** `/_m2m/is-junction/:table` */
import { isJunction } from '../core/describe/junctions'
import { defineGlobalRoutes } from '../http/handlers'

export default defineGlobalRoutes({ GET: isJunction })
