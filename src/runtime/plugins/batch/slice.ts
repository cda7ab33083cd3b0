/** What batches add outside of the server. */
import { defineSlice } from '../../shared/slice'

export default defineSlice({ folder: 'batch', imports: ['useAutoApiBatch'], types: ['AutoApiBatchStep'] })
