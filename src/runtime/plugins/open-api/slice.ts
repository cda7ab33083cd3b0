/** What OpenAPI documents add outside of the server. */
import { defineSlice } from '../../shared/slice'

export default defineSlice({ folder: 'open-api', describesRoles: { file: 'role', factory: 'openApi' } })
