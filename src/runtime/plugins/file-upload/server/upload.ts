/** `POST /:resource/:id/upload/:field`: stores a file, and names it in the record by an ordinary update. */
import { apiError, isRefusal } from '../../../server/kit/errors'
import { mediaTypeOf, type RouteRequest, singleValue } from '../../../server/kit/request'
import type { PluginRoute } from '../../../server/plugin/contract'
import type { AutoApiContext } from '../../../server/kit/call'
import { openMultipart, type FilePart } from '../content/multipart'
import { receiveFile } from '../content/receive'
import { canWriteField, describeUpload } from '../describe'
import type { FileService } from './service'
import type { FileField } from '../options'
import { createKey, filesOf, type StoredFile } from './record/stored-file'

const FORM = 'multipart/form-data'
/** The bytes of a multipart body besides the file. */
const FORM_OVERHEAD = 64 * 1024

export function uploadRoute(field: FileField, service: () => FileService): PluginRoute {
  const types = field.accepted.flatMap(({ type, aliases = [] }) => [type, ...aliases])
  return {
    name: `upload ${field.resource}.${field.field}`,
    method: 'POST',
    path: `/:resource/:id/upload/${field.field}`,
    resources: [field.resource],
    operation: 'update',
    parameters: ['name'],
    accepts: [...new Set([FORM, ...types, 'application/octet-stream'])],
    describe: describeUpload(field),
    documentedFor: canWriteField(field),
    handler: (ctx, request) => upload(field, service(), ctx, request),
  }
}

async function upload(field: FileField, service: FileService, ctx: AutoApiContext, request: RouteRequest): Promise<unknown> {
  const { resource, field: name, multiple } = field
  const update = await service.authorizeUpdate(ctx, resource, ctx.params.id!, [name], request)
  const key = createKey()
  const path = service.pathOf(field, ctx.params.id!, key)
  const part = await openBody(field, request)
  const received = await receiveFile(part.chunks, part.claim, field)
  try {
    // The storage keeps nothing of a file that it cannot store as a whole.
    await service.storage(ctx.event).put(path, received.chunks, { type: received.type })
  }
  finally {
    await received.discard()
  }
  let commit: 'not sent' | 'sent' | 'done' = 'not sent'
  try {
    const file: StoredFile = { key, name: received.name, type: received.type, ...await received.finish(), ...received.dimensions }
    return await update.write(
      stored => ({ [name]: service.toColumn(field, multiple ? [...underLimit(field, filesOf(stored[name])), file] : file) }),
      {
        onCommitting() {
          commit = 'sent'
        },
        onCommitted(before, after) {
          commit = 'done'
          // A hook can drop the new file from the update.
          return service.removeUnnamed(field, ctx, [...filesOf(before[name]), file], filesOf(after[name]))
        },
      },
    )
  }
  catch (error) {
    // If the connection breaks during the commit, the record can name the file. If it does not, the daily task removes the file.
    if (isUnnamed(commit, error)) await service.removeUnnamed(field, ctx, [{ key }], [])
    throw error
  }
}

const isUnnamed = (commit: 'not sent' | 'sent' | 'done', error: unknown) => commit === 'not sent' || (commit === 'sent' && isRefusal(error))

async function openBody({ field, maxSize }: FileField, request: RouteRequest): Promise<FilePart> {
  const contentType = request.header('content-type') ?? ''
  const type = mediaTypeOf(contentType)!
  if (type === FORM) return openMultipart(request.stream({ maxSize: maxSize + FORM_OVERHEAD }), contentType)
  return { claim: { name: singleValue(request.query, 'name') ?? field, type }, chunks: request.stream({ maxSize }) }
}

function underLimit({ maxFiles }: FileField, files: readonly StoredFile[]): readonly StoredFile[] {
  if (files.length < maxFiles) return files
  throw apiError('LIMIT_EXCEEDED', `The field has ${maxFiles} files already. Remove one first.`)
}
