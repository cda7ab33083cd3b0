/** Turns messages into texts that only servers with a secret of the app can read and write, and that fit the channel. */
import { createHash, randomBytes } from 'node:crypto'
import { deserialize, serialize } from 'node:v8'
import { decryptBytes, encryptBytes } from '../../core/process/encryption'
import type { Secrets } from '../../core/process/secret'
import type { Channels } from './contract'

export interface Codec {
  /**
   * The names of the channels, one per secret: this server sends on the first one, and receives on each. Apps with other secrets have
   * other channels.
   */
  readonly channels: Channels
  readonly encode: (message: unknown) => Promise<readonly string[]>
  /** Returns `undefined` until the message is complete, and for texts that no server of the app has written. */
  readonly decode: (text: string) => Promise<{ readonly message: unknown } | undefined>
}

/** `key.count.part`. The channel keeps the order of the parts. */
const PART = /^([0-9a-f]{12})\.(\d{1,3})\.([\w-]+)$/
/** The characters before a part. */
const HEAD = 12 + 1 + 3 + 1
/** The messages of which some parts have not arrived. Those of a server that has ended stay incomplete. Others can send such parts, too. */
const MAX_INCOMPLETE = 16

/** @param name what the channel is for. Its messages have an independent key. */
export function createCodec(secrets: Secrets, name: string, maxLength: number): Codec {
  const purpose = `channel ${name} 1`
  const incomplete = new Map<string, string[]>()
  const size = maxLength - HEAD
  const [current, ...previous] = secrets

  const channelOf = (secret: string) =>
    `auto_api_${name}_${createHash('sha256').update(`${purpose}\0${secret}`).digest('hex').slice(0, 12)}`

  /** Returns the whole text after its last part. A text without one of its parts cannot be decrypted. */
  function collect(key: string, count: number, part: string): string | undefined {
    if (count === 1) return part
    const parts = incomplete.get(key) ?? []
    incomplete.set(key, parts)
    if (incomplete.size > MAX_INCOMPLETE) incomplete.delete(incomplete.keys().next().value!)
    parts.push(part)
    if (parts.length < count) return undefined
    incomplete.delete(key)
    return parts.join('')
  }

  return {
    channels: [channelOf(current), ...previous.map(channelOf)],
    async encode(message) {
      const text = globalThis.Buffer.from(await encryptBytes(secrets, purpose, Uint8Array.from(serialize(message)))).toString('base64url')
      const key = randomBytes(6).toString('hex')
      const count = Math.ceil(text.length / size)
      return Array.from({ length: count }, (_, index) => `${key}.${count}.${text.slice(index * size, (index + 1) * size)}`)
    },
    async decode(text) {
      const [, key, count, part] = PART.exec(text) ?? []
      const whole = key === undefined ? undefined : collect(key, Number(count), part!)
      if (whole === undefined) return undefined
      const bytes = await decryptBytes(secrets, purpose, Uint8Array.from(globalThis.Buffer.from(whole, 'base64url')))
      return bytes && { message: deserialize(bytes) as unknown }
    },
  }
}
