/** How an exported file ends that is not complete. Cloudflare Workers end a failed response like a complete one, so the file says it. */

/** The last line of a CSV or NDJSON file that is not complete. It is neither CSV, because its quote is not closed, nor JSON. */
export const INCOMPLETE = '"[auto-api] The export failed. This file is not complete.'

/** The end of every JSON file. */
export const JSON_END = ']\n'

/**
 * Whether a file is known to be incomplete.
 * @param tail the last characters of the file, at least as many as {@link INCOMPLETE} has
 */
export function isIncomplete(mediaType: string, tail: string): boolean {
  return mediaType.startsWith('application/json') ? !tail.endsWith(JSON_END) : tail.endsWith(INCOMPLETE)
}
