/** Runs a request with a key once, and answers a retry with the response of the first request. */
import type { Table } from 'drizzle-orm'
import { useRuntime } from '../../../server/kit/api'
import { type AroundInfo, type Change, type ChangedRows, type CommitStatement, REPORTED } from '../../../server/kit/listen'
import type { AutoApiContext, Call } from '../../../server/kit/call'
import { ApiError, invalidValue } from '../../../server/kit/errors'
import { logError } from '../../../server/kit/process'
import { assertDepth } from '../../../server/kit/request'
import type { ApiResponse } from '../../../server/kit/respond'
import type { Engine } from '../../../server/kit/rows'
import { type ApiEvent, isPlain } from '../../../server/kit/http'
import type { TaskRun } from '../../../server/plugin/contract'
import { fingerprint, parseKey, requestId } from './key'
import { callOf, grantOf, isStoredForm, replay, type ResponseForm } from './replay'
import { findKeyedRoute, forBody, type KeyedRoute } from './routes'
import { grantOfSteps, replaySteps, stepsOf } from './steps'
import { createKeyStore, MAX_WAIT, toChangeText, type StoredKey, type StoredResponse, type WrittenRecord } from './store'

/** A longer response is not stored. In characters. */
const MAX_BODY = 65_536
/** Whether a request can end without a commit of its own. */
const canEndWithout = (form: ResponseForm) => isStoredForm(form) || form === 'steps'

/** The time between two looks for the response of a request that has committed, in milliseconds. */
const POLL = 50

/** The key of a request, in its context. Hooks and junctions have contexts that inherit from it. */
const PENDING = Symbol('idempotency key')

interface Pending {
  readonly id: string
  readonly owner: string
  readonly route: KeyedRoute
  readonly fingerprint: string
  readonly body: unknown
  readonly expiresAt: Date
  /** Whether the route has committed. Later commits of its after-hooks do not store the key again. */
  isCommitted: boolean
}

const grantFor = ({ route, body }: Pending, call: Call) =>
  route.form === 'steps' ? grantOfSteps(call.ctx, stepsOf(body)) : grantOf(call)

const replayFor = ({ route: { form }, body }: Pending, stored: StoredKey, records: readonly WrittenRecord[], call: Call) =>
  form === 'steps' ? replaySteps(stored, records, stepsOf(body), call.ctx) : replay(form, stored, records.map(({ id }) => id), call)

const pendingOf = (ctx: AutoApiContext) => (ctx as { readonly [PENDING]?: Pending })[PENDING]

/** The row of a key. `recordId` identifies the request that stored it. */
const keyRow = ({ id, owner, fingerprint, expiresAt }: Pending) => ({ id, recordId: owner, fingerprint, createdAt: new Date(), expiresAt })

/** Bodies that are no JSON, such as streams, are not stored. */
function toStoredBody(body: unknown): string | null {
  if (typeof body === 'object' && body !== null && !isPlain(body)) return null
  const text = JSON.stringify(body ?? null)
  return text.length > MAX_BODY ? null : text
}

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
      if (stored.status !== null || stored.isOld || Date.now() > deadline) {
        const found = await replayFor(pending, stored, await store.records(call.engine, pending.id), call)
        // The request runs again, and the key is stored already.
        pending.isCommitted = true
        return found
      }
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
    // A request that changed nothing has not noticed that another server has committed it.
    const committed = !pending.isCommitted && canEndWithout(pending.route.form) ? await find(pending, call) : undefined
    if (committed) return committed
    const stored = { grant: await grantFor(pending, call), status: response.status, body: toStoredBody(response.body) }
    // The write is committed. A client that gets an error instead of its response would take it for refused.
    await save(pending, stored, call.engine).catch((error: unknown) =>
      logError(undefined, 'idempotency: the response of a request was not stored.', error))
    return response
  }

  /** A request that changed nothing, or wrote without the API, may not have stored its key yet. */
  async function save(pending: Pending, response: StoredResponse, engine: Engine): Promise<void> {
    const isStored = pending.isCommitted || !canEndWithout(pending.route.form) || await store.find(engine, pending.id, new Date())
    if (isStored) return store.saveResponse(engine, pending.id, response)
    const row = { ...keyRow(pending), ...response }
    try {
      await engine.commit([{ build: (db: never) => (db as Database).insert(table).values(row) }])
    }
    catch (error) {
      // Another server can have answered the same request at the same time.
      if (!await store.find(engine, pending.id, new Date())) throw error
    }
  }

  return {
    async around(ctx: AutoApiContext, next: () => Promise<ApiResponse>, info: AroundInfo) {
      const { route: name, request } = info
      const header = request.header('idempotency-key')
      const route = header === undefined ? undefined : findKeyedRoute(info, ctx)
      const key = route && parseKey(header)
      if (!route || key === undefined || ctx.dryRun) return next()
      const call = callOf(ctx)
      if (name.startsWith('bulk-') && name !== 'bulk-upsert' && !call.api.config.bulk.transactional)
        throw invalidValue('Idempotency-Key', 'a batch that is not atomic cannot have a key. Send its items one by one.')
      const id = requestId(key, name, ctx)
      const body = route.hasBody ? await request.body() : null
      assertDepth(body)
      const expiresAt = new Date(Date.now() + ttl)
      const owner = crypto.randomUUID()
      const keyed = forBody(route, info, body, call.resource)
      const pending: Pending = { id, owner, route: keyed, fingerprint: fingerprint(body), body, expiresAt, isCommitted: false }
      for (let first = running.get(id); first; first = running.get(id)) await first.catch(() => {})
      const own = run(pending, call, next)
      running.set(id, own)
      return own.finally(() => running.delete(id))
    },
    inCommit(changes: readonly ChangedRows[], ctx: AutoApiContext): readonly CommitStatement[] {
      const pending = pendingOf(ctx)
      if (!pending || pending.isCommitted) return []
      const { id, route } = pending
      // The statements that a hook of a generated route reports are not the write of the request.
      if (REPORTED in ctx && route.form !== 'handler') return []
      const own = changes.filter(rows => !rows.cascaded && route.isOwn(rows, ctx))
      if (own.length === 0) return []
      const row = keyRow(pending)
      const records = own.filter(rows => route.isRecord(rows, ctx))
      return [
        (db: Database) => db.insert(table).values(row),
        ...records.map(rows =>
          rows.insertInto(table, { ...row, id: rows.uuid, parent: id, recordId: rows.id, body: toChangeText(rows) } as never)),
      ] as readonly CommitStatement[]
    },
    onCommit(changes: readonly Change[], ctx: AutoApiContext) {
      const pending = pendingOf(ctx)
      if (pending && changes.some(change => pending.route.isOwn(change, ctx))) pending.isCommitted = true
    },
    removeExpired: ({ event, due }: TaskRun) => store.removeExpired(useRuntime(event as ApiEvent).database.engine(event), due),
  }
}
