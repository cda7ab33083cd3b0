/** Bodies that arrive over a connection of Node: in parts, too large, and cut off. */
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { readBody } from '../../../../src/runtime/server/http/body'

/** A request of h3 1. */
function createEvent(headers: Record<string, string> = { 'transfer-encoding': 'chunked' }) {
  const stream = Object.assign(new PassThrough(), { headers })
  const event = { method: 'POST', path: '/', headers: new Headers(headers), context: {}, node: { req: stream } }
  return { stream, event }
}

const LIMIT = 10

describe('a body of Node', () => {
  it('is the text of all its parts, also if a part ends within a character', async () => {
    const { stream, event } = createEvent()
    const reading = readBody(event, LIMIT)
    const bytes = Buffer.from('aé€b')
    for (const byte of bytes) {
      stream.write(Buffer.of(byte))
      await new Promise(resolve => setTimeout(resolve))
    }
    stream.end()
    expect(await reading).toBe('aé€b')
  })

  it('is undefined if it has no bytes', async () => {
    const { stream, event } = createEvent()
    stream.end()
    expect(await readBody(event, LIMIT)).toBeUndefined()
    expect(await readBody(createEvent({ 'content-length': '0' }).event, LIMIT)).toBeUndefined()
  })

  it('can have as many bytes as the limit', async () => {
    const { stream, event } = createEvent()
    stream.write('01234')
    stream.end('56789')
    expect(await readBody(event, LIMIT)).toBe('0123456789')
  })

  it('is a 413 as soon as more bytes arrive, and the rest is received and dropped', async () => {
    const { stream, event } = createEvent()
    const reading = readBody(event, LIMIT)
    stream.write('01234')
    stream.write('567890')
    await expect(reading).rejects.toMatchObject({ status: 413, data: { code: 'PAYLOAD_TOO_LARGE' } })
    const rest = new Promise(resolve => stream.once('end', resolve))
    for (let part = 0; part < 100; part++) stream.write(Buffer.alloc(64 * 1024))
    stream.end()
    await rest
    expect(stream.readableLength).toBe(0)
  })

  it('is a 413 before any byte is read if its declared length is above the limit', async () => {
    const { stream, event } = createEvent({ 'content-length': '11' })
    await expect(readBody(event, LIMIT)).rejects.toMatchObject({ data: { code: 'PAYLOAD_TOO_LARGE' } })
    expect(stream.listenerCount('data')).toBe(0)
  })

  it.each<[string, (stream: PassThrough) => void]>([
    ['closes', stream => stream.destroy()],
    ['fails', stream => stream.destroy(new Error('reset'))],
  ])('is a 400 if the connection %s before the end, and a later error of the stream ends nothing', async (_how, end) => {
    const { stream, event } = createEvent()
    const reading = readBody(event, LIMIT)
    stream.write('01234')
    setTimeout(() => end(stream), 5)
    await expect(reading).rejects.toMatchObject({ status: 400, data: { code: 'INVALID_BODY' } })
    expect(stream.listenerCount('error')).toBeGreaterThan(0)
    expect(['data', 'end', 'close'].map(name => stream.listenerCount(name))).toEqual([0, 0, 0])
    await expect(readBody(createClosed().event, LIMIT)).rejects.toMatchObject({ data: { code: 'INVALID_BODY' } })
  })
})

/** A request whose client has left before the body is read. */
function createClosed() {
  const created = createEvent()
  created.stream.destroy()
  return created
}
