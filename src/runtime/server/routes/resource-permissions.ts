/** `/:resource/permissions` */
import { resourcePermissions } from '../core/describe/capabilities'
import { defineRoutes } from '../http'

export default defineRoutes({ GET: resourcePermissions })
