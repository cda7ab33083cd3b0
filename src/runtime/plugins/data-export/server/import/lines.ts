/** Splits a file into lines while it arrives. */
import { joinBytes } from '../../../../shared/bytes'
import { type ApiError, invalidBody } from '../../../../server/kit/errors'
import type { ParseJson } from './json'

/** The largest line, in characters. */
export const MAX_LINE = 1024 * 1024

/** One record of a file, or why it cannot be read. */
export interface Line<T> {
  /** The line on which the record begins. The first line is 1. */
  readonly line: number
  readonly value: T | ApiError
}

/** The first two bytes of a file in UTF-16, such as one that Excel saves as "Unicode text". */
const UTF_16: Readonly<Record<string, string>> = { '255,254': 'utf-16le', '254,255': 'utf-16be' }

/** Decodes UTF-8, or UTF-16 with a byte order mark, and removes the mark. @throws `INVALID_BODY` for bytes that are neither. */
export async function* decodeText(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let decoder: TextDecoder | undefined
  let first: Uint8Array = new Uint8Array()
  const decode = (chunk: Uint8Array, stream: boolean) => {
    decoder ??= new TextDecoder(UTF_16[chunk.subarray(0, 2).join()] ?? 'utf-8', { fatal: true })
    try {
      return decoder.decode(chunk, { stream })
    }
    catch {
      throw invalidBody('The file is not encoded as UTF-8, nor as UTF-16 with a byte order mark.')
    }
  }
  for await (const received of bytes) {
    const chunk: Uint8Array = first.byteLength === 0 ? received : joinBytes([first, received])
    first = chunk
    if (!decoder && chunk.byteLength < 2) continue
    first = new Uint8Array()
    const text = decode(chunk, true)
    if (text !== '') yield text
  }
  const rest = decode(first, false)
  if (rest !== '') yield rest
}

/** Yields the JSON value of each line that is not empty. */
export async function* readNdjson(
  texts: AsyncIterable<string>, parseJson: ParseJson,
): AsyncGenerator<Line<Readonly<Record<string, unknown>>>, void> {
  let rest = ''
  let line = 1
  for await (const text of texts) {
    const parts = text.split('\n')
    parts[0] = rest + parts[0]!
    rest = parts.pop()!
    for (const part of parts) {
      if (part.trim() !== '') yield { line, value: parseLine(part, line, parseJson) }
      line++
    }
    if (rest.length > MAX_LINE) break
  }
  if (rest.trim() !== '') yield { line, value: parseLine(rest, line, parseJson) }
}

function parseLine(text: string, line: number, parseJson: ParseJson): Readonly<Record<string, unknown>> | ApiError {
  if (text.length > MAX_LINE) return invalidBody(`The line has more than ${MAX_LINE} characters.`)
  const value = parseJson(text, line)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Readonly<Record<string, unknown>>
  return invalidBody('The line is no JSON object.')
}
