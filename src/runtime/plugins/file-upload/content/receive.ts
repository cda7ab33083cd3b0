/** Reads an uploaded file: checks its first bytes before the rest is read, and counts, hashes and checks the rest while it is stored. */
import { joinBytes } from '../../../shared/bytes'
import { type ApiError, apiError, payloadTooLarge } from '../../../server/kit/errors'
import type { ImageSize } from './dimensions'
import { createSha256 } from './hash'
import { hasBinary, hasMarkup, identify, type Claim, type Refusal } from './identify'
import { cleanName, extensionOf } from './name'
import { isKnownExtension, type FileType } from './types'

export interface FileLimits {
  readonly accepted: readonly FileType[]
  /** Bytes. */
  readonly maxSize: number
  readonly maxPixels: number
}

/** A file whose first bytes are checked. */
export interface ReceivedFile {
  readonly name: string
  readonly type: string
  readonly dimensions?: ImageSize
  /** Yields the whole content. @throws 413 above the maximum size, 415 for text that is not valid. */
  readonly chunks: AsyncIterable<Uint8Array>
  /** The size and the SHA-256 in hexadecimal, after the content was read. */
  readonly finish: () => Promise<{ readonly size: number, readonly sha256: string }>
  /** Ends the reading of a file whose chunks nobody reads. */
  readonly discard: () => Promise<void>
}

/** The bytes that identify a type. */
const HEAD = 4096
/** The bytes within which an image must tell its size. */
const MAX_HEAD = 1024 * 1024

/**
 * @param source the bytes as the client sends them. They are read only as far as needed.
 * @throws 413, 415, and 400 for an image with too many pixels.
 */
export async function receiveFile(
  source: AsyncIterable<Uint8Array>, claim: Claim, { accepted, maxSize, maxPixels }: FileLimits,
): Promise<ReceivedFile> {
  const reader = source[Symbol.asyncIterator]()
  try {
    const chunks: Uint8Array[] = []
    let length = 0
    const readHead = async (size: number): Promise<Uint8Array> => {
      while (length < size) {
        const { done, value } = await reader.next()
        if (done) break
        chunks.push(value)
        length += value.byteLength
        if (length > maxSize) throw payloadTooLarge(maxSize)
      }
      return joinBytes(chunks)
    }
    let head = await readHead(HEAD)
    const name = cleanName(claim.name ?? '')
    const found = identifyOrThrow(head.subarray(0, HEAD), { ...claim, name }, accepted)
    let dimensions = found.size?.(head)
    while (dimensions === 'more') {
      const before = head.byteLength
      head = await readHead(Math.min(before * 2, MAX_HEAD))
      if (head.byteLength === before) break
      dimensions = found.size!(head)
    }
    if (found.size) assertDimensions(dimensions, found, maxPixels)
    const hash = await createSha256()
    let size = 0
    async function* content(): AsyncGenerator<Uint8Array> {
      const check = found.text ? createTextCheck(found, accepted) : undefined
      try {
        yield* counted(head)
        for (let next = await reader.next(); !next.done; next = await reader.next()) yield* counted(next.value)
        check?.()
      }
      finally {
        await reader.return?.()
      }
      async function* counted(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
        size += chunk.byteLength
        if (size > maxSize) throw payloadTooLarge(maxSize)
        check?.(chunk)
        await hash.update(chunk)
        if (chunk.byteLength > 0) yield chunk
      }
    }
    return {
      name: withExtension(name, found),
      type: found.type,
      ...dimensions !== undefined && { dimensions: dimensions as ImageSize },
      chunks: content(),
      finish: async () => ({ size, sha256: await hash.end() }),
      discard: async () => void await reader.return?.(),
    }
  }
  catch (error) {
    await reader.return?.()
    throw error
  }
}

function identifyOrThrow(head: Uint8Array, claim: Claim, accepted: readonly FileType[]): FileType {
  const found = identify(head, claim, accepted)
  if (typeof found === 'string') throw refusedType(found, accepted)
  return found
}

function assertDimensions(size: ImageSize | 'more' | undefined, { type }: FileType, maxPixels: number): asserts size is ImageSize {
  if (size === undefined || size === 'more' || size.width === 0 || size.height === 0)
    throw apiError('UNSUPPORTED_MEDIA_TYPE', `The file is not a valid ${type}: it does not contain its width and height.`)
  if (size.width * size.height <= maxPixels) return
  throw apiError('IMAGE_TOO_LARGE', `The image has more than ${maxPixels} pixels.`, { details: { ...size, maxPixels } })
}

/** Creates a function that checks each chunk of a text, and the end if it is called without a chunk. */
function createTextCheck(type: FileType, accepted: readonly FileType[]): (chunk?: Uint8Array) => void {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let tail = ''
  return (chunk) => {
    let text: string
    try {
      text = tail + decoder.decode(chunk, { stream: chunk !== undefined })
    }
    catch {
      throw refusedType('content', accepted)
    }
    if (hasBinary(text) || (type.text === 'plain' && hasMarkup(text))) throw refusedType('content', accepted)
    // A tag can be split between two chunks.
    tail = text.slice(-16)
  }
}

const REASONS: Readonly<Record<Refusal, string>> = {
  content: 'The content of the file is none of the accepted types.',
  type: 'The declared type contradicts the content of the file.',
  name: 'The extension of the name contradicts the content of the file.',
}

function refusedType(reason: Refusal, accepted: readonly FileType[]): ApiError {
  return apiError('UNSUPPORTED_MEDIA_TYPE', REASONS[reason], { details: { reason, accepted: accepted.map(({ type }) => type) } })
}

/** Adds the extension of the type to a name with an extension that says nothing. */
function withExtension(name: string, { extensions }: FileType): string {
  return isKnownExtension(extensionOf(name) ?? '') ? name : `${name}.${extensions[0]!}`
}
