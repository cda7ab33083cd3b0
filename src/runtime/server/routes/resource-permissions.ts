/** `/:resource/permissions` */
import { resourcePermissions } from '../core/describe/capabilities'
import { defineRoutes } from '../http/handlers'

export default defineRoutes({ GET: resourcePermissions })
