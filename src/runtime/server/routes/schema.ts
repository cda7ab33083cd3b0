/** `/_schema` */
import { describeRoute } from '../core/description/describe'
import { defineGlobalRoutes } from '../http'

export default defineGlobalRoutes({ GET: describeRoute })
