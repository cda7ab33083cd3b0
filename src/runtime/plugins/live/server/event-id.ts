/**
 * The ids of events: positions in the events of this process, encrypted with random bytes, because their differences would count the events
 * of others, and two equal ids would say that there were none.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const SIZE = 16
/** The start of every id of this process. An id of another one decrypts to something else. */
const MARK = 4
const POSITION = 6

export interface EventIds {
  readonly toId: (position: number) => string
  /** Returns `undefined` for an id of another process. */
  readonly toPosition: (id: string) => number | undefined
}

export function createEventIds(): EventIds {
  let secret: { readonly key: Uint8Array, readonly mark: Buffer } | undefined
  // Workers have no random bytes before their first request.
  const secretOf = () => secret ??= { key: randomBytes(16), mark: randomBytes(MARK) }
  return {
    toId(position) {
      const { key, mark } = secretOf()
      const block = randomBytes(SIZE)
      mark.copy(block)
      block.writeUIntBE(position, SIZE - POSITION, POSITION)
      const cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false)
      return Buffer.concat([cipher.update(block), cipher.final()]).toString('base64url')
    },
    toPosition(id) {
      const { key, mark } = secretOf()
      const block = Buffer.from(id, 'base64url')
      if (block.length !== SIZE) return undefined
      const decipher = createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false)
      const plain = Buffer.concat([decipher.update(block), decipher.final()])
      return plain.subarray(0, MARK).equals(mark) ? plain.readUIntBE(SIZE - POSITION, POSITION) : undefined
    },
  }
}
