/** Finds where a text stops being JSON. Browsers tell this in different words, or not at all. */

export interface TextPlace {
  /** The first line is 1. */
  readonly line: number
  readonly column: number
}

/** Returns the place of the first problem of a text; `undefined` if it is JSON. */
export function findJsonProblem(text: string): TextPlace | undefined {
  const index = firstProblem(text)
  if (index === undefined) return undefined
  const before = text.slice(0, index).split('\n')
  return { line: before.length, column: before.at(-1)!.length + 1 }
}

const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?|"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-f]{4}))*"/iuy
const SPACE = /[ \t\n\r]*/y

function firstProblem(text: string): number | undefined {
  try {
    JSON.parse(text)
    return undefined
  }
  catch {
    return scan(text)
  }
}

/** Reads values one after another, with a stack instead of recursion: a text can be nested deeply. */
function scan(text: string): number {
  let at = 0
  const skip = () => {
    SPACE.lastIndex = at
    SPACE.test(text)
    at = SPACE.lastIndex
  }
  const literal = (onlyText: boolean) => {
    LITERAL.lastIndex = at
    if ((onlyText && text[at] !== '"') || !LITERAL.test(text)) return false
    at = LITERAL.lastIndex
    return true
  }
  const take = (character: string) => text[at] === character && ++at > 0
  const open: ('{' | '[')[] = []
  /** Whether a name and its colon come next. */
  const name = () => {
    skip()
    if (!literal(true)) return false
    skip()
    return take(':')
  }
  for (;;) {
    skip()
    if (take('[')) {
      skip()
      if (!take(']')) {
        open.push('[')
        continue
      }
    }
    else if (take('{')) {
      skip()
      if (!take('}')) {
        open.push('{')
        if (!name()) return at
        continue
      }
    }
    else if (!literal(false)) return at
    // After a value: the end of what is open, or the next value of it.
    for (;;) {
      skip()
      const inside = open.at(-1)
      if (inside === undefined) return at
      if (take(inside === '[' ? ']' : '}')) open.pop()
      else if (!take(',')) return at
      else if (inside === '{' && !name()) return at
      else break
    }
  }
}
