/** `/permissions` */
import { allPermissions } from '../core/capabilities'
import { defineGlobalRoutes } from '../http'

export default defineGlobalRoutes({ GET: allPermissions })
