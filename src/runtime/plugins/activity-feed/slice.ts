/** What the activity feed adds outside of the server. */
import { defineSlice } from '../../shared/slice'

export default defineSlice({
  folder: 'activity-feed',
  imports: ['useAutoApiActivity', 'useAutoApiActivityInfinite'],
  types: ['AutoApiActivityEntry'],
})
