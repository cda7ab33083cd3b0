/** Converts streams of bytes: to parts of one size, to one array, and from web streams. */
import { copyBytes } from '../../../shared/bytes'

/** Yields parts of exactly `size` bytes. Only the last part can be smaller. Yields no part for a stream without bytes. */
export async function* toParts(chunks: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let pending: Uint8Array[] = []
  let length = 0
  const take = () => {
    const part = copyBytes(pending)
    pending = []
    length = 0
    return part
  }
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength;) {
      const piece = chunk.subarray(at, at + size - length)
      pending.push(piece)
      at += piece.byteLength
      length += piece.byteLength
      if (length === size) yield take()
    }
  }
  if (length > 0) yield take()
}

/** Reads all chunks into memory. */
export async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return copyBytes(all)
}

/** Reads a web stream. A consumer that stops early cancels it. */
export async function* fromWebStream(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  }
  finally {
    // Does nothing at the end of the stream.
    await reader.cancel().catch(() => {})
  }
}

/** Yields bytes in memory as one chunk. */
export async function* fromBytes(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.byteLength > 0) yield bytes
}
