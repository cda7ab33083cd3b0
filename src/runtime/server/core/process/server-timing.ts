/** The header `Server-Timing`: where a request spent its time, for the developer tools of browsers. */
import type { RequestMessage } from './trace'

/**
 * @example
 * serverTiming(message) // 'total;dur=4.2, authorize;dur=0.1, db;dur=2.9;desc="3 statements, 21 rows", hooks;dur=0.4'
 */
export function serverTiming({ duration = 0, statements, rows, times }: RequestMessage): string {
  const count = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`
  const entry = (name: string, milliseconds: number, text = '') => `${name};dur=${milliseconds.toFixed(1)}${text}`
  return [
    entry('total', duration),
    entry('authorize', times.authorize),
    entry('db', times.statement, `;desc="${count(statements, 'statement')}, ${count(rows, 'row')}"`),
    ...times.hook > 0 ? [entry('hooks', times.hook)] : [],
  ].join(', ')
}
