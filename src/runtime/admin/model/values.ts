/** The words and the colors of the values of an enum: of the options of the admin, else of the metadata, else derived from the value. */
import type { AdminColor, AdminFieldOptions } from '../../shared/types/admin'
import type { DescribedField } from '../../shared/types/description'

type Own = Pick<AdminFieldOptions, 'labels' | 'colors'> | undefined
type Described = Pick<DescribedField, 'metadata'>

/** Returns the text of a value of an enum: `In review` for `in_review`, unless the app has a label for it. */
export function valueLabel(value: unknown, { metadata }: Described, own?: Own): string {
  const text = String(value)
  return find(own?.labels, text) ?? find(metadata.labels, text) ?? sentenceCase(text)
}

/** Returns the color of the badge of a value of an enum. */
export function valueColor(value: unknown, { metadata }: Described, own?: Own): AdminColor {
  const text = String(value)
  const chosen = find(own?.colors, text) ?? find(metadata.colors, text)
  return chosen as AdminColor | undefined ?? COLORS.find(([, names]) => names.test(text))?.[0] ?? 'neutral'
}

const COLORS: readonly (readonly [AdminColor, RegExp])[] = [
  ['success', /^(?:published|active|approved|enabled|done|paid|success|open|live|accepted|delivered|completed?)$/i],
  ['warning', /^(?:pending|waiting|in.?review|review|paused|scheduled|on.?hold|archived)$/i],
  ['error', /^(?:rejected|failed|error|blocked|deleted|overdue|spam|refused|banned|dead|cancell?ed)$/i],
]

/** The metadata of the app can have any shape. */
function find(texts: unknown, value: string): string | undefined {
  if (typeof texts !== 'object' || texts === null || !Object.hasOwn(texts, value)) return undefined
  const found = (texts as Readonly<Record<string, unknown>>)[value]
  return typeof found === 'string' ? found : undefined
}

/** Identifiers become words. A text with spaces or capitals was written for people. */
function sentenceCase(text: string): string {
  if (!/^[a-z][\w-]*$/.test(text)) return text
  const words = text.replace(/([a-z\d])([A-Z])/g, '$1 $2').split(/[_-]+|\s/)
  const all = words.map(word => /^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase()).join(' ').trim()
  return all.charAt(0).toUpperCase() + all.slice(1)
}
