/** `GET /:resource/:id/files/:field[/:key]`: sends a file to a caller who can read the record and the field. */
import { ApiError, apiError, notFound, preconditionFailed } from '../../../server/kit/errors'
import { flag, type RouteRequest } from '../../../server/kit/request'
import type { PluginRoute } from '../../../server/plugin/contract'
import type { AutoApiContext } from '../../../server/kit/call'
import { findType, type FileType } from '../content/types'
import { canReadField, describeServe } from '../describe'
import { selectResponse } from './http/conditions'
import { contentDisposition } from './http/disposition'
import type { FileField } from '../options'
import { filesOf, type StoredFile } from './record/stored-file'
import type { FileService } from './service'
import { fromBytes } from '../storage/chunks'

export function serveRoutes(field: FileField, service: () => FileService): PluginRoute[] {
  return ['', '/:key'].map(end => ({
    name: `file ${field.resource}.${field.field}${end}`,
    method: 'GET',
    path: `/:resource/:id/files/${field.field}${end}`,
    resources: [field.resource],
    operation: 'read',
    parameters: ['download'],
    describe: describeServe(field, end),
    documentedFor: canReadField(field),
    handler: (ctx, request) => serve(field, service(), ctx, request),
  }))
}

/**
 * A file can be a valid image and a valid page at once. So its content cannot be trusted, and these headers are the defence: the browser
 * keeps to the media type, and runs nothing even if it shows the file as a page.
 */
const SAFETY: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': 'default-src \'none\'; sandbox',
  'cross-origin-resource-policy': 'same-site',
}

async function serve(field: FileField, service: FileService, ctx: AutoApiContext, request: RouteRequest): Promise<unknown> {
  const isDownload = flag(request.query, 'download')
  let missing: string | undefined
  for (;;) {
    const file = await findFile(field, service, ctx)
    const response = await respond(field, service, { ctx, request, file, isDownload })
    if (response !== undefined) return response
    // An upload can replace the file between the two reads. The record then names the new file.
    if (missing === file.key) {
      console.error('[auto-api] fileUpload: a record names a file that is not in the storage.')
      throw notFound()
    }
    missing = file.key
  }
}

interface Serving {
  readonly ctx: AutoApiContext
  readonly request: RouteRequest
  readonly file: StoredFile
  readonly isDownload: boolean
}

/** Returns `undefined` if the storage does not have the file. */
async function respond(field: FileField, service: FileService, { ctx, request, file, isDownload }: Serving): Promise<unknown> {
  const etag = `"${file.sha256.replace(/[^\w-]/g, '')}"`
  const selected = selectResponse(request.method, request.header, etag, file.size)
  if (selected === 'failed') throw preconditionFailed()
  const range = typeof selected === 'object' ? selected : undefined
  const isSent = request.method === 'GET' && (range || selected === 'whole')
  const path = service.pathOf(field, ctx.params.id!, file.key)
  // Opened before the headers are set. A HEAD request opens nothing.
  const chunks = isSent ? await service.storage(ctx.event).get(path, range) : fromBytes(new Uint8Array())
  if (!chunks) return undefined
  for (const [name, value] of Object.entries(SAFETY)) request.setHeader(name, value)
  request.setHeader('etag', etag)
  request.setHeader('accept-ranges', 'bytes')
  if (selected === 'not-modified') {
    request.setStatus(304)
    return null
  }
  if (selected === 'unsatisfiable')
    throw apiError('RANGE_NOT_SATISFIABLE', `The file has ${file.size} bytes.`, { headers: { 'Content-Range': `bytes */${file.size}` } })
  const type = trustedType(field, file)
  request.setHeader('content-type', type ? `${type.type}${type.text ? '; charset=utf-8' : ''}` : 'application/octet-stream')
  request.setHeader('content-disposition', contentDisposition(type?.inert && !isDownload ? 'inline' : 'attachment', file.name))
  if (range) {
    request.setStatus(206)
    request.setHeader('content-range', `bytes ${range.start}-${range.end}/${file.size}`)
  }
  const length = range ? range.end - range.start + 1 : file.size
  request.setHeader('content-length', String(length))
  return contentOf(length, chunks)
}

/** Only types that uploads of the field can have are trusted, whatever the column contains. Inert types can be of an earlier `accept`. */
function trustedType({ accepted }: FileField, { type }: StoredFile): FileType | undefined {
  const found = findType(type)
  return found && (found.inert || accepted.includes(found)) ? found : undefined
}

async function findFile(field: FileField, service: FileService, ctx: AutoApiContext): Promise<StoredFile> {
  const { key } = ctx.params
  const record = await service.get(ctx, field.resource, ctx.params.id!, { fields: field.field }).catch((error: unknown) => {
    // The field is part of the path. So a field that the caller cannot read does not exist.
    throw error instanceof ApiError && error.data.code === 'UNKNOWN_FIELD' ? notFound() : error
  })
  const files = filesOf(record[field.field])
  const file = key === undefined ? (field.multiple ? undefined : files[0]) : files.find(file => file.key === key)
  if (!file) throw notFound()
  return file
}

/** Breaks the connection if the storage has another number of bytes. */
async function* contentOf(length: number, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let sent = 0
  for await (const chunk of chunks) {
    sent += chunk.byteLength
    yield chunk
  }
  if (sent !== length) throw new Error('[auto-api] fileUpload: a file in the storage has another size than its record names.')
}
