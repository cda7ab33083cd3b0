/** The ids of events: positions in the events of this process, encrypted, because their differences would count the events of others. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const SIZE = 16
/** The start of every id of this process. An id of another one decrypts to something else. */
const MARK = 8

export interface EventIds {
  readonly toId: (position: number) => string
  /** Returns `undefined` for an id of another process. */
  readonly toPosition: (id: string) => number | undefined
}

export function createEventIds(): EventIds {
  const key = randomBytes(16)
  const mark = randomBytes(MARK)
  return {
    toId(position) {
      const block = Buffer.alloc(SIZE)
      mark.copy(block)
      block.writeBigUInt64BE(BigInt(position), MARK)
      const cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false)
      return Buffer.concat([cipher.update(block), cipher.final()]).toString('base64url')
    },
    toPosition(id) {
      const block = Buffer.from(id, 'base64url')
      if (block.length !== SIZE) return undefined
      const decipher = createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false)
      const plain = Buffer.concat([decipher.update(block), decipher.final()])
      return plain.subarray(0, MARK).equals(mark) ? Number(plain.readBigUInt64BE(MARK)) : undefined
    },
  }
}
