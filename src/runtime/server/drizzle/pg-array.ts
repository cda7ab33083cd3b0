/** Reads the text of Postgres arrays. */

const TOKENS = /"((?:[^"\\]|\\.)*)"|[{}]|[^{},"]+/g

/** Returns the elements as text, and lists of an array with more dimensions. Drizzle's own function reads NULL as the text `NULL`. */
export function parseArray(text: string): unknown {
  const lists: unknown[][] = [[]]
  // The limits of an array whose first index is not 1 come first: `[0:1]={a,b}`.
  for (const [token, quoted] of text.slice(text.indexOf('{')).matchAll(TOKENS)) {
    const list = lists.at(-1)!
    if (token === '}') lists.pop()
    else if (token === '{') lists.push(list[list.push([]) - 1] as unknown[])
    else list.push(quoted !== undefined ? quoted.replaceAll(/\\(.)/g, '$1') : token === 'NULL' ? null : token)
  }
  return lists[0]![0]
}
