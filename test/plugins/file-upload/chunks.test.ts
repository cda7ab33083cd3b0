/** Streams of bytes: parts of one size, everything in memory, and web streams that a consumer can cancel. */
import { describe, expect, it, vi } from 'vitest'
import { fromBytes, fromWebStream, readAll, toParts } from '../../../src/runtime/plugins/file-upload/storage/chunks'
import { assertKey, assertPrefix } from '../../../src/runtime/shared/file-storage'

async function* from(...chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks
}
const numbers = (start: number, length: number) => Uint8Array.from({ length }, (_, index) => start + index)

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<number[][]> {
  const all: number[][] = []
  for await (const chunk of chunks) all.push([...chunk])
  return all
}

describe('parts', () => {
  it.each<[string, number[], number[][]]>([
    ['nothing', [], []], ['empty chunks', [0, 0], []], ['less than a part', [3], [[0, 1, 2]]], ['exactly a part', [4], [[0, 1, 2, 3]]],
    ['a byte more than a part', [5], [[0, 1, 2, 3], [4]]], ['two parts', [8], [[0, 1, 2, 3], [4, 5, 6, 7]]],
    ['small chunks', [1, 1, 0, 1, 1, 1], [[0, 1, 2, 3], [4]]], ['chunks across parts', [3, 3, 3], [[0, 1, 2, 3], [4, 5, 6, 7], [8]]],
    ['a large chunk after a small one', [1, 9], [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]],
  ])('of %s have one size, and only the last can be smaller', async (_case, sizes, parts) => {
    let at = 0
    const chunks = sizes.map(size => numbers((at += size) - size, size))
    expect(await collect(toParts(from(...chunks), 4))).toEqual(parts)
  })

  it('have buffers of their own, which later chunks do not change', async () => {
    const chunk = numbers(0, 6)
    const parts = toParts(from(chunk), 4)
    const { value } = await parts.next()
    chunk.fill(9)
    expect([[...value!], value!.buffer.byteLength]).toEqual([[0, 1, 2, 3], 4])
  })

  it('are made while the chunks arrive', async () => {
    const end = vi.fn()
    const parts = toParts((async function* () {
      try {
        for (;;) yield numbers(0, 3)
      }
      finally {
        end()
      }
    })(), 4)
    expect((await parts.next()).value).toEqual(Uint8Array.of(0, 1, 2, 0))
    await parts.return(undefined)
    expect(end).toHaveBeenCalledOnce()
  })
})

it('reads all chunks into one array', async () => {
  expect(await readAll(from(numbers(0, 2), numbers(2, 0), numbers(2, 3)))).toEqual(numbers(0, 5))
  expect(await readAll(from())).toEqual(new Uint8Array())
})

it('yields bytes as one chunk, and no chunk for no bytes', async () => {
  expect(await collect(fromBytes(numbers(0, 3)))).toEqual([[0, 1, 2]])
  expect(await collect(fromBytes(new Uint8Array()))).toEqual([])
})

describe('a web stream', () => {
  const create = (chunks: number, cancel: () => void, failure?: Error) => {
    let sent = 0
    return new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent++ < chunks) controller.enqueue(numbers(sent, 1))
        else if (failure) controller.error(failure)
        else controller.close()
      },
      cancel,
    }, { highWaterMark: 0 })
  }

  it('is read to its end', async () => {
    expect(await collect(fromWebStream(create(3, () => {})))).toEqual([[1], [2], [3]])
  })

  it('is cancelled if the consumer stops', async () => {
    const cancel = vi.fn()
    for await (const chunk of fromWebStream(create(3, cancel))) if (chunk.byteLength > 0) break
    expect(cancel).toHaveBeenCalledOnce()
    const failing = create(3, () => {
      throw new Error('The stream cannot be cancelled.')
    })
    for await (const chunk of fromWebStream(failing)) if (chunk.byteLength > 0) break
  })

  it('throws its own error', async () => {
    await expect(collect(fromWebStream(create(1, () => {}, new Error('The storage is down.'))))).rejects.toThrow('The storage is down.')
  })
})

describe('the key of a file', () => {
  it.each(['a', 'posts/31/cover/0193-a_B', 'a/b/c/d/e', '-', '_/0'])('can be %j', (key) => {
    expect(() => assertKey(key)).not.toThrow()
    expect(() => assertPrefix(`${key}/`)).not.toThrow()
    expect(() => assertPrefix(key)).toThrow('is not the prefix of a file\'s key.')
  })

  it.each(['', '/', '../a', 'a/../b', '..', '.', 'a/.', 'a//b', 'a/', '/a', 'a.b', 'a\\b', 'a:b', 'a\0b', 'a b', 'ä', 'a\n', '\na',
    'a%2e', '$a', 'a/b$'])('cannot be %j', (key) => {
    expect(() => assertKey(key)).toThrow(`${JSON.stringify(key)} is not the key of a file.`)
    expect(() => assertPrefix(`${key}/`)).toThrow(TypeError)
  })

  it('can be any key if the prefix is empty', () => expect(() => assertPrefix('')).not.toThrow())
})
