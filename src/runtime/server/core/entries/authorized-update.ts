/**
 * Updates columns that only the server writes, on behalf of a caller: for plugins whose request has another body than the JSON of an
 * update, such as an upload. The update is an ordinary one. Its authorization is checked before the body is read, and again by the write.
 */
import type { Key } from '../../schema/record-id'
import { authorize } from '../access/authorize'
import { unwritableFields } from '../access/fields'
import { applyScope, type Plan } from '../access/row-scope'
import type { ApiRequest } from '../request/api-request'
import type { Call } from '../request/session'
import { changedMeanwhile, fieldForbidden, notFound } from '../error'
import { repeat } from '../../engines/retry'
import { logError } from '../process/log'
import { toRequestError } from '../read/rows/invalid-value'
import { loadVisible } from '../write/check-visible'
import { ifMatchOf } from '../parse/if-match'
import { parseKey } from '../parse/key'
import type { WriteItem } from '../parse/write'
import { bodyWithRevision } from '../extensions/response'
import { hasText, readStoredText } from '../read/stored-text'
import { runUpdate } from './update-row'
import { callOn, type CallerContext } from './call'

/** The stored values of the columns by name. A value of a text column is text, a value of a JSON column is its JSON. */
export type StoredValues = Readonly<Record<string, unknown>>

export interface UpdateOptions {
  /** Runs before each attempt to commit. After it, an error such as a broken connection can leave open whether the values were written. */
  readonly onCommitting?: () => void
  /**
   * Runs once after the commit and before the after-hooks, with the values before the update and those that it wrote. A before-hook can
   * have replaced or removed a value. An error is logged.
   */
  readonly onCommitted?: (before: StoredValues, after: StoredValues) => unknown
}

export interface AuthorizedUpdate {
  /**
   * Writes the columns in an ordinary update: with the row scope, the field rules and the hooks. Plugins receive its changes.
   * @param change returns the new values. It runs again if another write changes the columns meanwhile.
   * @returns the record as `PATCH` returns it. A handler that returns this object sends it with the entity tag of the record.
   * @throws The errors of an update, and the error of `change`. `CONFLICT` if other writes change the columns again and again.
   */
  readonly write: (change: (stored: StoredValues) => StoredValues, options?: UpdateOptions) => Promise<unknown>
}

/**
 * Checks whether the caller can update the columns of a record: the permission, the tenant, the row and the field rules.
 * @param id as a client sends it
 * @param fields JSON and text columns
 * @param request the request whose `If-Match` the write compares
 * @throws 401, 403, 404 for a row that the caller cannot see, `FIELD_FORBIDDEN`, 428 if the resource requires `If-Match`.
 */
export type AuthorizeUpdate = (
  ctx: CallerContext, resource: string, id: string, fields: readonly string[], request?: Pick<ApiRequest, 'header'>,
) => Promise<AuthorizedUpdate>

export const authorizeUpdate: AuthorizeUpdate = async (ctx, name, id, fields, request) => {
  const call = callOn(ctx, name, 'update')
  await authorize(call, call.resource, ['update'])
  const condition = request ? ifMatchOf(request, call.resource) : {}
  // The id of a path is `undefined` if it is not valid percent-encoding.
  const key = parseKey({ params: { id } }, call.resource)
  const { plan, targets: [target] } = await loadVisible(call, call.resource, [key], 'update')
  if (target!.error !== undefined) throw await toRequestError(target!.error, plan, call)
  const unwritable = await unwritableFields(call, call.resource, fields)
  if (unwritable.length > 0) throw fieldForbidden(call.ctx, unwritable)
  return { write: (change, options = {}) => write(call, { key, ...condition }, fields, change, options) }
}

/** The error of a condition. It never reaches a client. */
class StoredValuesChanged extends Error {}

/** The record to update, and the tag that it must have. */
type UpdateTarget = Pick<WriteItem, 'ifMatch'> & { readonly key: Key }

async function write(
  call: Call, target: UpdateTarget, names: readonly string[], change: (stored: StoredValues) => StoredValues,
  { onCommitting, onCommitted }: UpdateOptions,
): Promise<unknown> {
  const { resource } = call
  const { key } = target
  const fields = names.map(name => resource.fields.get(name)!)
  return repeat(async () => {
    const scope = await applyScope<Plan>(call, { resource, trash: 'active' }, 'update')
    const [row] = await readStoredText(scope, [key], fields, call)
    if (!row) throw notFound()
    const before = Object.fromEntries(fields.map(({ name, kind }, index) => {
      const text = row.texts[index]!
      return [name, text !== null && kind === 'json' ? JSON.parse(text) as unknown : text]
    }))
    const values = change(before)
    const unchanged = fields.map((field, index) => hasText(field, row.texts[index]!, call))
    const sent = Object.keys(values)
    const item = {
      ...target, data: { values, sent, given: sent }, condition: { clauses: unchanged, error: () => new StoredValuesChanged() },
    }
    return bodyWithRevision(await runUpdate({ bulk: false, items: [item] }, call, { onCommitting, async onCommitted([written]) {
      const { values: after } = written!
      const valueOf = (name: string) => after[name] === undefined ? before[name] : after[name]
      await runLogged(() => onCommitted?.(before, Object.fromEntries(names.map(name => [name, valueOf(name)]))))
    } }))
  }, error => error instanceof StoredValuesChanged, changedMeanwhile)
}

async function runLogged(run: () => unknown): Promise<void> {
  try {
    await run()
  }
  catch (error) {
    logError(undefined, '`onCommitted` of an update threw after the commit.', error)
  }
}
