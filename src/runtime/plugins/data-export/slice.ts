/** What exports and imports add outside of the server. */
import { defineSlice } from '../../shared/slice'

export default defineSlice({
  folder: 'data-export',
  imports: ['useAutoApiExport', 'useAutoApiImport'],
  admin: { parts: [{ slot: 'listMenu', component: 'transfer-menu.vue', features: ['exportFormats', 'import'] }] },
})
