/** Runs the junction's create hooks, field rules and reference checks for each new link. */
import type { ForeignKeyFacts } from '../../../schema/drizzle/foreign-keys'
import type { Call } from '../../context'
import { fieldForbidden } from '../../error'
import { unwritableFields } from '../../access/fields'
import { runAfterHooks, runHooks, type AnyHook } from '../../hooks'
import type { WritePlan } from '../../plan/write'
import { tupleKey } from '../../sql/tuple-key'
import type { Scoped } from '../../access/row-scope'
import type { HookResults, LinkTask, NewLink } from './links'
import { checkReferences } from '../write/references'
import type { LinkCreates } from './create-links'
import { linkKeys } from './new-link'

/** The junction's before-hooks, its field rules, and the records that the metadata refers to. @throws What one of them refuses. */
export async function runBeforeCreateHooks(task: LinkTask, { plan, call, items }: LinkCreates, hooked: HookResults): Promise<void> {
  const { relation: { name, junction } } = task.link
  if (junction.registered) {
    for (const item of items) {
      const known = `${name} + ${tupleKey(item.target)}`
      const before = hooked.get(known) ?? {
        ctx: item.ctx,
        values: await runHooks(call, 'beforeCreate', item.values, (run, data) => (run as AnyHook)(data, item.ctx)),
      }
      hooked.set(known, before)
      Object.assign(item, before)
    }
    await assertWritable(task, items, plan, call)
  }
  // Both sides have been looked at by the rules of the route.
  const isSide = ({ columns, foreignTable }: ForeignKeyFacts) =>
    [junction.sourceKey, junction.targetKey].some(side => side.foreignTable === foreignTable && side.columns.join() === columns.join())
  await checkReferences(plan, items, call, 'now', isSide)
  const failed = items.find(item => item.error !== undefined)
  if (failed) throw failed.error
}

/** What was sent and the hooks left in place, keys included. A hook cannot turn a link into one of other records. */
async function assertWritable(task: LinkTask, items: readonly NewLink[], { selection }: Scoped<WritePlan>, call: Call): Promise<void> {
  const { resource } = task.link.relation.junction
  const names = new Set(items.flatMap(({ sent, values }) => sent.filter(name => Object.hasOwn(values, name))))
  const unwritable = new Set(await unwritableFields(call, resource, [...names]))
  for (const { values, target } of items) {
    for (const [name, raw] of linkKeys(task, target)) {
      const { encode, decode } = resource.fields.get(name)!
      const same = name === resource.tenant?.name || String(encode(values[name])) === String(encode(decode ? decode(raw) : raw))
      if (!same) unwritable.add(name)
    }
  }
  // A schema may make a hidden column of what was sent under another name.
  const isTold = (name: string) => selection.byName.has(name) || items.some(({ sentKeys }) => sentKeys?.includes(name))
  if (unwritable.size > 0) throw fieldForbidden(call.ctx, [...unwritable].filter(isTold))
}

export async function runAfterCreateHooks({ call, items, records }: LinkCreates, errors: unknown[]): Promise<void> {
  for (const { target, ctx } of items) {
    const record = records.get(tupleKey(target))
    if (record) await runAfterHooks(call, 'afterCreate', record, (run, record) => (run as AnyHook)(record, ctx), errors)
  }
}
