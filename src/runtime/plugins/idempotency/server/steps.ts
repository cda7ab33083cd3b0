/** Retries of a batch. Its steps name several resources, and the context of the request names none. */
import { digest } from 'ohash'
import { authorize, callFor, readableFields, requireSession, type AutoApiContext, type Session } from '../../../server/kit/call'
import { conflict, notFound } from '../../../server/kit/errors'
import { findRecords } from '../../../server/kit/records'
import type { ApiResponse } from '../../../server/kit/respond'
import { toId, toKey, type Resource } from '../../../server/kit/rows'
import { isReference, type GivenStep } from '../../../server/kit/steps'
import { REPLAYED } from './replay'
import type { StoredKey, WrittenRecord } from './store'

/** The steps of a body that has been accepted once. */
export const stepsOf = (body: unknown) => (body as { readonly steps: readonly GivenStep[] }).steps

/** Identifies what the caller can read: the permissions, the roles and the readable fields of each resource. */
export async function grantOfSteps(ctx: AutoApiContext, steps: readonly GivenStep[]): Promise<string> {
  const session = requireSession(ctx)
  const { permissions, user } = ctx
  const fields = [...resourcesOf(steps, session)].map(async resource =>
    [resource.name, (await readableFields(callFor(session, resource, 'read'))).fields.map(({ name }) => name)])
  return digest(JSON.stringify([[...permissions].sort(), user?.role ?? null, user?.roles ?? null, await Promise.all(fields)]))
}

const resourcesOf = (steps: readonly GivenStep[], { api }: Session): ReadonlySet<Resource> =>
  new Set(steps.flatMap(({ resource }) => api.resources.get(resource) ?? []))

/**
 * @returns the response of the first request
 * @throws 401 or 403 if the caller no longer has the operation of a step, 404 if the caller can no longer see a record, 409 if the response
 * is lost.
 */
export async function replaySteps(
  { status, body, grant }: StoredKey, written: readonly WrittenRecord[], steps: readonly GivenStep[], ctx: AutoApiContext,
): Promise<ApiResponse> {
  const session = requireSession(ctx)
  for (const { resource: name, operation } of steps) {
    const resource = session.api.resources.get(name)
    if (!resource) throw notFound()
    await authorize(callFor(session, resource, operation), resource, [operation])
  }
  const response = body === null ? undefined : JSON.parse(body) as StepsBody
  for (const resource of resourcesOf(steps, session)) {
    const ids = remainingIds(resource, [...written, ...namedRecords(steps, response)])
    const found = ids.size === 0 ? ids : await findRecords(callFor(session, resource, 'read'), [...ids])
    if (found.size < ids.size) throw notFound()
  }
  if (status === null || !response || grant !== await grantOfSteps(ctx, steps))
    throw conflict('This request took effect before. Its response cannot be repeated.')
  return { status, body: response, headers: REPLAYED }
}

interface StepsBody {
  readonly data: readonly Readonly<Record<string, unknown>>[]
}

/** The records that the steps name. A step without values has changed none, and its response contains the record. */
function namedRecords(steps: readonly GivenStep[], response: StepsBody | undefined): readonly WrittenRecord[] {
  const positions = new Map(steps.map(({ as }, index) => [as, index]))
  return steps.flatMap(({ id, operation, resource }) => {
    const [name, field] = isReference(id) ? id.$ref.split('.') : []
    const value = isReference(id) ? response?.data[positions.get(name)!]?.[field!] : id
    return value === undefined ? [] : [{ id: String(value), kind: operation, resource }]
  })
}

/** The ids that still have a record after the request. */
function remainingIds(resource: Resource, records: readonly WrittenRecord[]): ReadonlySet<string> {
  const kinds = new Map<string, Set<string>>()
  for (const { id, kind } of records.filter(record => record.resource === resource.name)) {
    const key = toKey(resource, id)
    const canonical = key ? toId(resource, key) : id
    kinds.set(canonical, (kinds.get(canonical) ?? new Set()).add(kind))
  }
  const isGone = (kinds: ReadonlySet<string>) => (kinds.has('delete') || kinds.has('purge')) && !kinds.has('restore')
  return new Set([...kinds].flatMap(([id, kinds]) => isGone(kinds) ? [] : [id]))
}
