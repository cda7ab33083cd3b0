/** Chooses how the revisions of a resource are made. A tag must not let a caller guess values that `afterGet` hides. */
import type { Operation } from '../../../shared/operations'
import type { Call } from '../request/session'
import type { HookRegistry } from '../extensions/hook-registry'
import { revisionOf } from './revision'
import type { Resource } from '../../schema/model'

export type Revise = (record: Readonly<Record<string, unknown>>) => string

const WRITES: readonly Operation[] = ['update', 'delete', 'restore', 'purge']

/** Whether `afterGet` can hide values that the revisions of a resource cover. Tags of a resource that nobody changes need no revision. */
export function hidesTaggedValues(resource: Resource, hooks: HookRegistry): boolean {
  return hooks.find(resource, 'afterGet').length > 0 && !WRITES.every(operation => resource.disabled.has(operation))
}

/** Returns the function that makes the revisions of new tags, see {@link revisersOf}. */
export const reviserOf = (call: Call): Revise | undefined => revisersOf(call)?.[0]

/** The revision of a resource that needs no secret. */
const PLAIN: readonly Revise[] = [record => revisionOf(record)]

/**
 * Returns the functions that make the revisions of accepted tags, one per secret: the first one makes those of new tags. `afterGet` can
 * mask values that the revision covers, and a caller could guess these values and compare their hash. So the revisions of a resource with
 * this hook depend on the secrets of the app. Without a secret, a resource that no request changes has no revisions, and its tags are
 * hashes of the body.
 */
export function revisersOf({ api, ctx, resource }: Call): readonly Revise[] | undefined {
  if (api.hooks.find(resource, 'afterGet').length === 0) return PLAIN
  const secrets = api.secrets?.(ctx.event)
  if (secrets) return secrets.map((secret): Revise => record => revisionOf(record, secret))
  return hidesTaggedValues(resource, api.hooks) ? PLAIN : undefined
}
