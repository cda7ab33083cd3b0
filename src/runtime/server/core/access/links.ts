/** Authorizes changes of the links of a many-to-many relation: by the relation routes, and in the bodies of writes. */
import type { LinkAction } from '../../../shared/nested'
import type { Operation } from '../../../shared/operations'
import type { ManyToMany, Relation } from '../../schema/model'
import { linkTagRequired, unknownRelationRoute } from '../error'
import type { Call } from '../request/session'
import { authorize } from './authorize'
import { requireRelation } from './readable-relation'

export type LinkMode = 'replace' | 'add' | 'remove'

/** The operations on junction rows that each link mode needs. */
export const LINK_OPERATIONS: Readonly<Record<LinkMode, readonly Operation[]>> = {
  replace: ['create', 'delete'], add: ['create'], remove: ['delete'],
}

/** The mode of each action in a body. */
export const LINK_MODE_OF: Readonly<Record<LinkAction, LinkMode>> = { link: 'add', unlink: 'remove' }

/** Like `requireRelation`, but throws the error of an unknown route. */
export async function requireRouteRelation(call: Call, name: string): Promise<Relation> {
  try {
    return await requireRelation(call, call.resource, name)
  }
  catch {
    throw unknownRelationRoute(name)
  }
}

export async function requireManyToMany(name: string, call: Call): Promise<ManyToMany> {
  const relation = await requireRouteRelation(call, name)
  if (relation.kind !== 'manyToMany') throw unknownRelationRoute(name)
  return relation
}

/** Requires permission to read the target and, for a registered junction, to create or delete its records. */
export async function authorizeLink({ target, junction }: ManyToMany, mode: LinkMode, call: Call): Promise<void> {
  await authorize(call, target, ['read'])
  if (junction.registered) await authorize(call, junction.resource, LINK_OPERATIONS[mode])
}

/** A request for links names no tags of junction rows. @throws 428 if deletes of the junction require them. */
export function assertRemovable({ junction: { resource } }: ManyToMany, mode: LinkMode): void {
  if (mode !== 'add' && resource.requireIfMatch) throw linkTagRequired(resource.name)
}
