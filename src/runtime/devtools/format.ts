/** Numbers and times as text. */

/** @param ms milliseconds */
export function toDuration(ms: number): string {
  if (ms < 0.1) return '< 0.1 ms'
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`
  return ms >= 100 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`
}

/** @param at milliseconds since 1970 */
export const toTime = (at: number): string => new Date(at).toLocaleTimeString(undefined, { hourCycle: 'h23' })

export const count = (number: number, word: string, plural = `${word}s`): string => `${number} ${number === 1 ? word : plural}`

/** A part of a sentence: the text between backticks is code. */
export interface TextPart {
  readonly text: string
  readonly isCode: boolean
}

/** An unpaired backtick stays text. */
export const toParts = (sentence: string): TextPart[] =>
  sentence.split(/(`[^`]+`)/).filter(text => text !== '').map(text =>
    /^`[^`]+`$/.test(text) ? { text: text.slice(1, -1), isCode: true } : { text, isCode: false })
