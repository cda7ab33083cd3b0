/** Uploads files to columns of records, and serves them with the authorization of the record. */
import { defineAutoApiPlugin, type AutoApiPlugin } from '../../server/plugin/contract'
import { provideAdmin } from '../../server/plugin/features'
import { imported } from '../../server/plugin/options'
import type { PluginServer } from '../../server/plugin/server'
import { assertColumns } from './server/columns'
import { removeOrphans, removePurged } from './server/lifecycle'
import { resolveFields, type FileUploadOptions } from './options'
import { findFileFields } from './server/admin'
import { removeRoutes } from './server/remove'
import { serveRoutes } from './server/serve'
import { createService, type FileService } from './server/service'
import { resolveStorage, type FindFileStorage } from './storage/resolve'
import { uploadRoute } from './server/upload'

/**
 * Adds routes that upload, serve and remove the files of records. A file is part of its record: who can update the record can upload it,
 * and who can read the record can read it.
 * @throws If an option is unknown or a value is invalid. On the server, also if a column cannot contain files, or the storage is missing.
 * @example
 * export default defineNuxtConfig({
 *   modules: ['nuxt-auto-api'],
 *   autoApi: {
 *     plugins: [fileUpload({ resources: { posts: { cover: { accept: ['image/png', 'image/jpeg'], maxSize: '5mb' } } } })],
 *   },
 * })
 */
export const fileUpload = defineAutoApiPlugin({ from: 'nuxt-auto-api/plugins', name: 'fileUpload' }, (options: FileUploadOptions) => {
  const fields = resolveFields(options)
  let server: PluginServer
  let storage: FindFileStorage
  let service: FileService
  const findService = () => service
  return {
    name: 'fileUpload',
    // These parts run while the app is built. A server file can list the plugin too, and protects the columns itself.
    ...import.meta.server !== true && { resources: protectColumns(fields), buildSetup: declareKeys(options) },
    setup(own: PluginServer) {
      server = own
      assertColumns(fields, own)
      provideAdmin(own, { features: (_session, { name }, described) => findFileFields(fields, name, described) })
      storage = resolveStorage(imported(options.storage, 'fileUpload.storage'), own)
      service = createService(own, storage)
    },
    routes: fields.flatMap(field => [
      uploadRoute(field, findService), ...serveRoutes(field, findService), ...removeRoutes(field, findService),
    ]),
    onCommit: (changes, ctx) => removePurged(fields, changes, server, storage, ctx.event as object | undefined),
    tasks: {
      orphans: {
        every: 24 * 60,
        run: async ({ due, event }) => void await removeOrphans(fields, server, storage, due.getTime(), event),
      },
    },
  }
})

function protectColumns(fields: ReturnType<typeof resolveFields>): AutoApiPlugin['resources'] {
  return (registry) => {
    for (const { resource, field } of fields) registry.protect(resource, [field])
  }
}

/** Nuxt reads environment variables only for keys that the runtime config declares. */
function declareKeys({ storage }: FileUploadOptions) {
  return (nuxt: unknown) => {
    if (typeof storage !== 'object' || !('type' in storage) || storage.type !== 's3') return
    const { runtimeConfig } = (nuxt as { options: { runtimeConfig: { autoApi?: { s3?: object } } } }).options
    const keys = { accessKeyId: '', secretAccessKey: '', sessionToken: '' }
    runtimeConfig.autoApi = { ...runtimeConfig.autoApi, s3: { ...keys, ...runtimeConfig.autoApi?.s3 } }
  }
}
