/** Example of the docs page `webhooks`: the same without this package. */
import { Webhook } from 'standardwebhooks'

export function receive(body: string, headers: Record<string, string>): unknown {
  return new Webhook(process.env.WEBHOOK_SECRET!).verify(body, headers)
}
