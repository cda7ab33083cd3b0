/** The keys of the admin: what each of them does, and when a press is meant for a list and not for what is typed. */

export type Shortcut = 'next' | 'previous' | 'select' | 'edit' | 'search' | 'new' | 'help' | 'clear'

/** The part of a keyboard event that decides. */
export interface Press {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
  readonly defaultPrevented?: boolean
  readonly isComposing?: boolean
}

const KEYS: Readonly<Record<string, Shortcut>> = {
  'j': 'next', 'ArrowDown': 'next', 'k': 'previous', 'ArrowUp': 'previous',
  'x': 'select', 'e': 'edit', 'n': 'new', '/': 'search', '?': 'help', 'Escape': 'clear',
}

/** Returns what a press does. The shift key is part of a character such as `?`, and other modifiers belong to the browser. */
export function shortcutOf({ key, ctrlKey, metaKey, altKey, defaultPrevented, isComposing }: Press): Shortcut | undefined {
  if (ctrlKey || metaKey || altKey || defaultPrevented || isComposing) return undefined
  return Object.hasOwn(KEYS, key) ? KEYS[key] : undefined
}

/** Keys that have a meaning of their own without a character. They stay if single keys are turned off. */
export const isCharacter = (key: string): boolean => key.length === 1

/** Returns the row to which the cursor moves. It stays at both ends. `current` is -1 while no row has it. */
export function nextRow(current: number, last: number, step: 1 | -1, count: number): number {
  if (count === 0) return -1
  if (current === -1) return Math.min(Math.max(0, last), count - 1)
  return Math.min(Math.max(0, current + step), count - 1)
}

/** What the help lists, in order. `keys` are alternatives, and each is a combination. */
export interface ShortcutGroup {
  readonly id: 'everywhere' | 'lists'
  readonly entries: readonly { readonly id: string, readonly keys: readonly (readonly string[])[] }[]
}

export const SHORTCUTS = [
  { id: 'everywhere', entries: [{ id: 'palette', keys: [['meta', 'K']] }, { id: 'help', keys: [['?']] }] },
  {
    id: 'lists',
    entries: [
      { id: 'next', keys: [['J'], ['arrowdown']] },
      { id: 'previous', keys: [['K'], ['arrowup']] },
      { id: 'open', keys: [['enter']] },
      { id: 'edit', keys: [['E']] },
      { id: 'select', keys: [['X']] },
      { id: 'search', keys: [['/']] },
      { id: 'new', keys: [['N']] },
      { id: 'clear', keys: [['escape']] },
    ],
  },
] as const satisfies readonly ShortcutGroup[]
