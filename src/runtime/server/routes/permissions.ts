/** `/permissions` */
import { allPermissions } from '../core/describe/capabilities'
import { defineGlobalRoutes } from '../http'

export default defineGlobalRoutes({ GET: allPermissions })
