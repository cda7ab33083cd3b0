/** The value of a file column: one file, or a list of files. */
import type { StoredFile } from '../../shared/types'
import { uuidv7 } from '../../../../server/kit/process'

export type { StoredFile }

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
