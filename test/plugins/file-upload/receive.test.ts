/** Receiving a file: how much of it is read before it is refused, that its source is closed, and what is counted while it is stored. */
import { describe, expect, it } from 'vitest'
import { receiveFile, type FileLimits, type ReceivedFile } from '../../../src/runtime/plugins/file-upload/content/receive'
import { typesOf } from '../../../src/runtime/plugins/file-upload/content/types'
import { jpeg, png, sha256 } from './bytes'

const accept = (...entries: string[]): FileLimits => ({ accepted: entries.flatMap(typesOf), maxSize: 5_000_000, maxPixels: 1_000_000 })
const TEXT = accept('text/plain')

/** A source that remembers how many bytes were read, and whether the reader closed it. */
function createSource(chunks: Iterable<Uint8Array | string>) {
  const state = { read: 0, isClosed: false }
  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      for (const chunk of chunks) {
        const bytes = Buffer.from(chunk as never)
        state.read += bytes.byteLength
        yield bytes
      }
    }
    finally {
      state.isClosed = true
    }
  }
  return { state, source: read() }
}

/** A large image in small chunks, and then bytes without end. */
function* inPieces(bytes: Uint8Array): Generator<Uint8Array | string> {
  for (let at = 0; at < bytes.byteLength; at += 500) yield bytes.subarray(at, at + 500)
  yield* endless('', 500)
}

function* endless(head: Uint8Array | string, size: number): Generator<Uint8Array | string> {
  yield head
  for (;;) yield Buffer.alloc(size, 0x61)
}

async function readAll({ chunks }: ReceivedFile): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) {
    expect(chunk.byteLength).toBeGreaterThan(0)
    all.push(chunk)
  }
  return Buffer.concat(all)
}

const split = (text: string, size: number) =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, index) => text.slice(index * size, (index + 1) * size))

describe('a refused file', () => {
  it.each<[string, Iterable<Uint8Array | string>, FileLimits, limit: number]>([
    ['whose first bytes are of no accepted type', endless('\0', 4095), accept('image/*'), 4096],
    ['that is no text', endless('\0', 1000), TEXT, 4096 + 1000],
    ['that is too large', endless('', 700), { ...TEXT, maxSize: 1500 }, 1500 + 700],
    ['with too many pixels', endless(png(1001, 1000), 4096), accept('image/*'), 4096 + 200],
    ['with too many pixels after its first bytes', inPieces(jpeg(1001, 1000, 5000)), accept('image/*'), 2 * (4096 + 500) + 500],
    ['that has image data before its size', endless(Buffer.from('ffd8ffda0002', 'hex'), 4090), accept('image/*'), 4096],
    ['whose size does not come', endless(Buffer.from('ffd8', 'hex'), 4094), accept('image/*'), 4096],
  ])('%s is read no further, and its source is closed', async (_case, chunks, limits, limit) => {
    const { source, state } = createSource(chunks)
    await expect(receiveFile(source, {}, limits)).rejects.toHaveProperty('status')
    expect(state.read).toBeLessThanOrEqual(limit)
    expect(state.isClosed).toBe(true)
  })

  it('is read for its size up to one megabyte', async () => {
    const { source, state } = createSource((function* () {
      yield Buffer.from('ffd8', 'hex')
      for (;;) yield Buffer.concat([Buffer.from('ffe1fffe', 'hex'), Buffer.alloc(65_532)])
    })())
    await expect(receiveFile(source, {}, { ...accept('image/*'), maxSize: 1e9 })).rejects.toMatchObject({ status: 415 })
    expect(state.read).toBeGreaterThanOrEqual(1024 * 1024)
    expect(state.read).toBeLessThanOrEqual(1024 * 1024 + 65_536)
  })

  it('names the accepted types, and what is wrong', async () => {
    const fields = accept('image/png', 'text/plain')
    await expect(receiveFile(createSource(['\0']).source, {}, fields)).rejects.toMatchObject({
      status: 415, message: 'The content of the file is none of the accepted types.',
      data: { code: 'UNSUPPORTED_MEDIA_TYPE', reason: 'content', accepted: ['image/png', 'text/plain'] },
    })
    await expect(receiveFile(createSource(['a']).source, { type: 'image/png' }, fields)).rejects.toMatchObject({
      message: 'The declared type contradicts the content of the file.', data: { reason: 'type', accepted: ['image/png', 'text/plain'] },
    })
    await expect(receiveFile(createSource(['a']).source, { name: 'a.png' }, fields)).rejects.toMatchObject({
      message: 'The extension of the name contradicts the content of the file.', data: { reason: 'name' },
    })
    const withoutSize = 'The file is not a valid image/png: it does not contain its width and height.'
    for (const bytes of [png(0, 1), png(1, 0), png().subarray(0, 23), png().fill(0, 12, 16)])
      await expect(receiveFile(createSource([bytes]).source, {}, fields)).rejects.toMatchObject({ status: 415, message: withoutSize })
  })
})

describe('an image', () => {
  it('can have as many pixels as the field allows', async () => {
    const limits = { ...accept('image/png'), maxPixels: 200 }
    expect((await receiveFile(createSource([png(10, 20)]).source, {}, limits)).dimensions).toEqual({ width: 10, height: 20 })
    await expect(receiveFile(createSource([png(10, 21)]).source, {}, limits)).rejects.toMatchObject({
      status: 400, data: { code: 'IMAGE_TOO_LARGE', width: 10, height: 21, maxPixels: 200 },
    })
    for (const [width, height] of [[0, 5], [5, 0]])
      await expect(receiveFile(createSource([png(width, height)]).source, {}, limits)).rejects.toMatchObject({ status: 415 })
  })

  it('whose size comes late is passed on as a whole', async () => {
    const bytes = jpeg(30, 40, 20_000)
    const file = await receiveFile(createSource([bytes.subarray(0, 10), bytes.subarray(10, 15_000), bytes.subarray(15_000)]).source, {},
      accept('image/*'))
    expect(file).toMatchObject({ type: 'image/jpeg', dimensions: { width: 30, height: 40 } })
    expect((await readAll(file)).equals(bytes)).toBe(true)
    expect(await file.finish()).toEqual({ size: bytes.byteLength, sha256: sha256(bytes) })
  })

  it('is the only file with a width and a height', async () => {
    expect(await receiveFile(createSource(['a']).source, {}, TEXT)).not.toHaveProperty('dimensions')
  })
})

describe('an accepted file', () => {
  it('is passed on without empty chunks, and its source is closed', async () => {
    const { source, state } = createSource(['', 'a', '', 'x'.repeat(5000), '', 'b', ''])
    const file = await receiveFile(source, { name: 'a.txt' }, TEXT)
    expect(await readAll(file)).toEqual(Buffer.from(`a${'x'.repeat(5000)}b`))
    expect(await file.finish()).toEqual({ size: 5002, sha256: sha256(Buffer.from(`a${'x'.repeat(5000)}b`)) })
    expect(state.isClosed).toBe(true)
  })

  it('can be empty', async () => {
    const file = await receiveFile(createSource([]).source, {}, TEXT)
    expect(await readAll(file)).toEqual(Buffer.alloc(0))
    expect(await file.finish()).toEqual({ size: 0, sha256: sha256(Buffer.alloc(0)) })
  })

  it('is read no further than its first bytes until it is stored', async () => {
    const { source, state } = createSource(endless('a', 4095))
    await receiveFile(source, {}, { ...TEXT, maxSize: 1e9 })
    expect(state.read).toBe(4096)
  })

  it('that is not stored after all can be discarded', async () => {
    const { source, state } = createSource(endless('a', 5000))
    const file = await receiveFile(source, {}, TEXT)
    expect(state.isClosed).toBe(false)
    await file.discard()
    expect(state.isClosed).toBe(true)
  })

  it('can come from a source that cannot be closed', async () => {
    const open = (...chunks: string[]) => {
      const { source } = createSource(chunks)
      return { [Symbol.asyncIterator]: () => ({ next: () => source.next() }) }
    }
    expect(await readAll(await receiveFile(open('a', 'b'), {}, TEXT))).toEqual(Buffer.from('ab'))
    await (await receiveFile(open('a', 'b'), {}, TEXT)).discard()
    await expect(receiveFile(open('\0'), {}, TEXT)).rejects.toMatchObject({ status: 415 })
  })

  it('closes its source if the storage stops reading', async () => {
    const { source, state } = createSource(endless('a', 5000))
    const file = await receiveFile(source, {}, TEXT)
    for await (const chunk of file.chunks) if (chunk.byteLength > 0) break
    expect(state.isClosed).toBe(true)
  })

  it.each([4, 5000])('of at most the maximum size is stored, with %i bytes', async (maxSize) => {
    for (const size of [maxSize - 1, maxSize, maxSize + 1]) {
      const isTooLarge = size > maxSize
      const received = (async () => readAll(await receiveFile(createSource(split('x'.repeat(size), 1000)).source, {},
        { ...TEXT, maxSize })))()
      if (isTooLarge) await expect(received).rejects.toMatchObject({ status: 413, data: { code: 'PAYLOAD_TOO_LARGE' } })
      else expect((await received).byteLength).toBe(size)
    }
  })

  it.each([['a', 'a.txt'], ['', 'file.txt'], ['a.txt', 'a.txt'], ['a.LOG', 'a.LOG'], ['a.unknown', 'a.unknown.txt'],
    ['../a.2026', 'a.2026.txt'], [undefined, 'file.txt']])(
    'with the name %j is called %j', async (name, called) => {
      expect((await receiveFile(createSource(['a']).source, { name }, TEXT)).name).toBe(called)
    })

  it('has the name that its extension is taken from', async () => {
    // Without the trailing dot, the extension is that of a program.
    await expect(receiveFile(createSource(['a']).source, { name: 'a.php. ' }, TEXT)).rejects.toMatchObject({ data: { reason: 'name' } })
    await expect(receiveFile(createSource(['a']).source, { name: 'a.p\u200Bhp' }, TEXT)).rejects.toMatchObject({ data: { reason: 'name' } })
  })
})

describe('text after its first bytes', () => {
  const HEAD = 'x'.repeat(4096)
  const receive = async (chunks: Iterable<Uint8Array | string>,
    limits = TEXT) => readAll(await receiveFile(createSource(chunks).source, {}, limits))

  it('is refused with markup that is split between chunks of any size', async () => {
    for (const tag of ['<script>', '<!doctype', '<frameset/', '<?xml', '<!--', '<template ']) for (let size = 1; size <= 12; size++)
      await expect(receive([HEAD, ...split(`${tag}${'y'.repeat(30)}`, size)])).rejects.toMatchObject({ status: 415,
        data: { reason: 'content' } })
  })

  it('is refused with markup after many small chunks', async () => {
    await expect(receive([HEAD, ...split(`${'y'.repeat(500)}<script>`, 1)])).rejects.toMatchObject({ status: 415 })
  })

  it('is refused with controls, and if it is not UTF-8', async () => {
    for (const end of ['\0', '\x1F', Buffer.from([0xFF]), Buffer.from([0xC3]), Buffer.from([0xE2, 0x82])])
      await expect(receive([HEAD, 'y', end])).rejects.toMatchObject({ status: 415, data: { reason: 'content', accepted: ['text/plain'] } })
    expect((await receive([HEAD, Buffer.from([0xE2, 0x82]), Buffer.from([0xAC])])).toString()).toBe(`${HEAD}€`)
  })

  it('can contain markup if its type does, but no controls', async () => {
    const page = `<html>${HEAD}<script>`
    expect((await receive([page], accept('text/html'))).toString()).toBe(page)
    await expect(receive([page, '\0'], accept('text/html'))).rejects.toMatchObject({ status: 415, data: { reason: 'content' } })
  })

  it('is not checked in a file of another type', async () => {
    const bytes = Buffer.concat([png(1, 1, 5000), Buffer.from('<script>\0\xFF', 'latin1')])
    expect((await receive([bytes], accept('image/png'))).equals(bytes)).toBe(true)
  })
})
