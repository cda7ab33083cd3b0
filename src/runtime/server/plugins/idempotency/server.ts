/** Runs a request with a key once, and answers a retry with the response of the first request. */
import type { Table } from 'drizzle-orm'
import { useRuntime } from '../../api/runtime'
import { REPORTED, type Change, type ChangedRows, type CommitStatement } from '../../core/changes'
import type { Call } from '../../core/context'
import { ApiError, invalidValue } from '../../core/error'
import type { AroundInfo } from '../../core/listeners'
import { assertDepth } from '../../core/parse/body'
import type { ApiResponse } from '../../core/response'
import type { ApiEvent } from '../../http'
import type { TaskRun } from '../../plugin/contract'
import type { AutoApiContext } from '../../registration'
import { fingerprint, parseKey, requestId } from './key'
import { callOf, grantOf, replay, type ResponseForm } from './replay'
import { createKeyStore, MAX_WAIT } from './store'

/** A route on which a key has an effect. */
interface Route {
  readonly form: ResponseForm
  readonly hasBody: boolean
  /** The kinds of changes that the route itself commits. Hooks can commit others. */
  readonly kinds: readonly ChangedRows['kind'][]
}

const ROUTES: ReadonlyMap<string, Route> = new Map<string, Route>([
  ['create', { form: 'created', hasBody: true, kinds: ['create'] }],
  ['update', { form: 'record', hasBody: true, kinds: ['update'] }],
  ['delete', { form: 'deletion', hasBody: false, kinds: ['delete', 'purge'] }],
  ['restore', { form: 'record', hasBody: false, kinds: ['restore'] }],
  ['bulk-create', { form: 'records', hasBody: true, kinds: ['create'] }],
  ['bulk-update', { form: 'records', hasBody: true, kinds: ['update'] }],
  ['bulk-delete', { form: 'deletions', hasBody: true, kinds: ['delete', 'purge'] }],
  ['bulk-restore', { form: 'records', hasBody: true, kinds: ['restore'] }],
])

/** A longer response is not stored. A retry then gets the records as they are. In characters. */
const MAX_BODY = 65_536
/** The time between two looks for the response of a request that has committed, in milliseconds. */
const POLL = 50

/** The key of a request, in its context. Hooks and junctions have contexts that inherit from it. */
const PENDING = Symbol('idempotency key')

interface Pending {
  readonly id: string
  readonly owner: string
  readonly route: Route
  readonly fingerprint: string
  readonly expiresAt: Date
  /** Whether the route has committed. Later commits of its after-hooks do not store the key again. */
  isCommitted: boolean
}

const pendingOf = (ctx: AutoApiContext) => (ctx as { readonly [PENDING]?: Pending })[PENDING]

/** The statements of one dialect. The query builders of all dialects have the same shape. */
interface Database {
  readonly insert: (table: Table) => { readonly values: (values: object) => unknown }
}

/** The parts of the plugin that run on the server. `nuxt.config` does not load this file. */
export function createIdempotency(ttl: number, table: Table) {
  const store = createKeyStore(table)
  /** The requests that this server runs, by id. A second request with the same id waits for the first. */
  const running = new Map<string, Promise<unknown>>()

  async function find(pending: Pending, call: Call): Promise<ApiResponse | undefined> {
    const deadline = Date.now() + MAX_WAIT
    for (;;) {
      const stored = await store.find(call.engine, pending.id, new Date())
      // The request itself has committed, and an after-hook failed.
      if (!stored || stored.owner === pending.owner) return undefined
      if (stored.fingerprint !== pending.fingerprint)
        throw new ApiError('IDEMPOTENCY_MISMATCH', 'This key was sent with another body. Send another key.')
      if (stored.status !== null || stored.isOld || Date.now() > deadline)
        return replay(pending.route.form, stored, await store.recordIds(call.engine, pending.id), call)
      await new Promise(resolve => setTimeout(resolve, POLL))
    }
  }

  async function run(pending: Pending, call: Call, next: () => Promise<ApiResponse>): Promise<ApiResponse> {
    const found = await find(pending, call)
    if (found) return found
    Object.assign(call.ctx, { [PENDING]: pending })
    let response: ApiResponse
    try {
      response = await next()
    }
    catch (error) {
      // Another server can have committed the same request first.
      const committed = await find(pending, call)
      if (committed) return committed
      throw error
    }
    const body = JSON.stringify(response.body ?? null)
    const stored = { grant: await grantOf(call), status: response.status, body: body.length > MAX_BODY ? null : body }
    // The write is committed. Without its response, a retry gets the records.
    await store.saveResponse(call.engine, pending.id, stored).catch((error: unknown) =>
      console.error('[auto-api] idempotency: the response of a request was not stored.', error))
    return response
  }

  return {
    async around(ctx: AutoApiContext, next: () => Promise<ApiResponse>, { route: name, request }: AroundInfo) {
      const route = ROUTES.get(name)
      const key = route && parseKey(request.header('idempotency-key'))
      if (!route || key === undefined || ctx.dryRun) return next()
      const call = callOf(ctx)
      if (name.startsWith('bulk-') && !call.api.config.bulk.transactional)
        throw invalidValue('Idempotency-Key', 'a batch that is not atomic cannot have a key. Send its items one by one.')
      const id = requestId(key, name, ctx)
      const body = route.hasBody ? await request.body() : null
      assertDepth(body)
      const expiresAt = new Date(Date.now() + ttl)
      const pending: Pending = { id, owner: crypto.randomUUID(), route, fingerprint: fingerprint(body), expiresAt, isCommitted: false }
      for (let first = running.get(id); first; first = running.get(id)) await first.catch(() => {})
      const own = run(pending, call, next)
      running.set(id, own)
      return own.finally(() => running.delete(id))
    },
    inCommit(changes: readonly ChangedRows[], ctx: AutoApiContext): readonly CommitStatement[] {
      const pending = pendingOf(ctx)
      if (!pending || pending.isCommitted || REPORTED in ctx) return []
      const { id, owner, route, fingerprint, expiresAt } = pending
      const row = { fingerprint, createdAt: new Date(), expiresAt }
      const named = changes.filter(({ resource, cascaded, kind }) =>
        resource === ctx.resource && !cascaded && route.kinds.includes(kind))
      if (named.length === 0) return []
      return [
        (db: Database) => db.insert(table).values({ ...row, id, recordId: owner }),
        ...named.map(rows => rows.insertInto(table, { ...row, id: rows.uuid, parent: id, recordId: rows.id } as never)),
      ] as readonly CommitStatement[]
    },
    onCommit(changes: readonly Change[], ctx: AutoApiContext) {
      const pending = pendingOf(ctx)
      if (pending && changes.some(({ resource, kind }) => resource === ctx.resource && pending.route.kinds.includes(kind)))
        pending.isCommitted = true
    },
    removeExpired: ({ event, due }: TaskRun) => store.removeExpired(useRuntime(event as ApiEvent).database.engine(event), due),
  }
}
