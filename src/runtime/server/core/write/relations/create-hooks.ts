/** Runs the junction's create hooks, field rules and reference checks for each new link. */
import type { ForeignKeyFacts } from '../../../schema/drizzle/foreign-keys'
import type { Call } from '../../request/session'
import { fieldForbidden } from '../../error'
import { unwritableFields } from '../../access/fields'
import { runAfterHooks, type AnyHook } from '../../request/hooks'
import type { WritePlan } from '../../plan/write'
import { tupleKey } from '../../sql/tuple-key'
import type { Scoped } from '../../access/row-scope'
import type { HookResults, LinkTask, NewLink } from './links'
import { runBefore } from '../hooks'
import { checkReferences } from '../references'
import type { LinkCreates } from './create-links'
import { linkKeys } from './new-link'

/** Runs the junction's before-hooks, field rules and reference checks. @throws The error of the first hook or check that refuses a link. */
export async function runBeforeCreateHooks(task: LinkTask, creates: LinkCreates, hookResults: HookResults): Promise<void> {
  const { plan, call } = creates
  const { relation: { name, junction } } = task.link
  const items = [...creates.items, ...creates.hidden]
  if (junction.registered) {
    for (const item of items) {
      const linkId = `${name} + ${tupleKey(item.target)}`
      const result = hookResults.get(linkId)
      if (result) Object.assign(item, result)
      else await runBefore({ kind: 'create', resource: junction.resource }, item, call)
      hookResults.set(linkId, { values: item.values, ctx: item.ctx })
    }
    await assertWritable(task, items, plan, call)
  }
  // The plan has already checked the record and the records to link, so their foreign keys are skipped.
  const isSide = ({ columns, foreignTable }: ForeignKeyFacts) =>
    [junction.sourceKey, junction.targetKey].some(side => side.foreignTable === foreignTable && side.columns.join() === columns.join())
  await checkReferences(plan, items, call, 'now', isSide)
  const failed = items.find(item => item.error !== undefined)
  if (failed) throw failed.error
}

/**
 * Checks the fields that the client sent and no hook removed. A key that a hook changed also fails, because a hook must not link other
 * records than the request names.
 * @throws 403
 */
async function assertWritable(task: LinkTask, items: readonly NewLink[], { selection }: Scoped<WritePlan>, call: Call): Promise<void> {
  const { resource } = task.link.relation.junction
  const names = new Set(items.flatMap(({ sent, values }) => sent.filter(name => Object.hasOwn(values, name))))
  const unwritable = new Set(await unwritableFields(call, resource, [...names]))
  for (const { values, target } of items) {
    for (const [name, raw] of linkKeys(task, target)) {
      const { encode, decode } = resource.fields.get(name)!
      const isUnchanged = name === resource.tenant?.name || String(encode(values[name])) === String(encode(decode ? decode(raw) : raw))
      if (!isUnchanged) unwritable.add(name)
    }
  }
  // A schema can map a field that the client sent to a hidden column. The error must not name that column.
  const canName = (name: string) => selection.byName.has(name) || items.some(({ sentKeys }) => sentKeys?.includes(name))
  if (unwritable.size > 0) throw fieldForbidden(call.ctx, [...unwritable].filter(canName))
}

export async function runAfterCreateHooks({ call, items, records }: LinkCreates, errors: unknown[]): Promise<void> {
  for (const { target, ctx } of items) {
    const record = records.get(tupleKey(target))
    if (record) await runAfterHooks(call, 'afterCreate', record, (run, record) => (run as AnyHook)(record, ctx), errors)
  }
}
