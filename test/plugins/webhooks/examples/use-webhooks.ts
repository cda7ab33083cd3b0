/** Example of the docs page `webhooks`: what a page needs to manage webhooks. */
import { ref } from 'vue'
import { useAutoApiCreate, useAutoApiWebhookRetry, useAutoApiWebhookRotate, useAutoApiWebhookTest } from '../../../support/composables'

export function useWebhooks() {
  const secret = ref<string>()
  const create = useAutoApiCreate('webhooks', { onSuccess: made => secret.value = made.secret })
  const rotate = useAutoApiWebhookRotate('webhooks', { onSuccess: made => secret.value = made.secret })
  const test = useAutoApiWebhookTest('webhooks')
  const retry = useAutoApiWebhookRetry('webhookDeliveries')
  return { secret, create, rotate, test, retry }
}
