/** Finds the tools that a caller can use. The API checks every call again. */
import { isAuthorized, type Session } from '../../../server/kit/call'
import { operationCapabilities } from '../../../server/kit/describe'
import type { PluginFeatures } from '../../../server/plugin/features'
import type { Resource } from '../../../server/kit/rows'
import type { Needs, Tool } from './tool'

/** Returns the tools that the caller can use on at least one resource. */
export async function findUsableTools(
  tools: Iterable<Tool>, session: Session, resources: ReadonlyMap<string, Resource>, features: PluginFeatures,
): Promise<readonly Tool[]> {
  const listed = [...tools]
  const missing = new Set<Needs>(listed.flatMap(({ needs }) => needs ?? []))
  for (const resource of resources.values()) {
    if (missing.size === 0) break
    for (const need of await capabilitiesOf(session, resource, features)) missing.delete(need)
  }
  return listed.filter(({ needs }) => needs === undefined || !missing.has(needs))
}

export type Capability = NonNullable<Needs>

/** Returns what the caller can do with a resource. */
export async function capabilitiesOf(
  session: Session, resource: Resource, { history }: PluginFeatures,
): Promise<ReadonlySet<Capability>> {
  const allowed = await operationCapabilities(session, resource)
  const capabilities = new Set(CAPABILITIES.filter(capability => allowed[capability]))
  const entries = history && session.api.resources.get(history.resource)
  const hasHistory = allowed.canRead && entries && history.records(resource.name) && await isAuthorized(session, entries, 'read')
  return hasHistory ? new Set([...capabilities, 'history' as const]) : capabilities
}

const CAPABILITIES = ['canRead', 'canAggregate', 'canCreate', 'canUpdate', 'canDelete', 'canRestore'] as const
