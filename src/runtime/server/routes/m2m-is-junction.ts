/** `/_m2m/is-junction/:table` */
import { isJunction } from '../core/junctions'
import { defineGlobalRoutes } from '../http'

export default defineGlobalRoutes({ GET: isJunction })
