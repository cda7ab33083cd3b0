/** `/permissions` */
import { allPermissions } from '../core/describe/capabilities'
import { defineGlobalRoutes } from '../http/handlers'

export default defineGlobalRoutes({ GET: allPermissions })
