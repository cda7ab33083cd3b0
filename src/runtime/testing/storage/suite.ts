/** The tests that every file storage must pass. They need no test runner. */
import type { FileStorage } from '../../shared/file-storage'
import { equal, throws } from '../engine/check'

export interface FileStorageSuiteOptions {
  /** Opens a storage without files. Each test opens one and calls `close`. */
  readonly create: () => OpenedFileStorage | Promise<OpenedFileStorage>
  /**
   * The size in bytes of the largest file of the tests.
   * @default 20000000
   */
  readonly largest?: number
  /**
   * The number of files in the test of a long list.
   * @default 1100
   */
  readonly many?: number
}

export interface OpenedFileStorage {
  readonly storage: FileStorage
  readonly close: () => unknown
}

export interface FileStorageTest {
  /** The promise of the storage, as a sentence about it. */
  readonly name: string
  /** @throws When the storage breaks the promise. */
  readonly run: () => Promise<void>
}

type Case = readonly [name: string, run: (storage: FileStorage, largest: number, many: number) => Promise<void>]

/**
 * Returns the tests of everything that uploads expect from a storage.
 * @example
 * for (const { name, run } of fileStorageSuite({ create: () => ({ storage: ownStorage(), close: () => {} }) })) it(name, run)
 */
export function fileStorageSuite({ create, largest = 20_000_000, many = 1100 }: FileStorageSuiteOptions): readonly FileStorageTest[] {
  return CASES.map(([name, run]) => ({
    name,
    async run() {
      const { storage, close } = await create()
      try {
        await run(storage, largest, many)
      }
      finally {
        await close()
      }
    },
  }))
}

const KEY = 'posts/31/cover/0193-a_B'
const META = { type: 'application/octet-stream' }

const CASES: readonly Case[] = [
  ['returns the bytes that it stored', async (storage) => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
    await storage.put(KEY, toChunks(bytes, 100), META)
    equal(await read(storage, KEY), bytes, 'the file')
  }],
  ['stores an empty file', async (storage) => {
    await storage.put(KEY, toChunks(new Uint8Array(), 1), META)
    equal(await read(storage, KEY), new Uint8Array(), 'the file')
    equal(await keys(storage), [KEY], 'the keys')
  }],
  ['stores chunks of any size, up to a large file', async (storage, largest) => {
    for (const [size, chunk] of [[1, 1], [70_000, 997], [largest, 65_536], [largest, largest]] as const) {
      const key = `posts/1/cover/${size}-${chunk}`
      await storage.put(key, counted(size, chunk), META)
      let at = 0
      for await (const bytes of await get(storage, key)) {
        if (!isPattern(bytes, at)) throw new Error(`the chunk at byte ${at} differs`)
        at += bytes.byteLength
      }
      equal(at, size, 'the length')
    }
  }],
  ['returns ranges, also of a file of several parts', async (storage, largest) => {
    await storage.put(KEY, counted(largest, 65_536), META)
    for (const [start, end] of [[0, 0], [5, 9], [largest - 3, largest - 1], [8_388_600, 8_388_620], [65_535, 65_536]] as const) {
      if (end >= largest) continue
      const expected = Uint8Array.from({ length: end - start + 1 }, (_, index) => (start + index) % 251)
      equal(await read(storage, KEY, { start, end }), expected, `bytes ${start} to ${end}`)
    }
  }],
  ['keeps files apart', async (storage) => {
    for (const key of [KEY, 'posts/3/cover/0193-a_B', 'posts/31/cover/0193-a_B2']) await storage.put(key, toChunks(text(key), 9), META)
    for (const key of [KEY, 'posts/3/cover/0193-a_B', 'posts/31/cover/0193-a_B2']) equal(await read(storage, key), text(key), key)
  }],
  ['returns nothing for a key without a file', async (storage) => {
    equal(await storage.get(KEY), undefined, 'a missing file')
    await storage.put(KEY, toChunks(text('a'), 1), META)
    equal(await storage.get('posts/31/cover'), undefined, 'the beginning of a key')
  }],
  ['removes a file, and does nothing if there is none', async (storage) => {
    await storage.put(KEY, toChunks(text('a'), 1), META)
    await storage.delete(KEY)
    await storage.delete(KEY)
    equal(await storage.get(KEY), undefined, 'the file')
    equal(await keys(storage), [], 'the keys')
    await storage.put(KEY, toChunks(text('b'), 1), META)
    equal(await read(storage, KEY), text('b'), 'the new file')
  }],
  ['lists all keys, and those with a prefix', async (storage) => {
    equal(await keys(storage), [], 'the keys of an empty storage')
    const all = ['posts/3/cover/a', 'posts/31/cover/a', 'posts/31/files/b', 'users/31/photo/c']
    for (const key of all) await storage.put(key, toChunks(text(key), 5), META)
    equal(await keys(storage), all, 'all keys')
    equal(await keys(storage, 'posts/31/'), ['posts/31/cover/a', 'posts/31/files/b'], 'the keys of a record')
    equal(await keys(storage, 'posts/4/'), [], 'the keys of a record without files')
  }],
  ['lists many keys', async (storage, _largest, many) => {
    const all = Array.from({ length: many }, (_, index) => `posts/${index}/cover/a`).sort()
    for (let at = 0; at < all.length; at += 50)
      await Promise.all(all.slice(at, at + 50).map(key => storage.put(key, toChunks(text('a'), 1), META)))
    equal((await keys(storage)).length, all.length, 'the number of keys')
  }],
  ['keeps nothing of a file whose chunks end with an error', async (storage, largest) => {
    for (const size of [0, 10, largest]) {
      const failure = new Error('The client left.')
      const thrown = await throws(() => storage.put(KEY, failing(size, failure), META), `a stream that fails after ${size} bytes`)
      equal(thrown === failure, true, 'the error is that of the stream')
      equal(await storage.get(KEY), undefined, 'the file')
      equal(await keys(storage), [], 'the keys')
    }
  }],
  ['stores and removes files at once', async (storage) => {
    const all = Array.from({ length: 30 }, (_, index) => `posts/${index % 3}/cover/${index}`)
    await Promise.all(all.map(async (key) => {
      await storage.put(key, toChunks(text(key), 3), META)
      await storage.delete(key)
    }))
    equal(await keys(storage), [], 'the keys')
  }],
  ['stops reading when the consumer stops', async (storage, largest) => {
    await storage.put(KEY, counted(largest, 65_536), META)
    for await (const chunk of await get(storage, KEY)) {
      equal(chunk.byteLength > 0, true, 'the first chunk')
      break
    }
    equal((await read(storage, KEY, { start: 0, end: 2 })).byteLength, 3, 'the next reader')
  }],
]

async function get(storage: FileStorage, key: string, range?: { start: number, end: number }): Promise<AsyncIterable<Uint8Array>> {
  const chunks = await storage.get(key, range)
  if (!chunks) throw new Error(`there is no file under ${key}`)
  return chunks
}

async function read(storage: FileStorage, key: string, range?: { start: number, end: number }): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of await get(storage, key, range)) chunks.push(chunk)
  return new Uint8Array(await new Blob(chunks as Uint8Array<ArrayBuffer>[]).arrayBuffer())
}

async function keys(storage: FileStorage, prefix?: string): Promise<string[]> {
  const all: string[] = []
  for await (const key of storage.list(prefix)) all.push(key)
  return all.sort()
}

const text = (value: string) => new TextEncoder().encode(value)

async function* toChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size)
}

const PERIOD = 251
const PATTERN = Uint8Array.from({ length: PERIOD * 300 }, (_, index) => index % PERIOD)

/** Yields bytes that tell their position. */
async function* counted(length: number, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < length; at += size) yield patternAt(at, Math.min(size, length - at))
}

function patternAt(start: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  for (let at = 0; at < length;) {
    const piece = PATTERN.subarray((start + at) % PERIOD).subarray(0, length - at)
    bytes.set(piece, at)
    at += piece.byteLength
  }
  return bytes
}

function isPattern(bytes: Uint8Array, start: number): boolean {
  const expected = patternAt(start, bytes.byteLength)
  return bytes.every((byte, index) => byte === expected[index])
}

async function* failing(length: number, error: Error): AsyncGenerator<Uint8Array> {
  yield* counted(length, 65_536)
  throw error
}
