/** Conditional and range requests for a file, as RFC 9110 defines them. */

type Header = (name: string) => string | undefined

/** The response that the conditions of a request select. */
export type Selected = 'whole' | 'not-modified' | 'failed' | 'unsatisfiable' | { readonly start: number, readonly end: number }

/**
 * @param etag a strong tag with its quotes
 * @param size in bytes
 */
export function selectResponse(method: string, header: Header, etag: string, size: number): Selected {
  const ifMatch = header('if-match')
  if (ifMatch !== undefined && !tagsOf(ifMatch)?.some(tag => tag === '*' || tag === etag)) return 'failed'
  const ifNoneMatch = header('if-none-match')
  if (ifNoneMatch !== undefined && tagsOf(ifNoneMatch)?.some(tag => tag === '*' || tag.replace(/^W\//, '') === etag)) return 'not-modified'
  // A date in `If-Range` never matches, because the response has no date.
  if (method !== 'GET' || (header('if-range') ?? etag) !== etag) return 'whole'
  return selectRange(header('range') ?? '', size)
}

const tagsOf = (list: string) => list.match(/\*|(?:W\/)?"[\x21\x23-\x7E\x80-\xFF]*"/g)

/** Several ranges, and units other than bytes, may be ignored. Then the response is the whole file. */
function selectRange(range: string, size: number): Selected {
  const suffix = /^bytes=\s*-(\d+)\s*$/i.exec(range)
  if (suffix) {
    const length = Math.min(Number(suffix[1]), size)
    return length === 0 ? 'unsatisfiable' : { start: size - length, end: size - 1 }
  }
  const found = /^bytes=\s*(\d+)-(\d*)\s*$/i.exec(range)
  if (!found) return 'whole'
  const start = Number(found[1])
  const end = found[2] === '' ? Infinity : Number(found[2])
  if (end < start) return 'whole'
  return start >= size ? 'unsatisfiable' : { start, end: Math.min(end, size - 1) }
}
