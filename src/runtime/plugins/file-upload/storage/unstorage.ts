/** Stores files with a driver of unstorage, such as a mount in `nitro.storage`. Such drivers have no streams: a whole file is in memory. */
import { fromBytes, readAll } from './chunks'
import { assertKey, assertPrefix, type FileStorage } from '../../../shared/file-storage'

/** The functions of an unstorage driver, or of a storage, that the storage uses. */
export interface UnstorageDriver {
  readonly name?: string
  readonly setItem?: (key: string, value: string, options: object) => unknown
  readonly setItemRaw?: (key: string, value: Uint8Array, options: object) => unknown
  readonly getItem?: (key: string, options: object) => unknown
  readonly getItemRaw?: (key: string, options: object) => unknown
  readonly removeItem?: (key: string, options: object) => unknown
  readonly getKeys?: (base: string, options: object) => unknown
}

/** The mark of bytes in a driver that stores only text. */
const BASE64 = 'base64:'

/**
 * Creates a storage on a driver of unstorage. Each upload and each download needs memory for the whole file.
 * @throws TypeError if the driver cannot write, remove and list.
 * @example
 * export const files = unstorageStorage(azureDriver({ accountName: 'newsroom', containerName: 'files' }))
 */
export function unstorageStorage(driver: UnstorageDriver): FileStorage {
  const hasRaw = driver.setItemRaw !== undefined && driver.getItemRaw !== undefined
  const needed = ['removeItem', 'getKeys', ...hasRaw ? [] : ['setItem', 'getItem'] as const] as const
  const missing = needed.filter(name => driver[name] === undefined)
  if (missing.length > 0)
    throw new TypeError(`[auto-api] The driver \`${driver.name ?? 'unknown'}\` cannot store files: it has no ${missing.join(', ')}.`)
  const remove = async (key: string) => void await driver.removeItem!(toItem(key), {})
  return {
    async put(key, chunks) {
      assertKey(key)
      const bytes = await readAll(chunks)
      try {
        if (hasRaw) await driver.setItemRaw!(toItem(key), globalThis.Buffer?.from(bytes.buffer) ?? bytes, {})
        else await driver.setItem!(toItem(key), BASE64 + toBase64(bytes), {})
      }
      catch (error) {
        await remove(key).catch(() => {})
        throw error
      }
    },
    async get(key, range) {
      assertKey(key)
      const item: unknown = hasRaw ? await driver.getItemRaw!(toItem(key), {}) : await driver.getItem!(toItem(key), {})
      if (item === null || item === undefined) return undefined
      const bytes = await toBytes(item)
      return fromBytes(range ? bytes.subarray(range.start, range.end + 1) : bytes)
    },
    async delete(key) {
      assertKey(key)
      await remove(key)
    },
    async* list(prefix = '') {
      assertPrefix(prefix)
      // A driver can ignore the base, and it can separate the segments in any of these ways.
      for (const item of await driver.getKeys!(toItem(prefix), {}) as readonly string[]) {
        const key = item.replace(/[:\\]/g, '/')
        if (key.startsWith(prefix)) yield key
      }
    },
  }
}

const toItem = (key: string) => key.replaceAll('/', ':')

async function toBytes(item: unknown): Promise<Uint8Array> {
  if (item instanceof Uint8Array) return item
  if (item instanceof ArrayBuffer) return new Uint8Array(item)
  if (item instanceof Blob) return new Uint8Array(await item.arrayBuffer())
  if (item instanceof ReadableStream) return new Uint8Array(await new Response(item).arrayBuffer())
  const text = String(item)
  return text.startsWith(BASE64) ? fromBase64(text.slice(BASE64.length)) : new TextEncoder().encode(text)
}

/** Web functions, because not every runtime has `Buffer`. The text is built in pieces: a call can have only so many arguments. */
function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.byteLength; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000))
  return btoa(text)
}

function fromBase64(text: string): Uint8Array {
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at)
  return bytes
}
