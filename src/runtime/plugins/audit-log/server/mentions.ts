/** Finds parameters of a recorded query that name a column, because their values tell something about the values of the column. */
import type { Query } from '../../../server/kit/request'

/** Stands for the value of a parameter that is left out. */
export const REDACTED = '[redacted]'

/** Whether the parameter contains one of the names: `filter[name]=…`, `sort=name`, or in JSON. */
export function mentions(parameter: string, value: Query[string] | unknown, names: Iterable<string>): boolean {
  const text = [parameter, ...[value].flat().map(item => typeof item === 'string' ? withoutEscapes(item) : JSON.stringify(item))].join('\n')
  for (const name of names) if (text.includes(name)) return true
  return false
}

/** JSON can write every letter as an escape, such as `\u0061`. */
function withoutEscapes(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  }
  catch {
    return text
  }
}
