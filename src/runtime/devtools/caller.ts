/** The caller that the field "as" describes: `user:7,role:editor,permission:posts:write,tenant:1`. */

export type ChosenCaller
  /** The caller of this browser, by its cookies. */
  = | { readonly kind: 'own' }
    | { readonly kind: 'anonymous' }
    | { readonly kind: 'chosen', readonly parts: readonly CallerPart[] }
    | { readonly kind: 'invalid', readonly message: string }

const NAMES = ['user', 'role', 'permission', 'tenant'] as const

export interface CallerPart {
  readonly name: typeof NAMES[number]
  readonly value: string
}

/** A caller has one of each of these. */
const SINGLE: ReadonlySet<string> = new Set<CallerPart['name']>(['user', 'tenant'])

export function parseCaller(text: string): ChosenCaller {
  const words = text.split(',').map(word => word.trim()).filter(word => word !== '')
  if (words.length === 0) return { kind: 'own' }
  if (words.length === 1 && words[0] === 'anonymous') return { kind: 'anonymous' }
  const parts: CallerPart[] = []
  for (const word of words) {
    const { part, message } = parsePart(word)
    if (!part) return { kind: 'invalid', message }
    if (SINGLE.has(part.name) && parts.some(({ name }) => name === part.name))
      return { kind: 'invalid', message: `A caller has one ${part.name}.` }
    parts.push(part)
  }
  return { kind: 'chosen', parts }
}

type Parsed = { readonly part: CallerPart, readonly message?: undefined } | { readonly part?: undefined, readonly message: string }

/** The first colon ends the name: a permission can contain colons. */
function parsePart(word: string): Parsed {
  if (word === 'anonymous') return { message: '`anonymous` stands alone.' }
  const colon = word.indexOf(':')
  const name = NAMES.find(known => known === word.slice(0, Math.max(colon, 0)).trim())
  if (!name) return { message: `\`${word}\` is none of ${NAMES.map(known => `${known}:…`).join(', ')}, anonymous.` }
  const value = word.slice(colon + 1).trim()
  return value === '' ? { message: `\`${name}:\` has no value.` } : { part: { name, value } }
}

/** The text that the server reads. Empty for the caller of this browser. */
export function toAs(caller: ChosenCaller): string {
  if (caller.kind === 'chosen') return caller.parts.map(({ name, value }) => `${name}:${value}`).join(',')
  return caller.kind === 'anonymous' ? 'anonymous' : ''
}

export function describeCaller(caller: ChosenCaller): string {
  if (caller.kind === 'chosen') return caller.parts.map(({ name, value }) => `${name} ${value}`).join(', ')
  return caller.kind === 'anonymous' ? 'an anonymous caller' : 'the caller of this browser'
}
