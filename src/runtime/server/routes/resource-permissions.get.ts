/** `GET /:resource/permissions` */
import { resourcePermissions } from '../core/capabilities'
import { defineRoute } from '../http'

export default defineRoute(() => resourcePermissions)
