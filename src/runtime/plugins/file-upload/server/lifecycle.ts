/** Removes the files of purged records, and once a day the files that no record names. */
import type { Change } from '../../../server/kit/listen'
import type { PluginServer } from '../../../server/plugin/server'
import type { FileField } from '../options'
import { parsePath, prefixOf, type FilePath } from './record/path'
import { filesOf, timeOf } from './record/stored-file'
import { removeLogged } from './service'
import type { FindFileStorage } from '../storage/resolve'

const DAY = 24 * 60 * 60 * 1000
/** The records that are cleared at once. */
const AT_ONCE = 8
/** The files that one statement checks. */
const BATCH = 100

/** Removes the files of records that a commit removed for good. Records in the trash keep their files. */
export async function removePurged(
  fields: readonly FileField[], changes: readonly Change[], { resources }: PluginServer, storage: FindFileStorage, event?: object,
): Promise<void> {
  const names = new Set(fields.map(({ resource }) => resource))
  const isRemoved = ({ kind, resource }: Change) =>
    kind === 'purge' || (kind === 'delete' && resources.get(resource!)!.deletedAt === undefined)
  const removed = changes.filter(change => names.has(change.resource!) && isRemoved(change))
  // A later record can have the same id. Its files are newer.
  const now = Date.now()
  const pending = removed.values()
  const work = async () => {
    for (const { resource, id } of pending) await removeRecord(resource!, id, now, storage, event)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, removed.length) }, work))
}

async function removeRecord(resource: string, id: string, before: number, storage: FindFileStorage, event?: object): Promise<void> {
  const prefix = prefixOf(resource, id)
  if (prefix === undefined) return
  try {
    for await (const path of storage(event).list(prefix)) {
      const key = parsePath(path)?.key
      if (key !== undefined && timeOf(key) <= before) await removeLogged(storage, path, event)
    }
  }
  catch (error) {
    console.error(`[auto-api] fileUpload: the files below ${prefix} were not removed. The daily task tries again.`, error)
  }
}

/** Removes files older than a day that no record names, in the trash or not: a killed server leaves them, or a storage that was down. */
export async function removeOrphans(
  fields: readonly FileField[], { readStored }: PluginServer, storage: FindFileStorage, now: number, event?: object,
): Promise<number> {
  const isConfigured = ({ resource, field }: FilePath) => fields.some(known => known.resource === resource && known.field === field)
  let removed = 0
  const check = async (batch: ReadonlyMap<string, FilePath>) => {
    const named = await findNamed(fields, [...batch.values()], readStored, event)
    for (const [path, { key }] of batch) {
      if (named.has(key)) continue
      await storage(event).delete(path)
      removed++
    }
  }
  let batch = new Map<string, FilePath>()
  for await (const path of storage(event).list()) {
    const parsed = parsePath(path)
    // The storage can contain other files. A field that is no longer configured keeps its files.
    if (!parsed || !isConfigured(parsed) || timeOf(parsed.key) > now - DAY) continue
    batch.set(path, parsed)
    if (batch.size < BATCH) continue
    await check(batch)
    batch = new Map()
  }
  if (batch.size > 0) await check(batch)
  await storage(event).removeUnfinished?.(new Date(now - DAY))
  return removed
}

/** Returns the keys that the records name now. One statement reads the records of each resource. */
async function findNamed(
  fields: readonly FileField[], paths: readonly FilePath[], readStored: PluginServer['readStored'], event?: object,
): Promise<ReadonlySet<string>> {
  const named = new Set<string>()
  for (const resource of new Set(paths.map(path => path.resource))) {
    const ids = [...new Set(paths.filter(path => path.resource === resource).map(({ id }) => id))]
    const columns = fields.filter(field => field.resource === resource).map(({ field }) => field)
    for (const { texts } of await readStored(resource, ids, columns, event)) {
      for (const text of Object.values(texts)) for (const { key } of filesOf(text)) named.add(key)
    }
  }
  return named
}
