/** The word for one record, such as `post` for the resource `posts`. */
import { toLabel } from '../../server/kit/describe'

/** Endings of English plurals and what replaces them; the first that fits. Other words are their own singular. */
const ENDINGS: readonly (readonly [ending: RegExp, singular: string])[] = [
  [/people$/, 'person'],
  [/children$/, 'child'],
  [/(movie|cookie|shoe|cache|alias|status|bus|bonus)e?s$/, '$1'],
  [/(series|news|species|[^aeiou]us|[si]s)$/, '$1'],
  [/([^aeiou])ies$/, '$1y'],
  [/(ss|sh|ch|x|o)es$/, '$1'],
  [/s$/, ''],
]

/**
 * Returns the singular of the name of a resource. A label of the app can be in any language, so it needs a singular of its own.
 * @returns `undefined` if the app has chosen another label
 */
export function toSingular(name: string, label: string): string | undefined {
  if (label !== toLabel(name)) return undefined
  const words = label.toLowerCase()
  const found = ENDINGS.find(([ending]) => ending.test(words))
  return found ? words.replace(...found) : words
}
