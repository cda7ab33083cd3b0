/** Every storage of files passes the same tests: the file system, S3, R2 and drivers of unstorage. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Miniflare } from 'miniflare'
import { createStorage } from 'unstorage'
import fsDriver from 'unstorage/drivers/fs'
import memoryDriver from 'unstorage/drivers/memory'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  fileSystemStorage,
  r2Storage,
  s3Storage,
  unstorageStorage,
  type FileStorage,
  type R2Bucket,
} from '../../../src/runtime/plugins/index'
import { fileStorageSuite } from '../../../src/runtime/testing/index'
import { S3_KEYS, S3_REGION, startS3, type LocalS3 } from '../../support/s3'
import { isFull } from '../../support/tiers'

afterEach(() => void vi.restoreAllMocks())

function inFolder(create: (folder: string) => FileStorage) {
  const folder = mkdtempSync(join(tmpdir(), 'files-'))
  return { storage: create(join(folder, 'a/b')), close: () => rmSync(folder, { recursive: true }) }
}

let s3: LocalS3
beforeAll(async () => {
  s3 = await startS3()
})
afterAll(() => s3.close())

function bucket(prefix?: string): FileStorage {
  s3.objects.clear()
  s3.uploads.clear()
  return s3Storage({ bucket: 'files', region: S3_REGION, endpoint: s3.endpoint, prefix }, S3_KEYS)
}

let miniflare: Miniflare | undefined
afterAll(() => miniflare?.dispose())

interface ClearableBucket extends R2Bucket {
  list: (options?: object) => Promise<{ objects: { key: string }[], truncated: boolean }>
  delete: (keys: string | string[]) => Promise<void>
}

async function r2(): Promise<FileStorage> {
  miniflare ??= new Miniflare({ modules: true, script: 'export default {}', r2Buckets: ['FILES'] })
  const files = await miniflare.getR2Bucket('FILES') as unknown as ClearableBucket
  for (let page = await files.list(); page.objects.length > 0; page = await files.list())
    await files.delete(page.objects.map(({ key }) => key))
  return r2Storage(files)
}

/** A driver that stores only text, as several drivers for databases. */
function textDriver() {
  const items = new Map<string, string>()
  return {
    name: 'text',
    setItem: (key: string, value: string) => void items.set(key, value),
    getItem: (key: string) => items.get(key) ?? null,
    removeItem: (key: string) => void items.delete(key),
    getKeys: () => [...items.keys()],
  }
}

/** Large enough for two parts, where a storage sends parts. */
const LARGE = 9_000_000

describe.each<[string, () => ReturnType<Parameters<typeof fileStorageSuite>[0]['create']>, largest?: number, many?: number]>([
  ['the file system', () => inFolder(base => fileSystemStorage({ base }))],
  ['S3', () => ({ storage: bucket(), close: () => expect(s3.uploads.size).toBe(0) }), LARGE],
  [
    'S3 with a prefix',
    () => ({ storage: bucket('app/'), close: () => expect([...s3.objects.keys()].every(key => key.startsWith('app/'))).toBe(true) }),
  ],
  ['R2', async () => ({ storage: await r2(), close: () => {} }), LARGE, isFull ? 1100 : 20],
  ['the memory driver of unstorage', () => ({ storage: unstorageStorage(memoryDriver()), close: () => {} })],
  ['the fs driver of unstorage', () => inFolder(base => unstorageStorage(fsDriver({ base })))],
  ['a storage of unstorage', () => ({ storage: unstorageStorage(createStorage({ driver: memoryDriver() }) as never), close: () => {} })],
  ['a driver without bytes', () => ({ storage: unstorageStorage(textDriver()), close: () => {} })],
])('%s', (_name, create, largest = 200_000, many) => {
  it.each(fileStorageSuite({ create, largest, many }).map(({ name, run }) => [name, run] as const))(
    '%s',
    async (_promise, run) => run(),
    60_000,
  )

  it('refuses keys that could leave the storage', async () => {
    const { storage, close } = await create()
    const list = async (prefix: string) => storage.list(prefix)[Symbol.asyncIterator]().next()
    for (const key of ['', '/', '../a', 'a/../b', 'a//b', 'a/', '/a', 'a.b', 'a\\b', 'a:b', 'a\0b', 'a b', 'ä']) {
      await expect(storage.put(key, chunks('a'), { type: 'text/plain' })).rejects.toThrow(TypeError)
      await expect(storage.get(key)).rejects.toThrow(TypeError)
      await expect(storage.delete(key)).rejects.toThrow(TypeError)
      if (key !== '' && key !== 'a/') await expect(list(key)).rejects.toThrow(TypeError)
    }
    await close()
  })
})

const KEY = 'posts/1/cover/a'
async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text)
}

describe('S3', () => {
  it('sends the media type, and repeats requests that the service fails', async () => {
    const storage = bucket()
    s3.failures.push(500, 503, 429)
    await storage.put(KEY, chunks('a', 'b'), { type: 'image/png' })
    expect(s3.objects.get(KEY)).toEqual({ body: Buffer.from('ab'), type: 'image/png' })
  })

  it('throws the reason of the service, without its keys', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const storage = s3Storage({ bucket: 'files', region: S3_REGION, endpoint: s3.endpoint }, { ...S3_KEYS, secretAccessKey: 'wrong' })
    await expect(storage.delete(KEY)).rejects.toThrow('[auto-api] The S3 service responded with 403 to DELETE: SignatureDoesNotMatch')
    s3.failures.push(500, 500, 500, 500)
    await expect(bucket().get(KEY)).rejects.toThrow('500')
  })

  it('removes the parts of a file that cannot be completed', async () => {
    const storage = bucket()
    async function* large() {
      for (let part = 0; part < 20; part++) {
        if (part === 19) s3.failures.push(403)
        yield new Uint8Array(1_000_000)
      }
    }
    await expect(storage.put(KEY, large(), { type: 'image/png' })).rejects.toThrow('403')
    expect([s3.uploads.size, s3.objects.size]).toEqual([0, 0])
  })

  it('removes uploads that a killed server left, if they are old enough', async () => {
    const storage = bucket()
    s3.uploads.set('old', { key: 'posts/1/cover/old', parts: new Map(), started: new Date('2026-01-01') })
    s3.uploads.set('new', { key: 'posts/1/cover/new', parts: new Map(), started: new Date('2026-01-03') })
    await storage.removeUnfinished!(new Date('2026-01-02'))
    expect([...s3.uploads.keys()]).toEqual(['new'])
  })

  it('signs every header, and sends the token of temporary keys', async () => {
    const sent = vi.spyOn(globalThis, 'fetch')
    const options = { bucket: 'files', region: S3_REGION, endpoint: s3.endpoint }
    await s3Storage(options, { ...S3_KEYS, sessionToken: 'temporary' }).put(KEY, chunks('a'), { type: 'image/png' })
    const headers = sent.mock.calls[0]![1]!.headers as Headers
    expect(headers.get('x-amz-security-token')).toBe('temporary')
    expect(headers.get('authorization')).toContain('SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token,')
  })
})
