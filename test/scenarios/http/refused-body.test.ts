/** The connection of a request whose body is refused: the client has the response, and the server does not read on. */
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dataExport } from '../../../src/runtime/plugins'
import { createServer, type ListeningServer } from '../../support/server'

const notes = sqliteTable('notes', { id: integer('id').primaryKey(), body: text('body') })
const closed = sqliteTable('closed', { id: integer('id').primaryKey() })
const client = new Database(':memory:')
let server: ListeningServer

beforeAll(async () => {
  client.exec('create table notes (id integer primary key, body text); create table closed (id integer primary key)')
  const { listen } = await createServer({
    registrations: [
      { name: 'notes', schema: notes, authorization: { permissions: { read: true, create: true, update: true, delete: true } } },
      { name: 'closed', schema: closed, authorization: { permissions: {} } },
    ],
    plugins: [dataExport()],
    db: drizzle({ client }),
  })
  server = await listen({})
})

afterAll(async () => {
  await server.close()
  client.close()
})

const MB = 1024 * 1024
const CHUNK = Buffer.alloc(64 * 1024, 'x')
const FRAME = Buffer.concat([Buffer.from('10000\r\n'), CHUNK, Buffer.from('\r\n')])

interface Sent {
  readonly head: string
  /** Bytes that left the client until the connection was closed. */
  readonly sent: number
}

/** Sends a body without end, and reads what the server answers. */
async function sendForever(path: string, type: string, length: string): Promise<Sent> {
  const socket = connect(server.port, '127.0.0.1')
  let received = ''
  let isOpen = true
  socket.on('data', data => received += data).on('error', () => {}).on('close', () => isOpen = false)
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\n${length}\r\n\r\n`)
  const isChunked = length.startsWith('Transfer')
  const until = Date.now() + 10_000
  while (isOpen && Date.now() < until) {
    if (socket.writable && socket.writableLength < MB) socket.write(isChunked ? FRAME : CHUNK)
    else await setTimeout(1)
    if (socket.bytesWritten % (16 * CHUNK.length) < CHUNK.length) await setTimeout(0)
  }
  socket.destroy()
  expect(isOpen).toBe(false)
  return { head: received.split('\r\n\r\n')[0]!, sent: socket.bytesWritten - socket.writableLength }
}

const CHUNKED = 'Transfer-Encoding: chunked'
const DECLARED = `Content-Length: ${10_000 * MB}`

describe('a client that sends without end', () => {
  it.each([
    ['/api/notes', 'application/json', DECLARED, 413],
    ['/api/notes', 'application/json', CHUNKED, 413],
    ['/api/notes/import', 'text/csv', CHUNKED, 400],
    ['/api/notes', 'text/plain', DECLARED, 415],
    ['/api/notes', 'text/plain', CHUNKED, 415],
    ['/api/closed', 'application/json', DECLARED, 401],
    ['/api/closed', 'application/json', CHUNKED, 401],
    ['/api/notes?nothing[', 'application/json', CHUNKED, 413],
  ])('is disconnected after the response: POST %s as %s with %s → %i', async (path, type, length, status) => {
    const { head, sent } = await sendForever(path, type, length)
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(head).toMatch(/^connection: close$/im)
    // The limit, what is read after it, and what the buffers of both sockets hold.
    expect(sent).toBeLessThan((path.includes('import') ? 30 : 20) * MB)
  })
})

describe('a short body', () => {
  const post = (path: string, type: string, body: string) =>
    fetch(`${server.url}${path}`, { method: 'POST', headers: { 'content-type': type }, body })

  it.each([
    ['/api/closed', 'application/json', '{}', 401, 'keep-alive'],
    ['/api/notes', 'application/json', '{', 400, 'keep-alive'],
    ['/api/notes', 'application/json', '{"body":"kept"}', 201, 'keep-alive'],
    ['/api/notes', 'text/plain', '{}', 415, 'close'],
  ])('keeps the connection unless it is refused itself: POST %s as %s with %s → %i', async (path, type, body, status, connection) => {
    const response = await post(path, type, body)
    await response.text()
    expect([response.status, response.headers.get('connection')]).toEqual([status, connection])
  })

  it('reaches a client that sends a little more than the limit before it reads', async () => {
    const response = await post('/api/notes', 'application/json', JSON.stringify({ body: 'x'.repeat(1.5 * MB) }))
    expect([response.status, (await response.json()).data.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  })
})
