/** Decides what one caller can do with a resource, its fields and its relations. It uses the same checks as the routes. */
import type { NestedAction } from '../../../shared/nested'
import { isNestedLinks, type Relation, type Resource } from '../../schema/model'
import { fieldsOf } from '../../schema/relation-columns'
import { callFor, isAuthorized } from '../access/authorize'
import { readableFields, refusedFields } from '../access/fields'
import { hasTenantId } from '../access/tenant'
import { operationCapabilities, type OperationCapabilities } from './capabilities'
import { unreachableFrom, type Session } from '../request/session'
import { LINK_MODE_OF, LINK_OPERATIONS, type LinkMode } from '../access/links'
import { isCheckedInCode, isCountable, isRelationReadable } from '../access/readable-relation'
import type { ReferenceFacts } from './facts'

/** The decisions about a resource. The description of the resource depends on nothing else. */
export interface ResourceAccess {
  readonly capabilities: OperationCapabilities
  /** Whether a response can contain records. Otherwise the caller learns no column by reading. */
  readonly showsRecords: boolean
  /** Whether the caller can use columns in filters. */
  readonly queries: boolean
  readonly unreadable: ReadonlySet<string>
  readonly unwritable: { readonly create: ReadonlySet<string>, readonly update: ReadonlySet<string> }
}

const NOTHING: ReadonlySet<string> = new Set()

/** Returns the access to a resource, or `undefined` if the caller can use no operation. Decides once per resource. */
export type AccessOf = (resource: Resource) => Promise<ResourceAccess | undefined>

export function createAccessOf(session: Session): AccessOf {
  const known = new Map<Resource, Promise<ResourceAccess | undefined>>()
  return (resource) => {
    let access = known.get(resource)
    if (!access) known.set(resource, access = findAccess(session, resource))
    return access
  }
}

/** If the caller can use no operation, no rule of a field runs. */
async function findAccess(session: Session, resource: Resource): Promise<ResourceAccess | undefined> {
  const capabilities = await operationCapabilities(session, resource)
  const { canRead, canCreate, canUpdate, canDelete, canAggregate, canRestore, canPurge } = capabilities
  const showsRecords = canRead || canCreate || canUpdate || canAggregate || canRestore
  if (!showsRecords && !canDelete && !canPurge) return undefined
  const hasRules = resource.auth?.fields !== undefined
  const unwritable = async (operation: 'create' | 'update', allowed: boolean) =>
    allowed && hasRules ? refusedFields(callFor(session, resource, operation), resource, 'write') : NOTHING
  return {
    capabilities,
    showsRecords,
    queries: canRead || canAggregate,
    unreadable: hasRules && showsRecords ? await refusedFields(callFor(session, resource, 'read'), resource, 'read') : NOTHING,
    unwritable: { create: await unwritable('create', canCreate), update: await unwritable('update', canUpdate) },
  }
}

export interface RelationAccess {
  readonly includable: boolean
  readonly filterable: boolean
  readonly countable: boolean
  readonly modes: readonly LinkMode[]
  /** The children that a body can contain. */
  readonly nested: readonly NestedAction[]
}

const LINK_MODES = Object.keys(LINK_OPERATIONS) as readonly LinkMode[]

export async function findRelationAccess(
  session: Session, resource: Resource, relation: Relation, accessOf: AccessOf,
): Promise<RelationAccess> {
  const { canRead = false, canCreate = false, canUpdate = false, canAggregate = false } = (await accessOf(resource))?.capabilities ?? {}
  const nested = canCreate || canUpdate ? await findNested(session, resource, relation, accessOf) : []
  const isTargetReadable = (canRead || canUpdate || canAggregate) && await canReadRows(relation.target, accessOf)
  if (!isTargetReadable || !await isRelationReadable(callFor(session, resource, 'read'), resource, relation))
    return { includable: false, filterable: false, countable: false, modes: [], nested }
  const modes: LinkMode[] = []
  if (canUpdate && relation.kind === 'manyToMany')
    for (const mode of LINK_MODES) if (await canLink(session, relation.junction, mode)) modes.push(mode)
  const inSql = !isCheckedInCode(relation, session.api)
  const countable = canRead && inSql && isCountable(relation)
  return { includable: canRead, filterable: (canRead || canAggregate) && inSql, countable, modes, nested }
}

async function findNested(
  session: Session, resource: Resource, relation: Relation, accessOf: AccessOf,
): Promise<readonly NestedAction[]> {
  const nested = resource.nested.get(relation.name)
  if (!nested) return []
  const found: NestedAction[] = []
  if (!isNestedLinks(nested)) {
    for (const action of nested.actions) if (await isAuthorized(session, relation.target, action)) found.push(action)
    return found
  }
  if (!await canReadRows(relation.target, accessOf)) return found
  if (!await isRelationReadable(callFor(session, resource, 'read'), resource, relation)) return found
  for (const action of nested.actions)
    if (await canLink(session, nested.relation.junction, LINK_MODE_OF[action])) found.push(action)
  return found
}

/** Whether the caller can change rows of the junction table. Each link is a create or a delete of a registered junction. */
async function canLink(
  session: Session, { resource, registered, sourceKey, targetKey }: Extract<Relation, { kind: 'manyToMany' }>['junction'], mode: LinkMode,
): Promise<boolean> {
  if (!hasTenantId(session.ctx, resource)) return false
  if (!registered) return true
  for (const operation of LINK_OPERATIONS[mode]) if (!await isAuthorized(session, resource, operation)) return false
  if (mode === 'remove' || !resource.auth?.fields) return true
  const unwritable = await refusedFields(callFor(session, resource, 'create'), resource, 'write')
  const keys = fieldsOf(resource, [...sourceKey.columns, ...targetKey.columns])
  return keys.every(({ name }) => !unwritable.has(name) || !resource.writable.create.has(name))
}

/** Whether the caller can read the rows and the column that a foreign key references. */
export async function canReadReference(session: Session, { target, field }: ReferenceFacts, accessOf: AccessOf): Promise<boolean> {
  if (unreachableFrom(session.ctx)?.has(target.name) || !await canReadRows(target, accessOf)) return false
  return (await readableFields(callFor(session, target, 'read'), target)).byName.has(field)
}

const canReadRows = async (resource: Resource, accessOf: AccessOf) => (await accessOf(resource))?.capabilities.canRead ?? false
