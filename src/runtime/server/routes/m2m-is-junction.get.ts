/** `GET /_m2m/is-junction/:table` */
import { isJunction } from '../core/junctions'
import { defineGlobalRoute } from '../http'

export default defineGlobalRoute(isJunction)
