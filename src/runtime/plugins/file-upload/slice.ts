/** What uploads add outside of the server. */
import { defineSlice } from '../../shared/slice'

export default defineSlice({
  folder: 'file-upload',
  imports: ['useAutoApiFile', 'useAutoApiFileRemove', 'useAutoApiUpload'],
  types: ['AutoApiStoredFile'],
  admin: {
    parts: [
      { slot: 'recordFields', component: 'file-fields.vue', features: ['files'] },
      { slot: 'value', component: 'file-thumb.vue', features: ['files'] },
    ],
  },
})
