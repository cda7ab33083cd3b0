/** The contract of a file storage, and the form of its keys. */

/** A range of bytes. Both ends are part of it. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface FileMeta {
  /** The media type of the content. */
  readonly type: string
}

/**
 * Stores files under keys. A key consists of segments of letters, digits, `-` and `_`, separated by `/`. The API never stores two files
 * under one key. `fileStorageSuite` of `nuxt-auto-api/testing` checks a storage.
 */
export interface FileStorage {
  /**
   * Stores the chunks. The promise resolves when the whole file is stored.
   * @throws The error of `chunks`, or its own. Then no part of the file stays.
   */
  readonly put: (key: string, chunks: AsyncIterable<Uint8Array>, meta: FileMeta) => Promise<void>
  /** Returns the bytes of a file, or of a range of it. The range is always within the file. Returns `undefined` if there is no file. */
  readonly get: (key: string, range?: ByteRange) => Promise<AsyncIterable<Uint8Array> | undefined>
  /** Removes a file. Does nothing if there is no file. */
  readonly delete: (key: string) => Promise<void>
  /**
   * Returns the keys of all files, in any order.
   * @param prefix ends with `/`. Only keys that begin with it are returned.
   */
  readonly list: (prefix?: string) => AsyncIterable<string>
  /** Removes the parts of uploads that began before a time and did not end, because a server was killed. The daily task calls it. */
  readonly removeUnfinished?: (before: Date) => Promise<void>
}

const KEY = /^[\w-]+(?:\/[\w-]+)*$/

/** @throws TypeError for a key that could leave the storage, such as `../secret`. */
export function assertKey(key: string): void {
  if (!KEY.test(key)) throw new TypeError(`[auto-api] ${JSON.stringify(key)} is not the key of a file.`)
}

/** @throws TypeError for a prefix that is not empty and does not end with `/`. */
export function assertPrefix(prefix: string): void {
  if (prefix !== '' && !(prefix.endsWith('/') && KEY.test(prefix.slice(0, -1))))
    throw new TypeError(`[auto-api] ${JSON.stringify(prefix)} is not the prefix of a file's key.`)
}
