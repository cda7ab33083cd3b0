/** The functions that the routes of file uploads share. */
import type { PluginServer } from '../../../server/plugin/server'
import { invalidValue, notFound } from '../../../server/kit/errors'
import type { FileField } from '../options'
import { prefixOf } from './record/path'
import type { StoredFile } from './record/stored-file'
import type { FindFileStorage } from '../storage/resolve'

export interface FileService extends Pick<PluginServer, 'authorizeUpdate' | 'get'> {
  readonly storage: FindFileStorage
  /** Returns the key in the storage. @throws 404 if no record can have the id, 400 if the id is too long. */
  readonly pathOf: (field: FileField, id: string, key: string) => string
  /** Converts files to the value of the column. */
  readonly toColumn: (field: FileField, files: StoredFile | readonly StoredFile[] | null) => unknown
  /** Removes files that a record named before and does not name now. An error is logged: the daily task removes the file then. */
  readonly removeUnnamed: (
    field: FileField, ctx: { readonly event: object, readonly params: Readonly<Record<string, string>> },
    before: readonly Pick<StoredFile, 'key'>[], after: readonly Pick<StoredFile, 'key'>[],
  ) => Promise<void>
}

export function createService(server: PluginServer, storage: FindFileStorage): FileService {
  function pathOf({ resource, field }: FileField, sentId: string, key: string): string {
    const id = server.resources.get(resource)!.canonicalId(sentId)
    if (id === undefined) throw notFound()
    const prefix = prefixOf(resource, id)
    if (prefix === undefined) throw invalidValue('id', 'it is too long for a record with files.')
    return `${prefix}${field}/${key}`
  }
  return {
    authorizeUpdate: server.authorizeUpdate,
    get: server.get,
    storage,
    pathOf,
    toColumn({ resource, field }, files) {
      if (files === null) return null
      return server.resources.get(resource)!.fields.get(field)!.kind === 'text' ? JSON.stringify(files) : files
    },
    async removeUnnamed(field, ctx, before, after) {
      const kept = new Set(after.map(({ key }) => key))
      for (const { key } of before) if (!kept.has(key)) await removeLogged(storage, pathOf(field, ctx.params.id!, key), ctx.event)
    },
  }
}

/** Removes a file after the commit. The response must not fail because of a storage that is down. */
export async function removeLogged(storage: FindFileStorage, path: string, event?: object): Promise<void> {
  try {
    await storage(event).delete(path)
  }
  catch (error) {
    console.error(`[auto-api] fileUpload: ${path} was not removed from the storage. The daily task tries again.`, error)
  }
}
