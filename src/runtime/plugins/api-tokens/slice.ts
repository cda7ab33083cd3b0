/** What API tokens add outside of the server. */
import { defineSlice } from '../../shared/slice'

export default defineSlice({
  folder: 'api-tokens',
  imports: ['useAutoApiTokenRotate', 'useAutoApiTokenIntrospect'],
  types: ['AutoApiIntrospection'],
  augments: 'all',
  admin: { views: { tokens: { component: 'tokens.vue', label: 'API tokens', icon: 'i-lucide-key-round', replaces: 'tokens' } } },
})
