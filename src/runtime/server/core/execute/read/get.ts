/** Runs a scoped get. */
import type { Call } from '../../context'
import { notFound } from '../../error'
import { idForHooks, runHooks, type AnyHook } from '../../hooks'
import type { GetPlan } from '../../plan/read'
import type { Scoped } from '../../access/row-scope'
import { readableFields } from '../../access/fields'
import { reviserOf } from '../../record-revision'
import { hashText } from '../../revision'
import { decoder } from '../rows/decode'
import { readOne } from '../rows/rows'
import { formOf, runReadHooks, toRecords, type ReadResult } from './records'

/** Reads the record with the plan's key. @throws 404 if the caller cannot see the record. */
export async function executeGet(plan: Scoped<GetPlan>, call: Call): Promise<ReadResult> {
  const revise = call.api.config.http.etag ? reviserOf(call) : undefined
  const tagged = revise && await readableFields(call)
  // The tag covers every readable field, whichever fields the response contains.
  const found = await readOne(plan, plan.key, tagged && tagged !== plan.selection ? tagged.fields : [], call)
  const [row] = found.rows
  if (!row) throw notFound()
  await runHooks(call, 'beforeGet', undefined, run => (run as AnyHook)(idForHooks(plan.resource, plan.key), call.ctx))
  const form = formOf(plan, 'afterGet', call)
  const records = await toRecords(plan, found, form, call)
  // The text and the hash of the response are also those of the revision.
  if (revise && form === 'wire' && tagged === plan.selection && plan.include.length === 0) {
    const text = JSON.stringify(records[0])
    return { plan, form, records, text, revision: hashText(text) }
  }
  return {
    plan,
    form,
    records: await runReadHooks(plan, 'afterGet', records, call),
    ...revise && { revision: revise(decoder(found.columns, tagged!, 'wire')(row)) },
  }
}
