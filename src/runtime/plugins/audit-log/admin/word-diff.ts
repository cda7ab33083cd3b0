/** The difference of two texts, word by word. */

export interface TextPart {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Longer texts are compared as a whole. */
const MAX_WORDS = 2000
/** The table of the comparison grows with the square of what lies between the first and the last change. */
const MAX_CHANGED = 2000
/** Words beyond this on each side of a change are left out. */
const CONTEXT = 12

/** Returns the parts of both texts in order; `undefined` if the texts are too long or have little in common. */
export function diffWords(before: string, after: string): TextPart[] | undefined {
  const a = toTokens(before)
  const b = toTokens(after)
  if (Math.max(countWords(a), countWords(b)) > MAX_WORDS) return undefined
  const start = commonLength(a, b)
  const end = commonLength(a.slice(start).reverse(), b.slice(start).reverse())
  const [changedA, changedB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)]
  if (Math.max(changedA.length, changedB.length) > MAX_CHANGED) return undefined
  const parts = [...a.slice(0, start).map(toPart('same')), ...compare(changedA, changedB), ...a.slice(a.length - end).map(toPart('same'))]
  return isSimilar(parts) ? merge(parts) : undefined
}

/** Words, and what is between them. */
const toTokens = (text: string) => text.match(/\n|[^\S\n]+|\S+/g) ?? []
const countWords = (tokens: readonly string[]) => tokens.filter(token => token.trim() !== '').length

const toPart = (kind: TextPart['kind']) => (text: string): TextPart => ({ kind, text })

function commonLength(a: readonly string[], b: readonly string[]): number {
  let length = 0
  while (length < Math.min(a.length, b.length) && a[length] === b[length]) length++
  return length
}

/** The longest common subsequence. */
function compare(a: readonly string[], b: readonly string[]): TextPart[] {
  const width = b.length + 1
  const lengths = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j]
        ? lengths[(i + 1) * width + j + 1]! + 1
        : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
    }
  }
  const parts: TextPart[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      parts.push({ kind: 'same', text: a[i]! })
      i++
      j++
    }
    else if (j >= b.length || (i < a.length && lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!)) {
      parts.push({ kind: 'removed', text: a[i++]! })
    }
    else parts.push({ kind: 'added', text: b[j++]! })
  }
  return parts
}

/** Texts that share only a few words are easier to read one after the other. */
function isSimilar(parts: readonly TextPart[]): boolean {
  const lengthOf = (same: boolean) => parts.reduce((sum, { kind, text }) => (kind === 'same') === same ? sum + text.trim().length : sum, 0)
  return lengthOf(true) * 3 >= lengthOf(false)
}

/** Joins parts of one kind. Of a change over several words, what was removed comes first. */
function merge(parts: readonly TextPart[]): TextPart[] {
  const merged: TextPart[] = []
  let changed: Record<'removed' | 'added', string> = { removed: '', added: '' }
  const flush = () => {
    for (const kind of ['removed', 'added'] as const) if (changed[kind] !== '') merged.push({ kind, text: changed[kind] })
    changed = { removed: '', added: '' }
  }
  for (const [index, { kind, text }] of parts.entries()) {
    // A space between two words that have both changed.
    const isInside = changed.removed !== '' && changed.added !== '' && text.trim() === '' && (parts[index + 1]?.kind ?? 'same') !== 'same'
    if (kind !== 'same') changed[kind] += text
    else if (isInside) changed = { removed: changed.removed + text, added: changed.added + text }
    else {
      flush()
      const last = merged.at(-1)
      if (last?.kind === 'same') merged.splice(-1, 1, { kind, text: last.text + text })
      else merged.push({ kind, text })
    }
  }
  flush()
  return merged
}

/** Shortens what has not changed to the words beside the changes. */
export function shortenSame(parts: readonly TextPart[]): TextPart[] {
  return parts.map((part, index) => {
    const words = part.text.match(/\S+\s*|\s+/g) ?? []
    const [isFirst, isLast] = [index === 0, index === parts.length - 1]
    if (part.kind !== 'same' || words.length <= CONTEXT * (isFirst || isLast ? 1 : 2) + 1) return part
    const head = isFirst ? '' : words.slice(0, CONTEXT).join('')
    const tail = isLast ? '' : words.slice(-CONTEXT).join('')
    return { kind: 'same', text: `${head}… ${tail}`.trimStart() }
  })
}
