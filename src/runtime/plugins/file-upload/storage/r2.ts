/** Stores files in a bucket of Cloudflare R2 over its binding. A file above 8 MB is sent in parts, so one part is in memory. */
import { fromWebStream, toParts } from './chunks'
import { assertKey, assertPrefix, type FileStorage } from '../../../shared/file-storage'

/** The methods of an R2 binding that the storage uses. */
export interface R2Bucket {
  readonly put: (key: string, value: Uint8Array, options: R2PutOptions) => Promise<unknown>
  readonly createMultipartUpload: (key: string, options: R2PutOptions) => Promise<R2Upload>
  readonly get: (key: string, options?: { readonly range: R2Range }) => Promise<R2Object | null>
  readonly delete: (key: string) => Promise<unknown>
  readonly list: (options: { readonly prefix: string, readonly cursor?: string }) => Promise<R2List>
}

interface R2PutOptions {
  readonly httpMetadata: { readonly contentType: string }
}

interface R2Range {
  readonly offset: number
  readonly length: number
}

interface R2Upload {
  readonly uploadPart: (number: number, value: Uint8Array) => Promise<object>
  readonly complete: (parts: never[]) => Promise<unknown>
  readonly abort: () => Promise<unknown>
}

interface R2Object {
  readonly body: ReadableStream<Uint8Array>
}

interface R2List {
  readonly objects: readonly { readonly key: string }[]
  readonly truncated: boolean
  readonly cursor?: string
}

const PART = 8 * 1024 * 1024

/**
 * Creates a storage in an R2 bucket. R2 itself removes the parts of unfinished uploads after seven days.
 * @example
 * export const files = (event: H3Event) => r2Storage(event.context.cloudflare.env.FILES)
 */
export function r2Storage(bucket: R2Bucket): FileStorage {
  return {
    async put(key, chunks, { type }) {
      assertKey(key)
      const options = { httpMetadata: { contentType: type } }
      const parts = toParts(chunks, PART)
      const first = await parts.next()
      const second = first.done ? first : await parts.next()
      if (second.done) return void await bucket.put(key, first.done ? new Uint8Array() : first.value, options)
      const upload = await bucket.createMultipartUpload(key, options)
      try {
        const sent = [await upload.uploadPart(1, first.value as Uint8Array), await upload.uploadPart(2, second.value)]
        for await (const part of parts) sent.push(await upload.uploadPart(sent.length + 1, part))
        await upload.complete(sent as never[])
      }
      catch (error) {
        await upload.abort().catch((failure: unknown) => console.error('[auto-api] An unfinished upload to R2 was not removed.', failure))
        throw error
      }
    },
    async get(key, range) {
      assertKey(key)
      const found = await bucket.get(key, range && { range: { offset: range.start, length: range.end - range.start + 1 } })
      return found ? fromWebStream(found.body) : undefined
    },
    async delete(key) {
      assertKey(key)
      await bucket.delete(key)
    },
    async* list(prefix = '') {
      assertPrefix(prefix)
      let cursor: string | undefined
      do {
        const page = await bucket.list({ prefix, cursor })
        for (const { key } of page.objects) yield key
        cursor = page.truncated ? page.cursor : undefined
      } while (cursor !== undefined)
    },
  }
}
