/** What exports and imports add outside of the server. */
import { defineSlice } from '../../shared/slice'

export default defineSlice({ folder: 'data-export', imports: ['useAutoApiExport', 'useAutoApiImport'] })
