/** What live updates add outside of the server. */
import { defineSlice } from '../../shared/slice'

export default defineSlice({
  folder: 'live',
  imports: ['useAutoApiLive'],
  types: ['AutoApiLiveSignal', 'AutoApiLiveState'],
  augments: 'listed',
  startsInBrowser: true,
  admin: { queries: { live: true } },
})
