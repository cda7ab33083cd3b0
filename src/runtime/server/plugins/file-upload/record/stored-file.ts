/** The value of a file column: one file, or a list of files. */
import { uuidv7 } from '../../../core/uuid'

/** A file as its record names it. */
export interface StoredFile {
  /** Identifies the file within its field. It is a new random value for each upload. */
  readonly key: string
  /** The cleaned name of the file, for display and downloads. */
  readonly name: string
  /** The media type, found from the content. */
  readonly type: string
  /** Bytes. */
  readonly size: number
  /** In hexadecimal. */
  readonly sha256: string
  /** Pixels. Only images have a width and a height. */
  readonly width?: number
  readonly height?: number
}

export const createKey = uuidv7

const KEY = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

export const isKey = (value: unknown): value is string => typeof value === 'string' && KEY.test(value)

/** Returns the time in milliseconds at which a key was created. */
export const timeOf = (key: string): number => Number.parseInt(key.slice(0, 8) + key.slice(9, 13), 16)

/** Returns the files of a column's value: of JSON, or of text with JSON. Entries that are no files are left out. */
export function filesOf(value: unknown): readonly StoredFile[] {
  const json = typeof value === 'string' ? parse(value) : value
  return [json].flat().filter(isFile)
}

function isFile(value: unknown): value is StoredFile {
  if (typeof value !== 'object' || value === null) return false
  const { key, name, type, size, sha256 } = value as Partial<Record<keyof StoredFile, unknown>>
  return isKey(key) && typeof name === 'string' && typeof type === 'string' && Number.isSafeInteger(size) && Number(size) >= 0
    && typeof sha256 === 'string'
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  }
  catch {
    return undefined
  }
}
