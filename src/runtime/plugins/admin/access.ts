/** Selects the pages, resources and fields of the admin that a caller can use. */
import type { Operation } from '../../shared/operations'
import type {
  AdminAccess, AdminChunk, AdminConfig, AdminField, AdminFieldOptions, AdminPage, AdminPageOptions, AdminResource, AdminResourceOptions,
} from '../../shared/types/admin'
import { countedRelation } from '../../shared/relation-counts'
import type { DescribedCapabilities, DescribedResource } from '../../shared/types/description'
import { describeFor, operationCapabilities } from '../../server/kit/describe'
import { type AutoApiContext, requireSession, type Session } from '../../server/kit/call'
import { refused } from '../../server/kit/errors'
import type { AdminOffer } from '../../server/plugin/features'
import { findFeatures, findTools, findUsers } from './features'
import { toSingular } from './singular'

type Chunks = Readonly<Record<string, AdminChunk>>

/** @throws 401 or 403 if no middleware decides who enters, and the caller cannot change any resource. */
export async function readAdminAccess(
  ctx: AutoApiContext, config: AdminConfig, chunks: Chunks, offers: readonly AdminOffer[],
): Promise<AdminAccess> {
  const session = requireSession(ctx)
  if (!await canEnter(ctx, config)) throw refused(ctx)
  const pages: AdminPage[] = []
  for (const page of config.pages) if (await holdsAll(session, page)) pages.push(toPage(page, chunks))
  const described = (await describeFor(ctx)).resources
  const resources: [string, AdminResource][] = []
  for (const [name, resource] of Object.entries(described)) {
    const found = await findFeatures(session, session.api.resources.get(name)!, resource, offers)
    resources.push([name, { ...toResource(name, optionsOf(config, name), resource, chunks), features: found }])
  }
  const tools = await findTools(session, described, offers)
  const users = findUsers(described, offers)
  return { branding: config.branding, pages, tools, ...users && { users }, resources: Object.fromEntries(resources) }
}

/** Whether the route answers the caller. With a middleware, the middleware decides who enters. */
export async function canEnter(ctx: AutoApiContext, { hasMiddleware }: AdminConfig): Promise<boolean> {
  return hasMiddleware || canChangeSomething(requireSession(ctx))
}

async function canChangeSomething(session: Session): Promise<boolean> {
  if (session.ctx.user === null) return false
  for (const resource of session.api.resources.values()) {
    const { canCreate, canUpdate, canDelete } = await operationCapabilities(session, resource)
    if (canCreate || canUpdate || canDelete) return true
  }
  return false
}

/** Whether the caller has every permission of a page. A resource that does not exist permits nothing. */
async function holdsAll(session: Session, { permissions }: AdminPageOptions): Promise<boolean> {
  for (const [name, operation] of permissions) {
    const resource = session.api.resources.get(name)
    if (!resource || !(await operationCapabilities(session, resource))[capabilityOf(operation as Operation)]) return false
  }
  return true
}

const capabilityOf = (operation: Operation) => `can${operation.charAt(0).toUpperCase()}${operation.slice(1)}` as keyof DescribedCapabilities

function toPage({ path, label, icon, component }: AdminPageOptions, chunks: Chunks): AdminPage {
  return { path, label, ...icon !== undefined && { icon }, chunk: chunkOf(component, chunks) }
}

const optionsOf = ({ resources }: AdminConfig, name: string) => Object.hasOwn(resources, name) ? resources[name]! : {}

function toResource(
  name: string, { fields = {}, columns, ...options }: AdminResourceOptions, described: DescribedResource, chunks: Chunks,
): Omit<AdminResource, 'features'> {
  const isDescribed = (name: string) => Object.hasOwn(described.fields, name)
  const toField = ({ component, ...field }: AdminFieldOptions): AdminField =>
    ({ ...field, ...component !== undefined && { chunk: chunkOf(component, chunks) } })
  const shown = Object.entries(fields).filter(([name]) => isDescribed(name)).map(([name, field]) => [name, toField(field)])
  const { label, capabilities, metadata: { icon, singular = toSingular(name, options.label ?? label) } } = described
  return {
    label,
    capabilities,
    ...typeof singular === 'string' && { singular },
    ...typeof icon === 'string' && { icon },
    ...options,
    ...columns && { columns: columns.filter(name => isColumn(name, described)) },
    fields: Object.fromEntries(shown),
  }
}

/** Whether a list can show a field, or the number of related records such as `comments.$count`. */
function isColumn(name: string, { fields, relations }: DescribedResource): boolean {
  if (Object.hasOwn(fields, name)) return fields[name]!.readable
  const relation = countedRelation(name)
  return relation !== undefined && Object.hasOwn(relations, relation) && relations[relation]!.countable
}

/** @throws When the build has no files for a component. The page is then not shown at all. */
function chunkOf(component: string, chunks: Chunks): AdminChunk {
  const chunk = Object.hasOwn(chunks, component) ? chunks[component] : undefined
  if (!chunk) throw new Error(`[auto-api] The build has no files for the component ${component} of the admin.`)
  return chunk
}
