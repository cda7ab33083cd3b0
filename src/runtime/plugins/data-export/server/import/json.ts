/** Parses the JSON of an imported file. The values of a file are limited, because each can need a hundred times its bytes in memory. */
import { limitExceeded } from '../../../../server/kit/errors'

/**
 * @returns the value, or `undefined` for text that is no JSON
 * @throws `LIMIT_EXCEEDED` with the line on which the file exceeds its values
 */
export type ParseJson = (text: string, line: number) => unknown

/** @param maxValues the objects, lists, properties and entries of one file together */
export function createParseJson(maxValues: number): ParseJson {
  let left = maxValues
  return (text, line) => {
    left -= countValues(text)
    if (left < 0) throw limitExceeded(`Line ${line}: the file contains more than ${maxValues} JSON values. Import it in parts.`)
    try {
      return JSON.parse(text) as unknown
    }
    catch {
      return undefined
    }
  }
}

const codeOf = (sign: string) => sign.charCodeAt(0)
const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [codeOf('"'), codeOf('\\'), codeOf(','), codeOf('['), codeOf('{')]

/** Counts before parsing: each value other than the first follows a comma, or begins an object or a list. */
function countValues(text: string): number {
  if (!/^\s*[[{]/.test(text)) return 1
  let count = 0
  let isText = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isText) {
      if (code === BACKSLASH) at++
      else if (code === QUOTE) isText = false
    }
    else if (code === QUOTE) isText = true
    else if (code === COMMA || code === BRACKET || code === BRACE) count++
  }
  return count
}
