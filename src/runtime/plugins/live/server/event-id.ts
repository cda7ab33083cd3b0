/**
 * The ids of events: positions in the events of this process, encrypted with random bytes, because their differences would count the events
 * of others, and two equal ids would say that there were none.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const KEY_LENGTH = 32
const IV_LENGTH = 12
const TAG_LENGTH = 16
/** The bytes of a position. */
const POSITION = 6
const LENGTH = IV_LENGTH + POSITION + TAG_LENGTH

export interface EventIds {
  readonly toId: (position: number) => string
  /** Returns `undefined` for an id of another process. */
  readonly toPosition: (id: string) => number | undefined
}

export function createEventIds(): EventIds {
  let key: Uint8Array | undefined
  // Workers have no random bytes before their first request.
  const keyOf = () => key ??= randomBytes(KEY_LENGTH)
  return {
    toId(position) {
      const plain = Buffer.alloc(POSITION)
      plain.writeUIntBE(position, 0, POSITION)
      const iv = randomBytes(IV_LENGTH)
      const cipher = createCipheriv(CIPHER, keyOf(), iv)
      return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]).toString('base64url')
    },
    toPosition(id) {
      const bytes = Buffer.from(id, 'base64url')
      if (bytes.length !== LENGTH) return undefined
      const decipher = createDecipheriv(CIPHER, keyOf(), bytes.subarray(0, IV_LENGTH))
      decipher.setAuthTag(bytes.subarray(-TAG_LENGTH))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(IV_LENGTH, -TAG_LENGTH)), decipher.final()]).readUIntBE(0, POSITION)
      }
      catch {
        return undefined
      }
    },
  }
}
