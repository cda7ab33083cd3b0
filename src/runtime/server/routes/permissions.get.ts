/** `GET /permissions` */
import { allPermissions } from '../core/capabilities'
import { defineGlobalRoute } from '../http'

export default defineGlobalRoute(allPermissions)
