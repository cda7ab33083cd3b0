/** Parses the `:id` of a path into the values of the primary key. */
import type { Resource } from '../../schema/model'
import { toKey, type Key } from '../../schema/record-id'
import type { ApiRequest } from '../request/api-request'
import { notFound } from '../error'

/** @throws 404 for an id that is not in the canonical form of its column, such as `01`. */
export function parseKey({ params }: Pick<ApiRequest, 'params'>, resource: Resource): Key {
  const key = toKey(resource, params.id)
  if (!key) throw notFound()
  return key
}
