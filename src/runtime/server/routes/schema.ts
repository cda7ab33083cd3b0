/** `/_schema` */
import { describeRoute } from '../core/describe/describe'
import { defineGlobalRoutes } from '../http'

export default defineGlobalRoutes({ GET: describeRoute })
