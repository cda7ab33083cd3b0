/** `/_schema` */
import { describeRoute } from '../core/describe/describe'
import { defineGlobalRoutes } from '../http/handlers'

export default defineGlobalRoutes({ GET: describeRoute })
