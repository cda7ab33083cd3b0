/** The routes on which a key has an effect: which changes store it, and which rows a retry checks. */
import { isObject } from '../../../shared/is-object'
import type { Resource } from '../../../server/kit/rows'
import type { AroundInfo, ChangedRows } from '../../../server/kit/listen'
import { invalidValue } from '../../../server/kit/errors'
import type { AutoApiContext } from '../../../server/kit/call'
import type { ResponseForm } from './replay'

type Kind = ChangedRows['kind']

export interface KeyedRoute {
  readonly form: ResponseForm
  readonly hasBody: boolean
  /** Whether the request itself makes a change of its commits. The key is stored in the first commit with such a change. */
  readonly isOwn: (change: Pick<ChangedRows, 'resource' | 'kind' | 'nested'>, ctx: AutoApiContext) => boolean
  /** Whether a retry gets the changed rows, or checks that the caller can see them. */
  readonly isRecord: (change: Pick<ChangedRows, 'resource' | 'kind'>, ctx: AutoApiContext) => boolean
}

/** A route that changes rows of its resource. Its hooks can change others. */
function onResource(form: ResponseForm, hasBody: boolean, ...kinds: readonly Kind[]): KeyedRoute {
  const isOwn: KeyedRoute['isRecord'] = ({ resource, kind }, ctx) => resource === ctx.resource && kinds.includes(kind)
  return { form, hasBody, isOwn, isRecord: isOwn }
}

/** The rows of a junction identify no record of the response. A retry checks the record of the path. */
const LINKS: KeyedRoute = {
  form: 'links', hasBody: true, isOwn: ({ kind }) => kind === 'link' || kind === 'unlink', isRecord: () => false,
}

/** The rows that still exist after the request. */
const REMAINING: ReadonlySet<Kind> = new Set<Kind>(['create', 'update', 'restore'])

/** An endpoint, or a route of a plugin. The API does not know which of its commits is the main one. */
const HANDLER: KeyedRoute = {
  form: 'handler',
  hasBody: true,
  isOwn: () => true,
  isRecord: ({ resource, kind }, ctx) => resource === ctx.resource && REMAINING.has(kind),
}

/** Several writes of any resources in one commit, which is the only one without a resource. Hooks write in contexts of their resources. */
const STEPS: KeyedRoute = {
  form: 'steps', hasBody: true, isOwn: (_, ctx) => ctx.resource === '', isRecord: (_, ctx) => ctx.resource === '',
}

/** The records of a response can be created ones and updated ones, so that it cannot be made again from the changes. */
const upsert = (form: 'upserted' | 'upserts') => onResource(form, true, 'create', 'update')

/** A write with children can change these alone. Its response is that of the record, or of the records of a bulk request. */
function withChildren(form: 'upserted' | 'upserts'): KeyedRoute {
  const route = upsert(form)
  return { ...route, isOwn: (change, ctx) => change.nested === true || route.isOwn(change, ctx) }
}

const WITH_CHILDREN: ReadonlyMap<string, KeyedRoute> = new Map([
  ['create', withChildren('upserted')],
  ['update', withChildren('upserted')],
  ['bulk-create', withChildren('upserts')],
  ['bulk-update', withChildren('upserts')],
  ['upsert', withChildren('upserted')],
  ['bulk-upsert', withChildren('upserts')],
])

/** A request whose body contains children stores its key otherwise. Returns `found` for any other body. */
export function forBody(found: KeyedRoute, { route }: AroundInfo, body: unknown, resource: Resource | undefined): KeyedRoute {
  const hasChildren = (record: unknown) => isObject(record) && Object.keys(record).some(name => resource?.nested.has(name))
  const { items } = (isObject(body) ? body : {}) as { readonly items?: unknown }
  const dataOf = (item: { readonly data?: unknown } | null): unknown => item?.data ?? item
  const records: readonly unknown[] = Array.isArray(items) ? items.map(dataOf) : [body]
  return records.some(hasChildren) ? WITH_CHILDREN.get(route) ?? found : found
}

const ROUTES: ReadonlyMap<string, KeyedRoute> = new Map([
  ['create', onResource('created', true, 'create')],
  ['update', onResource('record', true, 'update')],
  ['delete', onResource('deletion', false, 'delete', 'purge')],
  ['restore', onResource('record', false, 'restore')],
  ['bulk-create', onResource('records', true, 'create')],
  ['upsert', upsert('upserted')],
  ['bulk-upsert', upsert('upserts')],
  ['bulk-update', onResource('records', true, 'update')],
  ['bulk-delete', onResource('deletions', true, 'delete', 'purge')],
  ['bulk-restore', onResource('records', true, 'restore')],
  ['relation-replace', LINKS],
  ['relation-add', LINKS],
  ['relation-remove', LINKS],
  ['relations-replace', LINKS],
])

const READS: ReadonlySet<string> = new Set(['read', 'aggregate', 'viewDeleted'])

/**
 * Finds the route of a request with a key. Returns `undefined` for a read, which needs no key.
 * @throws 400 for a write that does not support keys. Without the error, a client would take a repeated effect for a safe retry.
 */
export function findKeyedRoute({ route, idempotent }: AroundInfo, ctx: AutoApiContext): KeyedRoute | undefined {
  const found = ROUTES.get(route) ?? (idempotent ? ctx.resource === '' ? STEPS : HANDLER : undefined)
  if (!found && !READS.has(ctx.operation))
    throw invalidValue('Idempotency-Key', 'this route does not support this header. Send the request without it.')
  return found
}
