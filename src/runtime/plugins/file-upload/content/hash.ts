/** Computes the SHA-256 of a stream. Web Crypto can only hash bytes that are in memory, so each runtime needs its own way. */
import { toHex } from '../../../shared/bytes'

export interface Hash {
  readonly update: (chunk: Uint8Array) => unknown
  /** Returns the hash in hexadecimal. */
  readonly end: () => Promise<string>
}

interface DigestStream extends WritableStream<Uint8Array> {
  readonly digest: Promise<ArrayBuffer>
}

export async function createSha256(): Promise<Hash> {
  const { DigestStream } = crypto as { readonly DigestStream?: new (name: string) => DigestStream }
  if (!DigestStream) {
    const { createHash } = await import('node:crypto')
    const hash = createHash('sha256')
    return { update: chunk => hash.update(chunk), end: async () => hash.digest('hex') }
  }
  const stream = new DigestStream('SHA-256')
  const writer = stream.getWriter()
  return {
    update: chunk => writer.write(chunk),
    async end() {
      await writer.close()
      return toHex(await stream.digest)
    },
  }
}
