import type { FileStorage } from 'nuxt-auto-api/plugins'

const all = new Map<string, Blob>()

/** Keeps files in memory. */
export const files: FileStorage = {
  async put(key, chunks, { type }) {
    const parts: Uint8Array<ArrayBuffer>[] = []
    // If the client leaves, the loop throws, and nothing is stored.
    for await (const chunk of chunks) parts.push(Uint8Array.from(chunk))
    all.set(key, new Blob(parts, { type }))
  },
  async get(key, range) {
    const file = range ? all.get(key)?.slice(range.start, range.end + 1) : all.get(key)
    return file && (async function* () {
      yield await file.bytes()
    })()
  },
  async delete(key) {
    all.delete(key)
  },
  async* list(prefix = '') {
    for (const key of all.keys()) if (key.startsWith(prefix)) yield key
  },
}

export const clear = () => all.clear()
