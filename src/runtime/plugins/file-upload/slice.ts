/** What uploads add outside of the server. */
import { defineSlice } from '../../shared/slice'

export default defineSlice({
  folder: 'file-upload',
  imports: ['useAutoApiFile', 'useAutoApiFileRemove', 'useAutoApiUpload'],
  types: ['AutoApiStoredFile'],
})
