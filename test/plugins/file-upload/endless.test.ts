/** A body without end is refused after the maximum size, over a real connection. */
import { connect } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { png } from './bytes'
import { EDITOR, openWorld, type World } from './world'

let world: World
afterEach(() => world.close())

it.each([
  ['chunked', 'Content-Type: image/png\r\nTransfer-Encoding: chunked', ''],
  [
    'in a form',
    'Content-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked',
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n',
  ],
])(
  '%s',
  async (_case, headers, start) => {
    world = await openWorld()
    const { port } = await world.listen(EDITOR)
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(port, '127.0.0.1')
      let received = ''
      const chunk = (bytes: Buffer) => Buffer.concat([Buffer.from(`${bytes.byteLength.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
      const timer = setInterval(() => socket.write(chunk(Buffer.alloc(16_384, 7))), 2)
      socket.on('data', (data) => {
        received += data.toString('latin1')
        if (received.includes('\r\n\r\n')) socket.destroy()
      })
      socket.on('error', () => {})
      socket.on('close', () => {
        clearInterval(timer)
        resolve(received)
      })
      socket.write(`POST /api/posts/1/upload/cover HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`)
      socket.write(chunk(Buffer.concat([Buffer.from(start), png()])))
    })
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(world.stored()).toEqual([])
    expect(world.row(1).cover).toBeNull()
  },
  20_000,
)
