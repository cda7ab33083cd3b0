/** A record's address: the `:id` of a path, or an entry of `ids`, to the values of the primary key. */
import type { Resource } from '../../schema/model'
import { toKey, type Key } from '../../schema/record-id'
import type { ApiRequest } from '../context'
import { notFound } from '../error'

/** @throws 404 for an id that is not written as the column would write it: no row has that address. */
export function parseKey({ params }: ApiRequest, resource: Resource): Key {
  const key = params.id === undefined ? undefined : toKey(resource, params.id)
  if (!key) throw notFound()
  return key
}
