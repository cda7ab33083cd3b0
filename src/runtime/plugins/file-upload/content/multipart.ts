/**
 * Reads the file of a multipart body while it arrives. The body must have exactly one part, which is the file.
 *
 * No library fits: `@remix-run/multipart-parser` keeps each file in memory. `@fastify/busboy` pushes into Node streams: a file whose body
 * is cut neither ends nor fails, other parts are read and skipped without an error, and a transfer encoding is ignored.
 */
import { copyBytes } from '../../../shared/bytes'
import { invalidBody } from '../../../server/kit/errors'
import { mediaTypeOf } from '../../../server/kit/request'
import type { Claim } from './identify'

export interface FilePart {
  readonly claim: Claim
  /** Yields the content. @throws 400 if the body is not valid, or another part comes after the file. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** The headers of a part, and what can be before the first part. */
const MAX_HEADERS = 16 * 1024

/** The boundary can be quoted. RFC 2046 allows up to 70 of these characters. */
const BOUNDARY = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"([\w'()+,./:=? -]{1,70})"|([\w'()+./:=?-]{1,70}))\s*(?:;|$)/i

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * Reads the body up to the content of the file.
 * @param contentType the header of the request
 * @throws `INVALID_BODY`
 */
export async function openMultipart(source: AsyncIterable<Uint8Array>, contentType: string): Promise<FilePart> {
  const found = BOUNDARY.exec(contentType)
  const boundary = found?.[1] ?? found?.[2]
  if (boundary === undefined) throw invalidBody('The media type has no valid `boundary`.')
  const buffer = createBuffer(source)
  try {
    const delimiter = encoder.encode(`\r\n--${boundary}`)
    // The first delimiter can be at the very beginning, without a line break.
    buffer.prepend(encoder.encode('\r\n'))
    await buffer.readUntil(delimiter, MAX_HEADERS, 'The body has no part.')
    const claim = toClaim(await readHeaders(buffer))
    return { claim, chunks: readContent(buffer, delimiter) }
  }
  catch (error) {
    await buffer.close()
    throw error
  }
}

async function readHeaders(buffer: Buffer): Promise<string> {
  // White space can follow a delimiter. `--` marks the end of the body.
  const rest = decoder.decode(await buffer.readUntil(encoder.encode('\r\n'), MAX_HEADERS, 'A part has no headers.'))
  if (rest.startsWith('--')) throw invalidBody('The body has no file.')
  if (rest.trim() !== '') throw invalidBody('The body is not a valid multipart body.')
  buffer.prepend(encoder.encode('\r\n'))
  return decoder.decode(await buffer.readUntil(encoder.encode('\r\n\r\n'), MAX_HEADERS, 'The headers of a part are too long.'))
}

function toClaim(headers: string): Claim {
  const valueOf = (name: string) => {
    const found = new RegExp(`^${name}[ \\t]*:(.*)$`, 'im').exec(headers)
    return found ? found[1]!.trim() : undefined
  }
  const name = /^form-data\b.*?;\s*filename=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/i.exec(valueOf('content-disposition') ?? '')
  if (!name) throw invalidBody('The body has a part that is not a file. Send exactly one file.')
  if (!/^(?:binary|8bit|7bit)$/i.test(valueOf('content-transfer-encoding') ?? 'binary'))
    throw invalidBody('The file has a transfer encoding. Send its bytes.')
  // Browsers do not escape backslashes, so a backslash before another character is part of a path.
  return { name: (name[1] ?? name[2])!.replace(/\\"/g, '"'), type: mediaTypeOf(valueOf('content-type')) }
}

async function* readContent(buffer: Buffer, delimiter: Uint8Array): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const { bytes, found } = await buffer.take(delimiter)
      if (bytes.byteLength > 0) yield bytes
      if (found) break
    }
    const end = decoder.decode(await buffer.readAtMost(2))
    if (end !== '--') throw invalidBody('The body has more than one part. Send exactly one file.')
  }
  finally {
    await buffer.close()
  }
}

interface Buffer {
  readonly prepend: (bytes: Uint8Array) => void
  /** Reads up to the delimiter, and removes the delimiter. @throws `INVALID_BODY` with the message after `limit` bytes. */
  readonly readUntil: (delimiter: Uint8Array, limit: number, message: string) => Promise<Uint8Array>
  /** Returns bytes before the delimiter, and whether the delimiter comes next. Then it removes the delimiter. */
  readonly take: (delimiter: Uint8Array) => Promise<{ readonly bytes: Uint8Array, readonly found: boolean }>
  readonly readAtMost: (length: number) => Promise<Uint8Array>
  readonly close: () => Promise<void>
}

function createBuffer(source: AsyncIterable<Uint8Array>): Buffer {
  const reader = source[Symbol.asyncIterator]()
  let held: Uint8Array = new Uint8Array()
  const append = (chunk: Uint8Array) => {
    held = copyBytes([held, chunk])
  }
  const fill = async (): Promise<boolean> => {
    const { done, value } = await reader.next()
    if (!done) append(value)
    return !done
  }
  const cut = (length: number): Uint8Array => {
    const bytes = held.subarray(0, length)
    held = held.subarray(length)
    return bytes
  }
  return {
    prepend(bytes) {
      const rest = held
      held = bytes
      append(rest)
    },
    async readUntil(delimiter, limit, message) {
      for (let from = 0; ;) {
        const at = indexOf(held, delimiter, from)
        if (at > limit || (at === -1 && held.byteLength > limit)) throw invalidBody(message)
        if (at !== -1) {
          const bytes = cut(at)
          cut(delimiter.byteLength)
          return bytes
        }
        from = Math.max(0, held.byteLength - delimiter.byteLength + 1)
        if (!await fill()) throw invalidBody(message)
      }
    },
    async take(delimiter) {
      if (held.byteLength < delimiter.byteLength && !await fill()) throw invalidBody('The body ended before the end of the file.')
      const at = indexOf(held, delimiter, 0)
      if (at !== -1) {
        const bytes = cut(at)
        cut(delimiter.byteLength)
        return { bytes, found: true }
      }
      // The last bytes can be the beginning of the delimiter.
      return { bytes: cut(Math.max(0, held.byteLength - delimiter.byteLength + 1)), found: false }
    },
    async readAtMost(length) {
      while (held.byteLength < length && await fill());
      return cut(length)
    },
    close: async () => void await reader.return?.(),
  }
}

/** `indexOf` of a typed array finds one byte natively; the bytes after it are compared here. */
function indexOf(bytes: Uint8Array, wanted: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(wanted[0]!, from); at !== -1; at = bytes.indexOf(wanted[0]!, at + 1)) {
    let index = 1
    while (index < wanted.byteLength && bytes[at + index] === wanted[index]) index++
    if (index === wanted.byteLength) return at
  }
  return -1
}
