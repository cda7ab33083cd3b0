/** Runs the hooks of a write. Each kind of write has its own hooks with their own arguments. */
import type { Call } from '../../context'
import { idForHooks, runAfterHooks, runHooks, type AnyHook, type HookName } from '../../hooks'
import type { WriteKind, WritePlan } from '../../plan/write'
import type { Item, WrittenItem } from './items'
import type { WriteResult } from './result'

const BEFORE: Readonly<Record<WriteKind, HookName>> = {
  create: 'beforeCreate',
  update: 'beforeUpdate',
  delete: 'beforeDelete',
  restore: 'beforeRestore',
  purge: 'beforePurge',
}
const AFTER: Readonly<Record<WriteKind, HookName>> = {
  create: 'afterCreate',
  update: 'afterUpdate',
  delete: 'afterDelete',
  restore: 'afterRestore',
  purge: 'afterPurge',
}

/** Replaces the item's values with the values that the hooks return. */
export async function runBefore({ kind, resource }: WritePlan, item: Item, call: Call): Promise<void> {
  const id = item.key && idForHooks(resource, item.key)
  item.values = await runHooks(call, BEFORE[kind], item.values, (run, data) => {
    const hook = run as AnyHook
    if (kind === 'create') return hook(data, item.ctx)
    return kind === 'update' ? hook(id, data, item.ctx) : hook(id, item.ctx)
  })
}

/** Replaces each record with the record that the hooks return. The write is committed, so all hooks run even if one of them fails. */
export async function runAfter(
  { kind, resource }: WritePlan,
  items: readonly Item[],
  { written }: WriteResult,
  call: Call,
  errors: unknown[],
): Promise<void> {
  for (const result of written) {
    const item = items[result.index]!
    const record = await runAfterHooks(call, AFTER[kind], result.record, (run, current) => {
      const hook = run as AnyHook
      return current ? hook(current, item.ctx) : hook(idForHooks(resource, item.key!), item.ctx)
    }, errors)
    if (record) (result as WrittenItem).record = record
  }
}
