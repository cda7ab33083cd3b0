/** R2 and drivers of unstorage, as small stand-ins that refuse what the real ones refuse. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { FileStorage } from '../../../src/runtime/shared/file-storage'
import { r2Storage, type R2Bucket } from '../../../src/runtime/plugins/file-upload/storage/r2'
import { unstorageStorage, type UnstorageDriver } from '../../../src/runtime/plugins/file-upload/storage/unstorage'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

const KEY = 'posts/31/cover/a'
const META = { type: 'image/png' }
const PART = 8 * 1024 * 1024

async function* chunks(...parts: readonly (string | Uint8Array | Error)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (part instanceof Error) throw part
    yield Buffer.from(part as never)
  }
}

async function read(storage: FileStorage, range?: { start: number, end: number }): Promise<string[] | undefined> {
  const found = await storage.get(KEY, range)
  if (!found) return undefined
  const all: string[] = []
  for await (const chunk of found) all.push(Buffer.from(chunk).toString())
  return all
}

async function keys(storage: FileStorage, prefix?: string): Promise<string[]> {
  const all: string[] = []
  for await (const key of storage.list(prefix)) all.push(key)
  return all
}

async function refusesKeys(storage: FileStorage): Promise<void> {
  for (const key of ['../a', 'a/', '', 'a:b']) {
    await expect(storage.put(key, chunks('a'), META)).rejects.toThrow(TypeError)
    await expect(storage.get(key)).rejects.toThrow(TypeError)
    await expect(storage.delete(key)).rejects.toThrow(TypeError)
  }
  for (const prefix of ['../', 'a', '/']) await expect(keys(storage, prefix)).rejects.toThrow(TypeError)
}

describe('R2', () => {
  /** Lists two keys at once, and refuses parts that R2 refuses. */
  function createBucket() {
    const objects = new Map<string, { bytes: Uint8Array, type: string }>()
    const uploads = new Set<string>()
    const bucket = {
      put: vi.fn(async (key, bytes, { httpMetadata }) => void objects.set(key, { bytes, type: httpMetadata.contentType })),
      createMultipartUpload: vi.fn(async (key, { httpMetadata }) => {
        const parts: Uint8Array[] = []
        uploads.add(key)
        return {
          uploadPart: async (number: number, bytes: Uint8Array) => {
            if (number !== parts.length + 1) throw new Error(`part ${number} after ${parts.length}`)
            parts.push(bytes)
            return { number }
          },
          complete: async (sent: readonly unknown[]) => {
            if (JSON.stringify(sent) !== JSON.stringify(parts.map((_, index) => ({ number: index + 1 })))) throw new Error('other parts')
            const [first] = parts
            if (first!.byteLength < 5 * 1024 * 1024) throw new Error('a small part')
            if (parts.slice(0, -1).some(part => part.byteLength !== first!.byteLength)) throw new Error('parts of several sizes')
            objects.set(key, { bytes: Buffer.concat(parts), type: httpMetadata.contentType })
            uploads.delete(key)
          },
          abort: async () => void uploads.delete(key),
        }
      }),
      get: vi.fn(async (key, options) => {
        const found = objects.get(key)
        if (!found) return null
        const { offset, length } = options?.range ?? { offset: 0, length: found.bytes.byteLength }
        return { body: new Blob([Uint8Array.from(found.bytes.subarray(offset, offset + length))]).stream() }
      }),
      delete: vi.fn(async key => void objects.delete(key)),
      list: vi.fn(async ({ prefix, cursor = '0' }) => {
        const all = [...objects.keys()].filter(key => key.startsWith(prefix))
        const end = Number(cursor) + 2
        // The last page can have a cursor as well.
        return { objects: all.slice(Number(cursor), end).map(key => ({ key })), truncated: end < all.length, cursor: String(end) }
      }),
    } satisfies R2Bucket
    return { bucket, objects, uploads, storage: r2Storage(bucket) }
  }

  it.each([[0, 0], [1, 0], [PART, 0], [PART + 1, 2], [2 * PART, 2], [2 * PART + 1, 3]])('stores a file of %i bytes in %i parts',
    async (size, parts) => {
      const { bucket, objects, uploads, storage } = createBucket()
      const bytes = new Uint8Array(size).fill(7)
      await storage.put(KEY, chunks(bytes), META)
      expect(bucket.put).toHaveBeenCalledTimes(parts === 0 ? 1 : 0)
      expect(bucket.createMultipartUpload).toHaveBeenCalledTimes(parts === 0 ? 0 : 1)
      expect(objects.get(KEY)!.type).toBe('image/png')
      expect(Buffer.compare(objects.get(KEY)!.bytes, bytes)).toBe(0)
      expect(uploads.size).toBe(0)
    })

  it('keeps no part of a file whose chunks fail', async () => {
    const { objects, uploads, storage } = createBucket()
    const error = new Error('The client left.')
    for (const before of [0, 10, PART + 1, 2 * PART, 2 * PART + 1]) await expect(storage.put(KEY, chunks(new Uint8Array(before), error),
      META)).rejects.toBe(error)
    expect([objects.size, uploads.size]).toEqual([0, 0])
  })

  it('throws the first error, and logs that the parts could not be removed', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { bucket, storage } = createBucket()
    const failure = new Error('abort failed')
    bucket.createMultipartUpload.mockResolvedValue({
      uploadPart: () => Promise.reject(new Error('part failed')), complete: async () => {}, abort: () => Promise.reject(failure),
    })
    await expect(storage.put(KEY, chunks(new Uint8Array(PART + 1)), META)).rejects.toThrow('part failed')
    expect(log).toHaveBeenCalledExactlyOnceWith('[auto-api] An unfinished upload to R2 was not removed.', failure)
  })

  it('returns files and ranges, and nothing for a missing file', async () => {
    const { bucket, storage } = createBucket()
    expect(await read(storage)).toBeUndefined()
    await storage.put(KEY, chunks('0123456789'), META)
    expect(await read(storage)).toEqual(['0123456789'])
    expect(bucket.get).toHaveBeenLastCalledWith(KEY, undefined)
    expect(await read(storage, { start: 3, end: 5 })).toEqual(['345'])
    expect(bucket.get).toHaveBeenLastCalledWith(KEY, { range: { offset: 3, length: 3 } })
  })

  it('lists all pages, and removes', async () => {
    const { bucket, storage } = createBucket()
    expect(await keys(storage)).toEqual([])
    expect(bucket.list).toHaveBeenLastCalledWith({ prefix: '' })
    const all = ['a/1', 'a/2', 'a/3', 'b/1', 'b/2']
    for (const key of all) await storage.put(key, chunks(key), META)
    bucket.list.mockClear()
    expect(await keys(storage)).toEqual(all)
    expect(bucket.list.mock.calls).toEqual([[{ prefix: '' }], [{ prefix: '', cursor: '2' }], [{ prefix: '', cursor: '4' }]])
    expect(await keys(storage, 'b/')).toEqual(['b/1', 'b/2'])
    await storage.delete('b/1')
    expect(await keys(storage, 'b/')).toEqual(['b/2'])
  })

  it('refuses keys that could leave the storage', () => refusesKeys(createBucket().storage))
})

describe('a driver of unstorage', () => {
  /** @param hasRaw whether the driver stores bytes, or only text */
  function createDriver(hasRaw: boolean) {
    const items = new Map<string, unknown>()
    const set = (key: string, value: unknown, options: object) => void items.set(key, [value, options][0])
    const get = (key: string) => items.get(key) ?? null
    const driver: UnstorageDriver = {
      name: 'test', removeItem: key => void items.delete(key), getKeys: () => [...items.keys()],
      ...hasRaw ? { setItemRaw: set, getItemRaw: get } : { setItem: set, getItem: get },
    }
    return { items, driver, storage: unstorageStorage(driver) }
  }

  it.each<[UnstorageDriver, string]>([
    [{}, '`unknown` cannot store files: it has no removeItem, getKeys, setItem, getItem.'],
    [{ name: 'http', setItem: () => {} }, '`http` cannot store files: it has no removeItem, getKeys, getItem.'],
    [{ name: 'x', removeItem: () => {}, getKeys: () => [], setItemRaw: () => {} }, '`x` cannot store files: it has no setItem, getItem.'],
    [{ name: 'x', removeItem: () => {}, getKeys: () => [], getItemRaw: () => {}, getItem: () => {} },
      '`x` cannot store files: it has no setItem.'],
    [{ name: 'x', getKeys: () => [], setItemRaw: () => {}, getItemRaw: () => {} }, '`x` cannot store files: it has no removeItem.'],
    [{ name: 'x', removeItem: () => {}, setItem: () => {}, getItem: () => {} }, '`x` cannot store files: it has no getKeys.'],
  ])('is refused if it cannot write, read, remove and list: %o', (driver, message) => {
    expect(() => unstorageStorage(driver)).toThrow(new TypeError(`[auto-api] The driver ${message}`))
  })

  it.each([true, false])('stores every byte and reads ranges, with bytes: %s', async (hasRaw) => {
    const { items, storage } = createDriver(hasRaw)
    expect(await storage.get(KEY)).toBeUndefined()
    const bytes = Buffer.from(Uint8Array.from({ length: 70_000 }, (_, index) => index % 256))
    await storage.put(KEY, chunks(bytes.subarray(0, 40_000), bytes.subarray(40_000)), META)
    expect([...items.keys()]).toEqual(['posts:31:cover:a'])
    expect(Buffer.isBuffer(items.get('posts:31:cover:a'))).toBe(hasRaw)
    if (!hasRaw) expect(items.get('posts:31:cover:a')).toBe(`base64:${bytes.toString('base64')}`)
    const stored: Uint8Array[] = []
    for await (const chunk of (await storage.get(KEY))!) stored.push(chunk)
    expect(Buffer.concat(stored).equals(bytes)).toBe(true)
    const range: Uint8Array[] = []
    for await (const chunk of (await storage.get(KEY, { start: 254, end: 257 }))!) range.push(chunk)
    expect(range.map(chunk => [...chunk])).toEqual([[254, 255, 0, 1]])
    await storage.delete(KEY)
    expect(items.size).toBe(0)
  })

  it('gets bytes where the runtime has no `Buffer`', async () => {
    const { items, storage } = createDriver(true)
    const stored = storage.put(KEY, (async function* () {
      yield Uint8Array.of(1, 2)
      vi.stubGlobal('Buffer', undefined)
    })(), META)
    await stored
    vi.unstubAllGlobals()
    expect(items.get('posts:31:cover:a')).toEqual(Uint8Array.of(1, 2))
    expect(Buffer.isBuffer(items.get('posts:31:cover:a'))).toBe(false)
  })

  it('uses text if it can only write bytes, and not read them', async () => {
    const { items, driver } = createDriver(false)
    await unstorageStorage({ ...driver, setItemRaw: () => {} }).put(KEY, chunks('a'), META)
    await unstorageStorage({ ...driver, getItemRaw: () => {} }).put('b', chunks('a'), META)
    expect([...items.values()]).toEqual(['base64:YQ==', 'base64:YQ=='])
  })

  it.each<[string, () => unknown, string[] | undefined]>([
    ['bytes', () => Uint8Array.of(97, 98), ['ab']], ['a buffer', () => Uint8Array.of(97, 98).buffer, ['ab']],
    ['a blob', () => new Blob(['ab']), ['ab']],
    ['a stream', () => new Blob(['ab']).stream(), ['ab']], ['text', () => 'ab', ['ab']], ['text in base64', () => 'base64:YWI=', ['ab']],
    ['a number, as drivers that parse values', () => 12, ['12']], ['a promise', () => Promise.resolve('ab'), ['ab']],
    ['nothing', () => null, undefined],
    ['no value', () => undefined, undefined], ['empty text', () => '', []],
  ])('can return %s', async (_kind, item, content) => {
    const { driver } = createDriver(true)
    expect(await read(unstorageStorage({ ...driver, getItemRaw: item }))).toEqual(content)
    expect(await read(unstorageStorage({ ...createDriver(false).driver, getItem: item }))).toEqual(content)
  })

  it.each([true, false])('keeps nothing of a file that it cannot write, with bytes: %s', async (hasRaw) => {
    const { items, driver } = createDriver(hasRaw)
    const failing = (key: string) => {
      items.set(key, 'half')
      throw new Error('The disk is full.')
    }
    const storage = unstorageStorage({ ...driver, ...hasRaw ? { setItemRaw: failing } : { setItem: failing } })
    await expect(storage.put(KEY, chunks('a'), META)).rejects.toThrow('The disk is full.')
    expect(items.size).toBe(0)
    const stuck = unstorageStorage({ ...driver, ...hasRaw ? { setItemRaw: failing } : { setItem: failing }, removeItem: () => {
      throw new Error('The disk is gone.')
    } })
    await expect(stuck.put(KEY, chunks('a'), META)).rejects.toThrow('The disk is full.')
  })

  it('writes nothing of a file whose chunks fail', async () => {
    const { items, storage } = createDriver(true)
    const error = new Error('The client left.')
    await expect(storage.put(KEY, chunks('a', error), META)).rejects.toBe(error)
    expect(items.size).toBe(0)
  })

  it('can list keys in other forms, and keys that were not asked for', async () => {
    const { driver } = createDriver(true)
    const getKeys = vi.fn(() => ['posts:31:cover:a', 'posts/3/cover/b', 'posts\\31\\files\\c', 'users:31:photo:d'])
    const storage = unstorageStorage({ ...driver, getKeys })
    expect(await keys(storage)).toEqual(['posts/31/cover/a', 'posts/3/cover/b', 'posts/31/files/c', 'users/31/photo/d'])
    expect(getKeys).toHaveBeenLastCalledWith('', {})
    expect(await keys(storage, 'posts/31/')).toEqual(['posts/31/cover/a', 'posts/31/files/c'])
    expect(getKeys).toHaveBeenLastCalledWith('posts:31:', {})
  })

  it('refuses keys that could leave the storage', () => refusesKeys(createDriver(true).storage))
})
