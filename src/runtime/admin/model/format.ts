/** Fills values into a text, and chooses its plural form. */

/**
 * A text, or its forms by plural category, which `Intl.PluralRules` chooses for the language. ` | ` separates the forms `one` and `other`
 * of a text. `{name}` is a value, and `{name.lower}` begins with a small letter.
 */
export type Message = string | (Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & { readonly other: string })

export type Values = Readonly<Record<string, string | number>>

/** @param count the number that decides about the form. A text can show it in another way, such as `1,234`. */
export function format(message: Message, values: Values, locale = 'en', count: number | string | undefined = values.count): string {
  return formOf(message, count, locale).replace(/\{(\w+)(\.lower)?\}/g, (text, name: string, isLower?: string) => {
    const value = String(values[name] ?? text)
    return isLower ? lower(value) : value
  })
}

function formOf(message: Message, count: number | string | undefined, locale: string): string {
  if (typeof message === 'string' && !message.includes(' | ')) return message
  const category = typeof count === 'number' ? new Intl.PluralRules(locale).select(count) : 'other'
  if (typeof message === 'object') return message[category] ?? message.other
  const [one = '', other = one] = message.split(' | ')
  return category === 'one' ? one : other
}

/** `Author` becomes `author`, but `API tokens` and `ID` stay. */
const lower = (text: string) => /^\p{Lu}(?!\p{Lu})/u.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
