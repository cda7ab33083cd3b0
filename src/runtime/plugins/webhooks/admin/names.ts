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
  const oldest = webhooks.toReversed()
  const names = distinct(oldest.map(({ url, description }) => description === '' ? url : `${description}, ${url}`))
  return new Map(oldest.map(({ id }, index) => [id, names[index]!]))
}

/** Makes texts differ, such as the names of buttons: the later ones of several with the same text have a number. */
export function distinct(texts: readonly string[]): string[] {
  const used = new Set<string>()
  return texts.map((text) => {
    let [name, count] = [text, 1]
    while (used.has(name)) name = `${text} (${++count})`
    used.add(name)
    return name
  })
}
