/** `/:resource/permissions` */
import { resourcePermissions } from '../core/capabilities'
import { defineRoutes } from '../http'

export default defineRoutes({ GET: resourcePermissions })
