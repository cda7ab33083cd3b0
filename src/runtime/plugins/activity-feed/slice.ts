/** What the activity feed adds outside of the server. */
import { defineSlice } from '../../shared/slice'

export default defineSlice({
  folder: 'activity-feed',
  imports: ['useAutoApiActivity', 'useAutoApiActivityInfinite'],
  types: ['AutoApiActivityEntry'],
  admin: {
    views: { activity: { component: 'activity.vue', label: 'Activity', icon: 'i-lucide-activity' } },
    parts: [{ slot: 'overview', component: 'recent-activity.vue', tool: 'activity' }],
  },
})
