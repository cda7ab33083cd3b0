/** Selects what plugins add to the admin and the caller can use. The API checks every request of a feature again. */
import type { AdminFeatures, AdminTool, AdminUsers } from '../../shared/types/admin'
import type { DescribedResource } from '../../shared/types/description'
import type { Session } from '../../server/kit/call'
import type { AdminOffer } from '../../server/plugin/features'
import type { Resource } from '../../server/kit/rows'

type Described = Readonly<Record<string, DescribedResource>>

/** Returns the features of a resource. A feature that the caller cannot use is absent. */
export async function findFeatures(
  session: Session, resource: Resource, described: DescribedResource, offers: readonly AdminOffer[],
): Promise<AdminFeatures> {
  let found: AdminFeatures = {}
  for (const { features } of offers) found = { ...found, ...await features?.(session, resource, described) }
  return found
}

/** Returns the resource of the users: that of a plugin, or the one to which a column such as `createdBy` refers. The caller reads it. */
export function findUsers(described: Described, offers: readonly AdminOffer[]): AdminUsers | undefined {
  const canRead = (name: string) => Object.hasOwn(described, name) && described[name]!.capabilities.canRead
  const offered = offers.flatMap(({ users }) => users ?? [])
    .find(({ resource, label }) => label !== undefined && canRead(resource) && described[resource]!.fields[label]?.readable)
  if (offered) return offered
  const fields = Object.values(described).flatMap(({ fields }) => Object.values(fields))
  const found = fields.find(({ role, references }) => role && AUTHORS.includes(role) && references && canRead(references.resource))
  return found && { resource: found.references!.resource }
}

const AUTHORS: readonly string[] = ['createdBy', 'updatedBy', 'deletedBy']

/** Returns the views without a resource that the caller can open, in the order in which the plugins are installed. */
export async function findTools(session: Session, described: Described, offers: readonly AdminOffer[]): Promise<AdminTool[]> {
  const found = new Set<AdminTool>()
  for (const [tool, decide] of offers.flatMap(({ tools = {} }) => Object.entries(tools)))
    if (await decide(session, described)) found.add(tool)
  return [...found]
}
