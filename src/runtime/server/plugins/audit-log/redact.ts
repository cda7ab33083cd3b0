/** Removes from entries what the reader cannot read today. */
import { CHANGE_KINDS } from '../../core/changes'
import { requireSession } from '../../core/context'
import type { AutoApiContext } from '../../registration'
import { readerAccess } from './access'
import type { AuditLog } from './log'

type Entry = Record<string, unknown>

const isChange = (kind: unknown) => (CHANGE_KINDS as readonly unknown[]).includes(kind)

/**
 * Reduces `columns`, `before` and `after` to the fields that the reader can read. An entry that was read without its resource has none of
 * them, because the resource determines the rules.
 */
export async function redactEntries(log: AuditLog, entries: readonly Entry[], ctx: AutoApiContext): Promise<Entry[]> {
  const session = requireSession(ctx)
  const { resources } = await readerAccess(session, log)
  return entries.map((entry) => {
    const { columns, before, after, ...rest } = entry
    const resource = session.api.resources.get(String(entry.resource))
    const shown = resources.get(String(entry.resource))?.shown
    if (!resource || !shown || !Object.hasOwn(entry, 'kind')) return rest
    // The data of the app's own kinds can have keys that are no fields.
    const isShown = (name: string) => shown.has(name) || (!isChange(entry.kind) && !resource.fields.has(name))
    return {
      ...entry,
      ...Array.isArray(columns) && { columns: columns.filter(name => isShown(String(name))) },
      ...isObject(before) && { before: pick(before, isShown) },
      ...isObject(after) && { after: pick(after, isShown) },
    }
  })
}

const isObject = (value: unknown): value is Entry => typeof value === 'object' && value !== null && !Array.isArray(value)

const pick = (values: Entry, accepts: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => accepts(name)))
