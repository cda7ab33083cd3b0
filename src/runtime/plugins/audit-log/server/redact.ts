/** Removes from entries what the reader cannot read today. */
import { isObject } from '../../../shared/is-object'
import { CHANGE_KINDS } from '../../../server/kit/listen'
import { type AutoApiContext, requireSession } from '../../../server/kit/call'
import type { Resource } from '../../../server/kit/rows'
import { readerAccess, type ReaderAccess } from './access'
import type { AuditLog } from './log'
import { mentions, REDACTED } from './mentions'

type Entry = Record<string, unknown>

const isChange = (kind: unknown) => (CHANGE_KINDS as readonly unknown[]).includes(kind)

/**
 * Reduces `columns`, `before` and `after` to the fields that the reader can read. An entry that was read without its resource has none of
 * them, because the resource determines the rules.
 */
export async function redactEntries(log: AuditLog, entries: readonly Entry[], ctx: AutoApiContext): Promise<Entry[]> {
  const session = requireSession(ctx)
  const { resources } = await readerAccess(session, log)
  const unreadable = unreadableNames(session.api.resources, resources)
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
      ...isObject(after) && { after: entry.kind === 'export' ? redactQuery(after, unreadable) : pick(after, isShown) },
    }
  })
}

/** Returns the names of the fields that the reader cannot read, of all resources but the log. They are computed when they are needed. */
function unreadableNames(all: ReadonlyMap<string, Resource>, resources: ReaderAccess['resources']): () => readonly string[] {
  let names: readonly string[] | undefined
  return () => names ??= [...resources].flatMap(([name, { shown }]) => [...all.get(name)!.fields.keys()].filter(field => !shown.has(field)))
}

/** An export's query can name a field in any parameter, also of a related resource. */
function redactQuery(after: Entry, unreadable: () => readonly string[]): Entry {
  if (!isObject(after.query)) return after
  const query = Object.entries(after.query).map(([name, value]) =>
    mentions(name, value, unreadable()) ? ['query', REDACTED] : [name, value])
  return { ...after, query: Object.fromEntries(query) }
}

const pick = (values: Entry, accepts: (name: string) => boolean) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => accepts(name)))
