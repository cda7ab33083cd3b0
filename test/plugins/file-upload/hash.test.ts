/** The SHA-256 of a stream, with Node's own crypto and with that of Cloudflare Workers. */
import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createSha256 } from '../../../src/runtime/plugins/file-upload/content/hash'
import { sha256 } from './bytes'

/** How many streams of the class were created. */
let created = 0

/** Hashes what is written to it, as the class of Workers does. */
class DigestStream extends WritableStream<Uint8Array> {
  readonly digest: Promise<ArrayBuffer>

  constructor(name: string) {
    const { promise, resolve } = Promise.withResolvers<ArrayBuffer>()
    const hash = createHash(name)
    super({ write: chunk => void hash.update(chunk), close: () => resolve(Uint8Array.from(hash.digest()).buffer) })
    this.digest = promise
    created++
  }
}

afterEach(() => vi.unstubAllGlobals())

describe.each([['Node', {}, 0], ['Workers', { DigestStream }, 1]])('on %s', (_runtime, own, streams) => {
  it.each([['several chunks', ['a', 'bc', '']], ['no chunk', []]])('hashes %s', async (_case, chunks) => {
    vi.stubGlobal('crypto', own)
    created = 0
    const hash = await createSha256()
    for (const chunk of chunks) await hash.update(Buffer.from(chunk))
    expect(created).toBe(streams)
    expect(await hash.end()).toBe(sha256(Buffer.from(chunks.join(''))))
  })
})
