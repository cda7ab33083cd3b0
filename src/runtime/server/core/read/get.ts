/** Runs a scoped get. */
import type { Call } from '../request/session'
import { notFound } from '../error'
import { idForHooks, runHooks, type AnyHook } from '../request/hooks'
import type { GetPlan } from '../plan/read'
import type { Scoped } from '../access/row-scope'
import { fieldsOfTag, readableFields, type Selection } from '../access/fields'
import { reviserOf, type Revise } from '../plan/record-revision'
import { hashText } from '../plan/revision'
import { andThen, type Awaitable } from '../awaitable'
import { decoder } from './rows/decode'
import { readOne, type Rows } from './rows/rows'
import { formOf, runReadHooks, toRecords, type ReadResult } from './records'

/**
 * Reads the record with the plan's key. A promise only if the database, a hook or a rule returns one.
 * @throws 404 if the caller cannot see the record.
 */
export function executeGet(plan: Scoped<GetPlan>, call: Call): Awaitable<ReadResult> {
  const revise = call.api.config.http.etag ? reviserOf(call) : undefined
  if (!revise) return readAndTag(plan, call)
  return andThen(readableFields(call), readable => readAndTag(plan, call, { fields: fieldsOfTag(readable), revise }))
}

/** The fields that the entity tag covers, whichever fields the response contains. */
interface Tagged {
  readonly fields: Selection
  readonly revise: Revise
}

function readAndTag(plan: Scoped<GetPlan>, call: Call, tagged?: Tagged): Awaitable<ReadResult> {
  const extraColumns = tagged && tagged.fields !== plan.selection ? tagged.fields.fields : []
  return andThen(readOne(plan, plan.key, extraColumns, call), (found) => {
    if (found.rows.length === 0) throw notFound()
    const asked = runHooks(call, 'beforeGet', undefined, run => (run as AnyHook)(idForHooks(plan.resource, plan.key), call.ctx))
    return andThen(asked, () => toResult(plan, found, call, tagged))
  })
}

function toResult(plan: Scoped<GetPlan>, found: Rows, call: Call, tagged?: Tagged): Awaitable<ReadResult> {
  const form = formOf(plan, 'afterGet', call)
  return andThen(toRecords(plan, found, form, call), (records) => {
    // The text and the hash of the response are also those of the revision.
    if (tagged && form === 'wire' && tagged.fields === plan.selection && plan.include.length === 0 && !plan.counts) {
      const text = JSON.stringify(records[0])
      return { plan, form, records, text, revision: hashText(text) }
    }
    const revision = tagged?.revise(decoder(found.columns, tagged.fields, 'wire')(found.rows[0]!))
    return andThen(runReadHooks(plan, 'afterGet', records, call), records => ({ plan, form, records, revision }))
  })
}
