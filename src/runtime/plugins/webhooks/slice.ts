/** What webhooks add outside of the server. */
import { defineSlice } from '../../shared/slice'

export default defineSlice({
  folder: 'webhooks',
  imports: ['useAutoApiWebhookTest', 'useAutoApiWebhookRotate', 'useAutoApiWebhookRetry'],
  augments: 'all',
  admin: {
    views: { webhooks: { component: 'webhooks.vue', label: 'Webhooks', icon: 'i-lucide-webhook', replaces: 'webhooks' } },
  },
})
