/** The keys of files in a storage: `posts/<id in hexadecimal>/cover/<key>`. So the files of a record can be found without the record. */
import { toHex } from '../../../../shared/bytes'
import { isKey } from './stored-file'

export interface FilePath {
  readonly resource: string
  /** The id of the record, as the API returns it. */
  readonly id: string
  readonly field: string
  readonly key: string
}

/** The largest id in bytes. File systems allow 255 characters in a name. */
const MAX_ID = 120

/** Returns the beginning of the keys of a record's files, or `undefined` if the id is too long to have files. */
export function prefixOf(resource: string, id: string): string | undefined {
  const bytes = new TextEncoder().encode(id)
  if (bytes.byteLength > MAX_ID) return undefined
  return `${resource}/${toHex(bytes)}/`
}

/** Parses a key of the storage. Returns `undefined` for a key of anything else. */
export function parsePath(path: string): FilePath | undefined {
  const [resource, hex, field, key, ...rest] = path.split('/')
  if (!resource || !hex || !field || !isKey(key) || rest.length > 0 || !/^(?:[\da-f]{2})+$/.test(hex)) return undefined
  const bytes = Uint8Array.from(hex.match(/../g)!, pair => Number.parseInt(pair, 16))
  return { resource, id: new TextDecoder().decode(bytes), field, key }
}
