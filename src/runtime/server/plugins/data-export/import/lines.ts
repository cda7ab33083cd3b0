/** Splits a file into lines while it arrives. */
import { invalidBody, type ApiError } from '../../../core/error'
import type { ParseJson } from './json'

/** The largest line, in characters. */
export const MAX_LINE = 1024 * 1024

/** One record of a file, or why it cannot be read. */
export interface Line<T> {
  /** The line on which the record begins. The first line is 1. */
  readonly line: number
  readonly value: T | ApiError
}

/** Decodes UTF-8, and removes a byte order mark. @throws `INVALID_BODY` for bytes that are no UTF-8. */
export async function* decodeText(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (chunk?: Uint8Array) => {
    try {
      return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
    }
    catch {
      throw invalidBody('The file is not encoded as UTF-8.')
    }
  }
  for await (const chunk of bytes) {
    const text = decode(chunk)
    if (text !== '') yield text
  }
  const rest = decode()
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
