/** The problems of a record as sentences: the label of the field, and what is wrong with its value. */
import type { ApiItemError } from '../../app/error'
import type { MessageKey, Translate } from './messages'

/** The English texts of Zod, and the text for a person. `count` is the limit. Messages that an app has written stay as they are. */
const TEXTS: readonly (readonly [pattern: RegExp, key: MessageKey])[] = [
  [/^Invalid input: expected .+, received (?:undefined|null)$/, 'issue.required'],
  [/^Invalid input: expected (?:number|int|bigint), received/, 'issue.number'],
  [/^Invalid input: expected boolean, received/, 'issue.boolean'],
  [/^Invalid input: expected date, received/, 'issue.date'],
  [/^Too small: expected string to have >=(?<count>\d+) characters$/, 'issue.minLength'],
  [/^Too big: expected string to have <=(?<count>\d+) characters$/, 'issue.maxLength'],
  [/^Too small: expected \w+ to be >=(?<count>-?[\d.]+)$/, 'issue.minimum'],
  [/^Too big: expected \w+ to be <=(?<count>-?[\d.]+)$/, 'issue.maximum'],
  [/^Invalid option: expected one of (?<values>.+)$/, 'issue.option'],
  [/^Invalid input: expected/, 'issue.type'],
  [/^Invalid string: must match pattern/, 'issue.pattern'],
]

/** Returns the message of a failed record, or one sentence for each of its issues. */
export function toSentences(
  { message, issues = [] }: Pick<ApiItemError, 'message' | 'issues'>, labelOfField: (name: string) => string, t: Translate,
): string {
  if (issues.length === 0) return message
  return issues.map(({ path: [field, ...rest], message }) => {
    const label = field === undefined ? '' : [labelOfField(String(field)), ...rest].join(' › ')
    const text = toText(message, t)
    return label === '' ? text : t('issue', { label, text })
  }).join(' ')
}

function toText(message: string, t: Translate): string {
  for (const [pattern, key] of TEXTS) {
    const found = pattern.exec(message)
    if (!found) continue
    const { groups = {} } = found
    return t(key, {
      ...groups.count !== undefined && { count: Number(groups.count) },
      ...groups.values !== undefined && { values: groups.values.replaceAll('"', '').replaceAll('|', ', ') },
    })
  }
  return /[.!?]$/.test(message) ? message : `${message}.`
}
