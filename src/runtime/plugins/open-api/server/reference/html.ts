/** Creates HTML. Every value is escaped, unless it is HTML already. */

declare const safe: unique symbol

export interface Html {
  readonly text: string
  readonly [safe]: true
}

type Value = Html | string | number | readonly Value[]

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\'': '&#39;' }

const escape = (text: string) => text.replace(/[&<>"']/g, character => ENTITIES[character]!)

/** For text of this code only. */
export const raw = (text: string) => ({ text }) as Html

function toText(value: Value): string {
  if (typeof value === 'string') return escape(value)
  if (typeof value === 'number') return String(value)
  return 'text' in value ? value.text : value.map(toText).join('')
}

export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return raw(parts.reduce((text, part, index) => text + toText(values[index - 1]!) + part))
}
