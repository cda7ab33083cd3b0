/** The composables of files: uploads with their progress, removals, and the addresses of files. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openClientServer, type ClientServer } from '../../../support/client-server'
import { uploadRequest } from '../../../support/upload-request'

let harness: ClientServer
let folder: string

/** Loaded with the server, so that both have the same errors. */
const fileUpload = async () => {
  const { fileSystemStorage, fileUpload } = await import('../../../../src/runtime/plugins')
  const text = { accept: ['text/plain'], maxSize: 20 }
  return fileUpload({
    resources: { pictures: { photo: text, scans: { ...text, multiple: true } } },
    storage: fileSystemStorage({ base: folder }),
  })
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'composables-'))
  vi.stubGlobal('XMLHttpRequest', uploadRequest(() => harness))
  harness = await openClientServer({ prefix: '/data/v2', plugins: [fileUpload], built: ['fileUpload.resources', 'fileUpload.buildSetup'] })
})
afterEach(() => {
  vi.unstubAllGlobals()
  harness.close()
  rmSync(folder, { recursive: true, force: true })
})

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the resources of this test are not in the generated types
type Loose = Record<string, (...args: any[]) => any>
const use = (name: string, ...rest: unknown[]) => harness.setup(() => (harness.composables as unknown as Loose)[name]!('pictures', ...rest))
const text = (content = 'Sea', name = 'sea & sand.txt') => new File([content], name, { type: 'text/plain' })
const filesInFolder = () => readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())

describe('useAutoApiUpload', () => {
  it('sends the bytes with their name and type, returns the record, and refetches what shows it', async () => {
    const picture = use('useAutoApiGet', 1)
    await picture.suspense()
    const { mutateAsync, progress } = use('useAutoApiUpload', 'photo')
    const file = text()
    const record = await mutateAsync({ id: 1, file })
    expect(record).toMatchObject({ id: 1, title: 'Harbour', photo: { name: 'sea & sand.txt', type: 'text/plain', size: 3 } })
    expect(harness.requests).toEqual([
      'GET /data/v2/pictures/1',
      'POST /app/data/v2/pictures/1/upload/photo?name=sea+&+sand.txt text/plain',
      'GET /data/v2/pictures/1',
    ])
    expect(progress.value).toEqual({ sent: file.size, total: file.size })
    expect(picture.data.value.photo).toEqual(record.photo)
  })

  it('takes bytes without a name and without a type', async () => {
    const { mutateAsync } = use('useAutoApiUpload', 'photo')
    expect(await mutateAsync({ id: 1, file: new Blob(['Sea']) })).toMatchObject({ photo: { name: 'photo.txt' } })
    expect(await mutateAsync({ id: 1, file: new Blob(['Sea']), name: 'a.txt' })).toMatchObject({ photo: { name: 'a.txt' } })
    expect(harness.requests[0]).toBe('POST /app/data/v2/pictures/1/upload/photo? application/octet-stream')
  })

  it.each([
    ['too large', text('x'.repeat(21)), { status: 413, code: 'PAYLOAD_TOO_LARGE' }],
    ['of another type', text('\0'), { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' }],
  ])('has the error of a file that is %s', async (_case, file, problem) => {
    const { mutateAsync, error } = use('useAutoApiUpload', 'photo')
    await expect(mutateAsync({ id: 1, file })).rejects.toMatchObject({ name: 'AutoApiError', ...problem })
    expect(error.value).toMatchObject(problem)
    await expect(mutateAsync({ id: '..', file: text() })).rejects.toMatchObject({ status: 404 })
    expect(filesInFolder()).toEqual([])
  })

  it('is as before after it is cancelled', async () => {
    const { mutateAsync, cancel, isPending, error, progress } = use('useAutoApiUpload', 'photo')
    const run = mutateAsync({ id: 1, file: text() })
    await Promise.resolve()
    cancel()
    await expect(run).rejects.toMatchObject({ name: 'AutoApiError', status: 0, code: 'NO_ANSWER' })
    expect([isPending.value, error.value, progress.value]).toEqual([false, null, undefined])
  })

  it('ends the previous upload when the next begins, and keeps the progress of the next', async () => {
    const { mutateAsync, progress } = use('useAutoApiUpload', 'photo')
    const first = mutateAsync({ id: 1, file: text('first') })
    const second = mutateAsync({ id: 1, file: text('second') })
    await expect(first).rejects.toMatchObject({ status: 0 })
    expect(await second).toMatchObject({ photo: { size: 6 } })
    expect(progress.value).toEqual({ sent: 6, total: 6 })
  })

  it('sends the tag of the record, and has the current record if another write was first', async () => {
    const picture = use('useAutoApiGet', 1)
    await picture.suspense()
    const { mutateAsync } = use('useAutoApiUpload', 'photo', { ifMatch: true })
    await mutateAsync({ id: 1, file: text() })
    // The refetch brought the new tag.
    await mutateAsync({ id: 1, file: text('Second') })
    const tag = (harness.composables as unknown as Loose).autoApiTag!(picture.data.value)
    await use('useAutoApiUpdate').mutateAsync({ id: 1, title: 'Changed' })
    const late = use('useAutoApiUpload', 'photo', { ifMatch: tag })
    await expect(late.mutateAsync({ id: 1, file: text('Third') })).rejects.toMatchObject({
      status: 412,
      current: { title: 'Changed', photo: { size: 6 } },
    })
    await expect(mutateAsync({ id: 2, file: text() })).rejects.toMatchObject({ status: 428 })
  })

  it('returns a record with its tag, as other writes do', async () => {
    const { autoApiTag } = harness.composables as unknown as Loose
    const uploaded = await use('useAutoApiUpload', 'photo').mutateAsync({ id: 1, file: text() })
    const removed = await use('useAutoApiFileRemove', 'photo', { ifMatch: autoApiTag!(uploaded) }).mutateAsync(1)
    await use('useAutoApiUpdate', { ifMatch: autoApiTag!(removed) }).mutateAsync({ id: 1, title: 'Changed' })
    await expect(
      use('useAutoApiUpload', 'photo', { ifMatch: autoApiTag!(uploaded) }).mutateAsync({ id: 1, file: text() }),
    ).rejects.toMatchObject({ status: 412 })
  })
})

describe('useAutoApiFileRemove', () => {
  it('removes all files of a field, or one of a list', async () => {
    const { mutateAsync: upload } = use('useAutoApiUpload', 'scans')
    for (const name of ['a', 'b', 'c']) await upload({ id: 2, file: text(name, `${name}.txt`) })
    const list = use('useAutoApiList')
    await list.suspense()
    const scansOf = () => list.data.value.data[1].scans as { key: string, name: string }[]
    const { mutateAsync } = use('useAutoApiFileRemove', 'scans')
    await mutateAsync({ id: 2, key: scansOf()[1]!.key })
    expect(scansOf().map(({ name }) => name)).toEqual(['a.txt', 'c.txt'])
    expect(await mutateAsync(2)).toMatchObject({ id: 2, scans: [] })
    expect([scansOf(), filesInFolder()]).toEqual([[], []])
    await expect(mutateAsync(2)).rejects.toMatchObject({ status: 404, code: 'NOT_FOUND' })
  })

  it('sends the tag of the record', async () => {
    await use('useAutoApiUpload', 'photo').mutateAsync({ id: 1, file: text() })
    const { mutateAsync } = use('useAutoApiFileRemove', 'photo', { ifMatch: '"AAAAAAAAAAAAAAAA"' })
    await expect(mutateAsync(1)).rejects.toMatchObject({ status: 412, current: { photo: { size: 3 } } })
  })
})

describe('useAutoApiFile', () => {
  it('returns addresses that change with the file', async () => {
    const { mutateAsync } = use('useAutoApiUpload', 'photo')
    const fileOf = use('useAutoApiFile', 'photo')
    const record = await mutateAsync({ id: 1, file: text() })
    const { url, downloadUrl, name } = fileOf(record)
    expect([url, downloadUrl, name]).toEqual([
      `/app/data/v2/pictures/1/files/photo/${record.photo.key}`,
      `${url}?download=true`,
      'sea & sand.txt',
    ])
    expect((await harness.get(url.replace('/app', ''))).text).toBe('Sea')
    expect((await harness.get(downloadUrl.replace('/app', ''))).headers.get('content-disposition')).toMatch(/^attachment/)
    expect(fileOf(await mutateAsync({ id: 1, file: text('New') })).url).not.toBe(url)
  })

  it('returns a list for a list, and nothing without a file or without the key of the record', () => {
    const file = { key: 'a/b', name: 'a', type: 'x', size: 1, sha256: 'x' }
    const [fileOf, filesOf] = [use('useAutoApiFile', 'photo'), use('useAutoApiFile', 'scans')]
    expect([undefined, null, {}, { id: 1 }, { id: 1, photo: null }, { photo: file }, { id: '..', photo: file }].map(fileOf)).toEqual(
      Array(7).fill(undefined),
    )
    expect(filesOf({ id: 1, scans: [file] })).toEqual([
      { ...file, url: '/app/data/v2/pictures/1/files/scans/a%2Fb', downloadUrl: expect.any(String) },
    ])
    expect([filesOf({ id: 1, scans: [] }), filesOf({ scans: [file] }), filesOf(null), filesOf({ id: 1, scans: null })]).toEqual([
      [],
      undefined,
      undefined,
      undefined,
    ])
  })
})
