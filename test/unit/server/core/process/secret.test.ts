/** The secrets of the app: the current one makes values, and the previous one is only accepted. */
import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { decrypt, decryptBytes, encrypt, encryptBytes } from '../../../../../src/runtime/server/core/process/encryption'
import { readSecrets, type Secrets } from '../../../../../src/runtime/server/core/process/secret'

const read = (autoApi: object) => readSecrets(() => ({ autoApi }))

afterEach(() => void vi.restoreAllMocks())

describe('the secrets', () => {
  it('are the current one, then the previous one', () => {
    expect(read({ secret: 'new', previousSecret: 'old' })).toEqual(['new', 'old'])
  })

  it.each([['missing', undefined], ['empty', ''], ['equal', 'new'], ['no text', 5], ['null', null]])(
    'are the current one alone if the previous one is %s',
    (_, previousSecret) => {
      expect(read({ secret: 'new', previousSecret })).toEqual(['new'])
    },
  )

  it.each([undefined, '', 5, null])('are absent if the current one is %j, whatever the previous one is', (secret) => {
    expect(read({ secret, previousSecret: 'old' })).toBeUndefined()
  })
})

describe('an encrypted value', () => {
  // Keys are kept by secret.
  const [old, current] = [randomUUID(), randomUUID()]
  const [OLD, BOTH, NEW]: readonly Secrets[] = [[old], [current, old], [current]]

  it.each([
    ['the previous secret', OLD!, BOTH!, 'text'],
    ['a secret that was removed', OLD!, NEW!, undefined],
    ['the current secret', BOTH!, NEW!, 'text'],
    ['a secret that this server does not have yet', BOTH!, OLD!, undefined],
  ])('of %s', async (_, makes, reads, result) => {
    expect(await decrypt(reads, 'test', await encrypt(makes, 'test', 'text'))).toBe(result)
    const bytes = Uint8Array.from(await encryptBytes(makes, 'test', Uint8Array.of(1, 2)))
    expect(await decryptBytes(reads, 'test', bytes)).toEqual(result && Uint8Array.of(1, 2))
  })

  it('is another text each time, with a nonce of its own', async () => {
    const made = await Promise.all(Array.from({ length: 200 }, () => encrypt(NEW!, 'test', 'text')))
    expect(new Set(made.map(text => text.slice(0, 16))).size).toBe(200)
  })

  it('is only accepted for its purpose', async () => {
    expect(await decrypt(BOTH!, 'other', await encrypt(OLD!, 'test', 'text'))).toBeUndefined()
  })

  it('costs one decryption without a previous secret, and with one if it is of the current secret', async () => {
    const sent = await encrypt(NEW!, 'test', 'text')
    const decryptions = vi.spyOn(crypto.subtle, 'decrypt')
    for (const secrets of [OLD!, NEW!, BOTH!]) await decrypt(secrets, 'test', sent)
    expect(decryptions).toHaveBeenCalledTimes(3)
  })
})
