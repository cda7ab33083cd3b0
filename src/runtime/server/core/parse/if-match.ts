/** Parses the condition of a write: the tags in `If-Match`, or in `ifMatch` of an item of a batch. */
import type { Resource } from '../../schema/model'
import type { ApiRequest } from '../request/api-request'
import { invalidValue, preconditionRequired } from '../error'

/** The revisions of which the record must have one. `'*'` accepts every record. */
export type IfMatch = '*' | ReadonlySet<string>

/** One tag of a list, or an empty entry, with the separator after it. */
const ENTRY = /[ \t]*(?:(W\/)?"([\x21\x23-\x7E\x80-\xFF]*)"[ \t]*)?(?:,|$)/y
/** The revision of a tag of this API: `r` or `r.h`. */
const REVISION = /^([\w-]{16})(?:\.[\w-]{16})?$/

/**
 * Parses `"r"`, `"r.h"`, a list of tags, or `*`. Weak tags and tags of other servers are tags, but no record matches them.
 * @param name the name of the header or of the property, for the error
 * @throws `INVALID_VALUE` for anything else.
 */
export function toIfMatch(text: unknown, name: string): IfMatch {
  if (typeof text !== 'string') throw notATag(name)
  if (text.trim() === '*') return '*'
  const revisions = new Set<string>()
  let found = false
  for (let position = 0; position < text.length; position = ENTRY.lastIndex) {
    ENTRY.lastIndex = position
    const [, weak, tag] = ENTRY.exec(text) ?? []
    if (ENTRY.lastIndex === 0) throw notATag(name)
    found ||= tag !== undefined
    const revision = weak === undefined && tag !== undefined ? REVISION.exec(tag)?.[1] : undefined
    if (revision !== undefined) revisions.add(revision)
  }
  if (!found) throw notATag(name)
  return revisions
}

const notATag = (name: string) => invalidValue(name, 'expected an entity tag with its quotes, such as "qH3lYpV0cJ5oTgZk", or *.')

/**
 * Reads `If-Match` of a write to one record.
 * @throws `INVALID_VALUE`, and 428 if the resource requires the header.
 */
export function ifMatchOf(request: Pick<ApiRequest, 'header'>, resource: Resource): { readonly ifMatch?: IfMatch } {
  const header = request.header('if-match')
  if (header !== undefined) return { ifMatch: toIfMatch(header, 'If-Match') }
  assertOptional(resource)
  return {}
}

/** @throws 428 if the resource requires a condition. */
export function assertOptional({ requireIfMatch }: Resource): void {
  if (requireIfMatch) throw preconditionRequired()
}

/**
 * Refuses `If-Match` on a route that does not compare it, because the client relies on the comparison.
 * @param advice what the client can do instead
 */
export function refuseIfMatch(request: ApiRequest, advice: string): void {
  if (request.header('if-match') !== undefined) throw invalidValue('If-Match', `this route does not compare it. ${advice}`)
}
