/** Selects the features of plugins that a caller can use. The API checks every request of a feature again. */
import type { AdminFeatures, AdminTool, AdminUsers } from '../../shared/types/admin'
import type { DescribedResource } from '../../shared/types/description'
import { callFor, canUseRoute, decide, isAuthorized, type Session } from '../../server/kit/call'
import type { PluginFeatures } from '../../server/plugin/features'
import type { Resource } from '../../server/kit/rows'

type Described = Readonly<Record<string, DescribedResource>>

/** Returns the features of a resource. A feature that the caller cannot use is absent. */
export async function findFeatures(
  session: Session, resource: Resource, described: DescribedResource, features: PluginFeatures,
): Promise<AdminFeatures> {
  const { name } = resource
  const { export: exported, tokens, auditLog } = features
  const { canRead, canCreate, canUpdate } = described.capabilities
  const isTransferable = exported && (exported.resources?.includes(name) ?? true)
  const files = (features.files ?? []).filter(({ resource, field }) => resource === name && described.fields[field]?.readable)
  return {
    ...isTransferable && await canUseRoute(callFor(session, resource, 'read'), ['read'], exported.gate)
    && { exportFormats: exported.formats },
    ...isTransferable && (canCreate || canUpdate) && { import: true as const },
    ...auditLog?.records(name) && canRead && await canReadLog(session, auditLog.resource) && { history: true as const },
    ...files.length > 0 && {
      files: Object.fromEntries(files.map(({ field, accepted, maxSize, multiple }) => [field, { accept: accepted, maxSize, multiple }])),
    },
    ...tokens?.resource === name && { tokens: true as const },
    ...auditLog?.resource === name && canRead && { auditLog: true as const },
  }
}

/**
 * Returns the resource of the users: the actors of the activity feed, else the one that a column such as `createdBy` refers to. The caller
 * can read it.
 */
export function findUsers(described: Described, { activity }: PluginFeatures): AdminUsers | undefined {
  const canRead = (name: string) => Object.hasOwn(described, name) && described[name]!.capabilities.canRead
  const { resource, label } = activity?.actor ?? {}
  if (resource !== undefined && label !== undefined && canRead(resource) && described[resource]!.fields[label]?.readable)
    return { resource, label }
  const fields = Object.values(described).flatMap(({ fields }) => Object.values(fields))
  const found = fields.find(({ role, references }) => role && AUTHORS.includes(role) && references && canRead(references.resource))
  return found && { resource: found.references!.resource }
}

const AUTHORS: readonly string[] = ['createdBy', 'updatedBy', 'deletedBy']

/** Returns the views without a resource that the caller can open. */
export async function findTools(
  session: Session, described: Described, { tokens, auditLog, activity }: PluginFeatures,
): Promise<AdminTool[]> {
  const { ctx } = session
  const allowed: Readonly<Record<AdminTool, boolean>> = {
    tokens: tokens !== undefined && Object.hasOwn(described, tokens.resource),
    audit: auditLog !== undefined && await canReadLog(session, auditLog.resource),
    activity: activity !== undefined && await decide(session, activity.permission, ctx),
    permissions: true,
  }
  return (Object.keys(allowed) as AdminTool[]).filter(tool => allowed[tool])
}

const canReadLog = (session: Session, resource: string) => isAuthorized(session, session.api.resources.get(resource)!, 'read')
