/** The handlers of the routes, with stand-ins for the server and the storage: what they pass on, and what they do if a part fails. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { apiError } from '../../../src/runtime/server/core/request/custom-error'
import { changedMeanwhile, notFound } from '../../../src/runtime/server/core/error'
import { canReadField } from '../../../src/runtime/plugins/file-upload/describe'
import { resolveFields, type FileField } from '../../../src/runtime/plugins/file-upload/options'
import { removeRoutes } from '../../../src/runtime/plugins/file-upload/server/remove'
import { serveRoutes } from '../../../src/runtime/plugins/file-upload/server/serve'
import { uploadRoute } from '../../../src/runtime/plugins/file-upload/server/upload'
import type { FileService } from '../../../src/runtime/plugins/file-upload/server/service'
import { png, sha256 } from './bytes'

const [COVER, FILES] = resolveFields({
  resources: { posts: { cover: { accept: ['image/png'], maxSize: 1000 }, files: { accept: ['image/png'], multiple: true } } },
}) as readonly [FileField, FileField]
const KEY = '01936f00-0000-7000-8000-000000000000'
const FILE = { key: KEY, name: 'a.png', type: 'image/png', size: 3, sha256: 'abc' }
const PATH = 'posts/31/cover/key'
const EVENT = {}

type Update = Awaited<ReturnType<FileService['authorizeUpdate']>>

/** The stored values of the record. */
let stored: Record<string, unknown>
let state: { isClosed: boolean }
const write = vi.fn<Update['write']>()
const storage = { put: vi.fn(), get: vi.fn(), delete: vi.fn(), list: vi.fn() }
const service = {
  authorizeUpdate: vi.fn(async () => ({ write })), get: vi.fn(), storage: vi.fn(() => storage), pathOf: vi.fn(() => PATH),
  toColumn: (_field: FileField, files: unknown) => files, removeUnnamed: vi.fn(async () => {}),
}
const stream = vi.fn()
const setHeader = vi.fn()

beforeEach(() => {
  stored = {}
  state = { isClosed: false }
  write.mockImplementation(async (change, { onCommitted } = {}) => {
    const after = { ...stored, ...change(stored) }
    await onCommitted?.(stored, after)
    return after
  })
  storage.put.mockImplementation(async (_path: string, chunks: AsyncIterable<Uint8Array>) => {
    for await (const chunk of chunks) if (chunk.byteLength === 0) throw new Error('an empty chunk')
  })
  stream.mockImplementation(async function* () {
    try {
      yield png(1, 2, 500)
      yield Buffer.alloc(100)
    }
    finally {
      state.isClosed = true
    }
  })
})
afterEach(() => void vi.clearAllMocks())

/** Calls the handler of a route. */
async function call(
  route: { readonly handler?: unknown }, { headers = {}, params = {}, query = {} }: Record<string, Record<string, string>> = {},
): Promise<unknown> {
  const handler = route.handler as (ctx: object, request: object) => Promise<unknown>
  const request = { method: 'GET', header: (name: string) => headers[name], query, stream, setHeader, setStatus: vi.fn() }
  return handler({ event: EVENT, params: { id: '1', ...params } }, request)
}

describe('an upload', () => {
  const upload = (field = COVER, type = 'image/png') =>
    call(uploadRoute(field, () => service as never), { headers: { 'content-type': type } })

  it('passes the file and its type to the storage, and then names it in the record', async () => {
    const record = await upload() as { cover: { key: string } }
    expect(storage.put).toHaveBeenCalledExactlyOnceWith(PATH, expect.anything(), { type: 'image/png' })
    expect(service.storage).toHaveBeenCalledWith(EVENT)
    expect(service.authorizeUpdate).toHaveBeenCalledExactlyOnceWith(expect.anything(), 'posts', '1', ['cover'], expect.anything())
    expect(service.pathOf).toHaveBeenCalledWith(COVER, '1', record.cover.key)
    expect(record.cover).toEqual({
      key: expect.any(String), name: 'cover.png', type: 'image/png', size: 600, width: 1, height: 2,
      sha256: sha256(Buffer.concat([png(1, 2, 500), Buffer.alloc(100)])),
    })
  })

  it('reads no more than the maximum size, and 64 kB more of a form', async () => {
    await upload()
    expect(stream).toHaveBeenCalledExactlyOnceWith({ maxSize: 1000 })
    stream.mockClear()
    await expect(upload(COVER, 'multipart/form-data; boundary=b')).rejects.toMatchObject({ status: 400 })
    expect(stream).toHaveBeenCalledExactlyOnceWith({ maxSize: 1000 + 64 * 1024 })
  })

  it('ends the request if the storage fails, and names no file', async () => {
    storage.put.mockRejectedValue(new Error('The storage is down.'))
    stream.mockImplementation(async function* () {
      try {
        for (;;) yield png(1, 2, 5000)
      }
      finally {
        state.isClosed = true
      }
    })
    await expect(upload(FILES)).rejects.toThrow('The storage is down.')
    expect(state.isClosed).toBe(true)
    expect(write).not.toHaveBeenCalled()
    expect(service.removeUnnamed).not.toHaveBeenCalled()
  })

  it('removes the file if the record is not updated', async () => {
    write.mockRejectedValue(notFound())
    await expect(upload()).rejects.toMatchObject({ status: 404 })
    expect(service.removeUnnamed).toHaveBeenCalledExactlyOnceWith(COVER, expect.anything(), [{ key: expect.any(String) }], [])
  })

  it('keeps the file if the update can have been committed', async () => {
    const failing = (error: Error) => write.mockImplementation((_change, { onCommitting } = {}) => {
      onCommitting!()
      return Promise.reject(error)
    })
    failing(new Error('Connection terminated unexpectedly'))
    await expect(upload()).rejects.toThrow('Connection terminated unexpectedly')
    expect(service.removeUnnamed).not.toHaveBeenCalled()
    failing(changedMeanwhile())
    await expect(upload()).rejects.toMatchObject({ status: 409 })
    expect(service.removeUnnamed).toHaveBeenCalledOnce()
  })

  it('keeps the file if the update fails after the commit', async () => {
    write.mockImplementation(async (change, { onCommitted } = {}) => {
      await onCommitted!(stored, { ...stored, ...change(stored) })
      throw new Error('after the commit')
    })
    await expect(upload()).rejects.toThrow('after the commit')
    expect(service.removeUnnamed).toHaveBeenCalledOnce()
    const [, , before, after] = service.removeUnnamed.mock.calls[0] as unknown as readonly unknown[]
    expect(before).toEqual(after)
  })

  it('removes the file that it replaces, and adds to a list', async () => {
    stored = { cover: FILE }
    const { cover } = await upload() as Record<string, unknown>
    expect(service.removeUnnamed).toHaveBeenLastCalledWith(COVER, expect.anything(), [FILE, cover], [cover])
    stored = { files: [FILE] }
    const { files } = await upload(FILES) as Record<string, readonly unknown[]>
    expect(files).toEqual([FILE, expect.objectContaining({ name: 'files.png' })])
    stored = { files: Array(20).fill(FILE) }
    await expect(upload(FILES)).rejects.toMatchObject({ status: 400, data: { code: 'LIMIT_EXCEEDED' } })
  })
})

describe('a request for a file', () => {
  const get = (params?: Record<string, string>) => call(serveRoutes(COVER, () => service as never)[0]!, { ...params && { params } })
  const chunks = (...texts: readonly string[]) => (async function* () {
    for (const text of texts) yield Buffer.from(text)
  })()
  const read = async (body: unknown) => {
    let length = 0
    for await (const chunk of body as AsyncIterable<Uint8Array>) length += chunk.byteLength
    return length
  }

  it('reads only the field of the record, and opens the file before the response begins', async () => {
    service.get.mockResolvedValue({ cover: FILE })
    storage.get.mockResolvedValue(chunks('ab', 'c'))
    const body = await get()
    expect(service.get).toHaveBeenCalledExactlyOnceWith(expect.anything(), 'posts', '1', { fields: 'cover' })
    expect(storage.get).toHaveBeenCalledExactlyOnceWith(PATH, undefined)
    expect(await read(body)).toBe(3)
  })

  it('reads the record again if the storage does not have the file, and sends the file that replaced it', async () => {
    const other = KEY.replace(/0$/, '1')
    service.get.mockResolvedValueOnce({ cover: FILE }).mockResolvedValueOnce({ cover: { ...FILE, key: other } })
    storage.get.mockResolvedValueOnce(undefined).mockResolvedValueOnce(chunks('abc'))
    expect(await read(await get())).toBe(3)
    expect(service.pathOf.mock.calls.map(args => (args as readonly unknown[])[2])).toEqual([KEY, other])
  })

  it.each([['shorter', ['ab']], ['longer', ['abc', 'd']]])('fails if the stored file is %s than its record says', async (_case, texts) => {
    service.get.mockResolvedValue({ cover: FILE })
    storage.get.mockResolvedValue(chunks(...texts))
    const message = '[auto-api] fileUpload: a file in the storage has another size than its record names.'
    await expect(read(await get())).rejects.toThrow(new Error(message))
  })

  it('returns 404 for a field that the caller cannot read, and throws every other error', async () => {
    service.get.mockRejectedValue(apiError('UNKNOWN_FIELD', 'There is no field `cover`.'))
    await expect(get()).rejects.toMatchObject({ status: 404, data: { code: 'NOT_FOUND' } })
    for (const error of [new Error('The database is down.'), apiError('FORBIDDEN', 'No.', { status: 403 }), notFound(), 'text']) {
      service.get.mockRejectedValue(error)
      await expect(get()).rejects.toBe(error)
    }
  })
})

describe('a removal', () => {
  const remove = (field: FileField, key?: string) =>
    call(removeRoutes(field, () => service as never)[0]!, { ...key !== undefined && { params: { key } } })

  it('empties the field, or removes one file of a list', async () => {
    stored = { cover: FILE }
    expect(await remove(COVER)).toEqual({ cover: null })
    expect(service.removeUnnamed).toHaveBeenLastCalledWith(COVER, expect.anything(), [FILE], [])
    expect(await remove(COVER, KEY)).toEqual({ cover: null })
    const other = { ...FILE, key: KEY.replace('0000-7', '0001-7') }
    stored = { files: [FILE, other] }
    expect(await remove(FILES, KEY)).toEqual({ files: [other] })
    expect(service.removeUnnamed).toHaveBeenLastCalledWith(FILES, expect.anything(), [FILE, other], [other])
    expect(await remove(FILES)).toEqual({ files: [] })
  })

  it('returns 404 if there is no such file', async () => {
    for (const [field, value, key] of [[COVER, null], [COVER, FILE, 'x'], [FILES, []], [FILES, [FILE], 'x']] as const) {
      stored = { [field.field]: value }
      await expect(remove(field, key)).rejects.toMatchObject({ status: 404 })
    }
  })
})

it('documents the files of a field for callers who can read the field', () => {
  const can = (described: unknown) => canReadField(COVER)({} as never, described as never)
  expect(can({ fields: { cover: { readable: true } } })).toBe(true)
  expect(can(undefined)).toBe(false)
  for (const fields of [{}, { cover: { readable: false } }, { other: { readable: true } }]) expect(can({ fields })).toBe(false)
})
