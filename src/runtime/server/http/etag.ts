/** Entity tags of responses, and the conditional GET that compares them. */
import type { ApiResponse, Tagged } from '../core/extensions/response'
import { hashText } from '../core/plan/revision'
import { isPlain } from './headers'
import { stringifyInTurns } from './json-in-turns'

/**
 * Returns the JSON text of a body with its tag, or `undefined` for a body that is not plain JSON. The tag is `"r"` if the body is exactly
 * the record with revision r, `"r.h"` for another body with that record, and `"h"` for a body without a revision. `h` is the hash of the
 * body, so that equal tags mean equal bodies.
 */
export function tagBody({ body, revision }: ApiResponse): Tagged | undefined {
  return isPlain(body) ? tagText(JSON.stringify(body), revision) : undefined
}

/** As {@link tagBody}, while other requests run. */
export async function tagInTurns(body: object, revision: string | undefined): Promise<Tagged> {
  return tagText(await stringifyInTurns(body), revision)
}

function tagText(text: string, revision: string | undefined): Tagged {
  const hash = hashText(text)
  return { text, etag: revision === undefined || revision === hash ? `"${hash}"` : `"${revision}.${hash}"` }
}

/**
 * Whether `If-None-Match` contains the tag or `*`. The comparison is weak: a proxy that compresses a response can mark its tag as weak
 * (`W/"…"`). Text that is no tag does not match.
 */
export function isNoneMatch(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.trim() === '*' || (header.includes(etag) && [...header.matchAll(TAGS)].some(([tag]) => tag === etag))
}

/** The opaque part of each tag. No tag contains a quote, so a list cannot be read in two ways. */
const TAGS = /"[^"]*"/g
