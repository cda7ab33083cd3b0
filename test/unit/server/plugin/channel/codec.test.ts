/** Messages on a channel: any value, in texts of a limited length, which only servers with the secret read. */
import { describe, expect, it } from 'vitest'
import type { Secrets } from '../../../../../src/runtime/server/core/process/secret'
import { createCodec, type Codec } from '../../../../../src/runtime/server/plugin/channel/codec'

const codec = (secret = 'a secret', name = 'test') => createCodec([secret], name, 200)

describe('a message', () => {
  it('arrives as it was sent, in texts that fit the channel', async () => {
    const message = { at: new Date(5), big: 2n ** 70n, bytes: new Uint8Array([0, 255]), nothing: null, text: 'ü'.repeat(300), nan: Number.NaN }
    const texts = await codec().encode(message)
    expect(texts.length).toBeGreaterThan(3)
    expect(texts.filter(text => text.length > 200 || !/^[\w.-]+$/.test(text))).toEqual([])
    const reader = codec()
    const decoded = []
    for (const text of texts) decoded.push(await reader.decode(text))
    expect(decoded.at(-1)).toEqual({ message })
    expect(decoded.slice(0, -1).every(part => part === undefined)).toBe(true)
  })

  it('is not read without all of its parts in their order', async () => {
    const [first, second, ...others] = await codec().encode('x'.repeat(500))
    const reader = codec()
    for (const text of [second!, first!, ...others]) expect(await reader.decode(text)).toBeUndefined()
  })

  it('is forgotten after the parts of sixteen others, and others can begin after it has arrived', async () => {
    const [first, ...others] = await codec().encode('x'.repeat(300))
    const reader = codec()
    const begin = async (from: number, to: number) => {
      for (let index = from; index < to; index++) await reader.decode(`${String(index).padStart(12, '0')}.2.AAAA`)
    }
    const readOthers = async () => {
      const decoded = []
      for (const text of others) decoded.push(await reader.decode(text))
      return decoded.at(-1)
    }
    await reader.decode(first!)
    await begin(0, 15)
    expect(await readOthers()).toEqual({ message: 'x'.repeat(300) })
    await reader.decode(first!)
    await begin(15, 31)
    expect(await readOthers()).toBeUndefined()
  })

  it.each([['another secret', 'test'], ['a secret', 'other']])('is not read with %s, for %s', async (secret, name) => {
    const [text] = await codec().encode('hello')
    expect(await codec(secret, name).decode(text!)).toBeUndefined()
    expect(codec(secret, name).channels).not.toEqual(codec().channels)
  })

  it('is read with the previous secret, and sent with the current one only', async () => {
    const [old, both, current] = [['old'], ['new', 'old'], ['new']].map(secrets => createCodec(secrets as unknown as Secrets, 'test', 200))
    const read = async (from: Codec, to: Codec) => (await to.decode((await from.encode('hello'))[0]!))?.message
    expect([await read(old!, both!), await read(current!, both!), await read(both!, current!)]).toEqual(['hello', 'hello', 'hello'])
    expect([await read(old!, current!), await read(both!, old!)]).toEqual([undefined, undefined])
    expect(both!.channels).toEqual([...current!.channels, ...old!.channels])
    expect(new Set(both!.channels).size).toBe(2)
  })

  it.each(['', 'hello', 'aaaaaaaaaaaa.1.AAAA', 'aaaaaaaaaaaa.1.', 'aaaaaaaaaaaa.0.AAAA'])('is not %j, which no server has written', async (text) => {
    expect(await codec().decode(text)).toBeUndefined()
  })
})
