/** The names of webhooks in texts and labels. */
import type { RecordId } from '../../../shared/types/resources'

export interface NamedWebhook {
  readonly id: RecordId
  readonly url: string
  readonly description: string
}

/**
 * Names each webhook by its description and URL. No two have the same name: the later ones of several with the same text have a number.
 * @param webhooks the newest first
 */
export function namesOf(webhooks: readonly NamedWebhook[]): ReadonlyMap<RecordId, string> {
  const counts = new Map<string, number>()
  return new Map(webhooks.toReversed().map(({ id, url, description }) => {
    const text = description === '' ? url : `${description}, ${url}`
    const count = (counts.get(text) ?? 0) + 1
    counts.set(text, count)
    return [id, count === 1 ? text : `${text} (${count})`]
  }))
}
