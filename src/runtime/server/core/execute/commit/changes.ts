/** Creates the changes that a commit reports to listeners. */
import { toId, type Key } from '../../../schema/record-id'
import type { Resource } from '../../../schema/model'
import type { Change } from '../../changes'
import type { Call } from '../../context'

export const hasListeners = ({ api }: Call) => api.listeners.onCommit.length > 0

/** Creates the change of a row that the request names. */
export function changeOf({ api }: Call, resource: Resource, kind: Change['kind'], key: Key): Change {
  return {
    ...(api.resources.get(resource.name) === resource && { resource: resource.name }),
    table: resource.facts.name,
    kind,
    id: toId(resource, key),
  }
}
