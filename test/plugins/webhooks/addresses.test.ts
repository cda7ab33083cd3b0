/** Where webhooks are sent: to public addresses only, and whatever a receiver answers, the server stays bounded. */
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createHttpServer, type ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CERTIFICATE, KEY } from './certificate'
import { openReceiver, openWebhooks, type WebhookWorld, type WorldOptions } from './world'

/** The answers of DNS by name. A list of answers is one answer for each question. */
const { names, asked, trusted } = vi.hoisted(() => {
  // Another test file of this process can have loaded the plugin, with the real DNS.
  vi.resetModules()
  return { names: new Map<string, string[][]>(), asked: [] as string[], trusted: { ca: undefined as string | undefined } }
})
vi.mock('node:dns/promises', async (original) => {
  const dns: object = await original()
  return {
    ...dns,
    lookup: async (name: string) => {
      asked.push(name)
      const answers = names.get(name)
      if (!answers) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' })
      const answer = answers.length > 1 ? answers.shift()! : answers[0]!
      return answer.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
  }
})
// The certificate of the tests is one that the machine trusts, if a test says so.
vi.mock('node:https', async (original) => {
  const https: typeof import('node:https') = await original()
  return { ...https, request: (options: object, ended: never) => https.request({ ...options, ...trusted.ca && { ca: trusted.ca } }, ended) }
})

let world: WebhookWorld
const closing: (() => unknown)[] = []
const open = async (options: WorldOptions['options'] = {}) =>
  void (world = await openWebhooks({ options: { allowPrivateNetworks: false, retries: [600], ...options } }))

beforeEach(() => {
  names.clear()
  asked.length = 0
  trusted.ca = undefined
})
// Later test files get the real DNS.
afterAll(() => void vi.resetModules())
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
  await world.close()
})

const send = (method: string, path: string, body?: unknown) => world.server.request(method, `/api${path}`, { body, caller: world.as(1) })
const save = (url: unknown) => send('POST', '/webhooks', { url, events: ['posts.*'] })

/** Makes a webhook, sends a test, and returns the delivery. */
async function deliver(url: string): Promise<Record<string, unknown>> {
  const { id } = await world.make(1, { url, events: ['posts.*'] })
  const { status, body } = await send('POST', `/webhooks/${id}/test`)
  expect(status).toBe(200)
  return body as Record<string, unknown>
}

async function listen<S extends Server>(server: S, host = '127.0.0.1', port = 0): Promise<number> {
  const sockets = new Set<Socket>()
  const track = (socket: Socket) => void sockets.add(socket)
  server.on('connection', track)
  await new Promise<void>(resolve => server.listen(port, host, resolve))
  closing.push(() => new Promise<void>((resolve) => {
    for (const socket of sockets) socket.destroy()
    server.close(() => resolve())
  }))
  return (server.address() as AddressInfo).port
}

const PRIVATE = [
  // Loopback, in the spellings that URLs have for one address.
  '127.0.0.1', '127.1', '127.0.1', '127.255.255.254', '2130706433', '0x7f000001', '0x7f.0.0.1', '0177.0.0.1', '017700000001', '127.0.0.1.',
  '0x7F.1', '%31%32%37.0.0.1', '１２７.0.0.1', '[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]',
  // This host and networks that are private.
  '0.0.0.0', '0', '[::]', '10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '0300.0250.0.1', '3232235521',
  '100.64.0.1', '100.127.255.254', '[fc00::1]', '[fdff::1]', '[::ffff:10.0.0.1]', '[::ffff:c0a8:1]', '[fec0::1]',
  // Link-local, with the metadata of AWS, GCP, Azure, Alibaba and Oracle.
  '169.254.169.254', '169.254.1.1', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376', '[::ffff:169.254.169.254]', '[fe80::1]', '[febf::1]',
  '[fd00:ec2::254]', '[fd20:ce::254]', '168.63.129.16', '[::ffff:168.63.129.16]', '100.100.100.200', '192.0.0.192', '169.254.169.253',
  // Version 4 inside of version 6: NAT64, 6to4, Teredo, compatible.
  '[64:ff9b::7f00:1]', '[64:ff9b::10.0.0.1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2002:a00:1::1]', '[2001::1]', '[::a9fe:a9fe]',
  '[::ffff:0:127.0.0.1]',
  // Multicast, broadcast, documentation, benchmarks, reserved.
  '224.0.0.1', '239.255.255.255', '255.255.255.255', '240.0.0.1', '192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '192.0.0.1',
  '[ff02::1]', '[2001:db8::1]', '[100::1]', '[4000::1]', '[1::1]',
]
const LOCAL_NAMES = [
  'localhost', 'LOCALHOST', 'localhost.', 'app.localhost', 'printer.local', 'metadata.google.internal', 'metadata.google.internal.',
  'x.localdomain', 'router.home.arpa', 'ｌocalhost',
]

describe('a URL', () => {
  it.each([...PRIVATE, ...LOCAL_NAMES])('with the host %s is not saved', async (host) => {
    await open({ allowHttp: true })
    for (const url of [`https://${host}/`, `http://${host}:8080/a?b`]) {
      const { status, body } = await save(url)
      expect([url, status, body.data?.code, body.data?.issues?.[0]?.path]).toEqual([url, 400, 'VALIDATION_FAILED', ['url']])
    }
    expect(world.client.prepare('select url from webhooks').all()).toEqual([])
  })

  it.each<[why: string, url: unknown]>([
    ['another scheme', 'ftp://example.com/'], ['a file', 'file:///etc/passwd'], ['data', 'data:text/plain,x'], ['code', 'javascript:alert(1)'],
    ['a socket', 'unix:/run/docker.sock'], ['WebSockets', 'wss://example.com/'], ['plain HTTP', 'http://example.com/'],
    ['a user', 'https://user@example.com/'], ['a password', 'https://user:secret@example.com/'], ['only a password', 'https://:secret@example.com/'],
    ['no scheme', 'example.com'], ['no host', 'https://'], ['a number', 1], ['an object', { href: 'https://example.com/' }],
    ['a list', ['https://example.com/']], ['null', null], ['no text', ''], ['a port that is none', 'https://example.com:99999/'],
    ['a zone', 'https://[fe80::1%25eth0]/'], ['a long text', `https://example.com/${'x'.repeat(2048)}`],
  ])('is not saved, created or changed, with %s', async (_why, url) => {
    await open({ allowHttp: false })
    expect((await save(url)).status).toBe(400)
    const { id } = await world.make(1, { url: 'https://example.com/', events: ['posts.*'] })
    expect((await send('PATCH', `/webhooks/${id}`, { url })).status).toBe(400)
    expect(world.client.prepare('select url from webhooks').pluck().all()).toEqual(['https://example.com/'])
  })

  it.each(['https://example.com/hook?a=b', 'https://8.8.8.8/', 'https://[2606:4700:4700::1111]:8443/', 'https://localhost.example.com/'])(
    'is saved, if it is public: %s', async (url) => {
      await open()
      expect((await save(url)).status).toBe(201)
    })

  it('is checked again before each request, because the options or the row can have changed', async () => {
    await open()
    const { id } = await world.make(1, { url: 'https://example.com/', events: ['posts.*'] })
    world.client.prepare('update webhooks set url = ?').run('https://[::ffff:169.254.169.254]/latest')
    expect((await send('POST', `/webhooks/${id}/test`)).body).toMatchObject({ status: 'dead', error: 'The URL is not a public address.' })
    expect(asked).toEqual([])
  })
})

describe('a name', () => {
  const unspelled = PRIVATE.filter(host => /^[\d.]{7,}$|^\[/.test(host) && !/^\d+$|^0\d/.test(host) && !host.endsWith('.'))
    .map(host => host.replace(/^\[|\]$/g, ''))
  it.each([
    ...unspelled.map(address => [address]),
    ['8.8.8.8', '127.0.0.1'], ['10.0.0.1', '8.8.8.8'], ['2606:4700:4700::1111', '::1'], ['8.8.8.8', '2606:4700:4700::1111', 'fe80::1'],
    ['fe80::1%eth0'], ['not an address'],
  ].map(answer => ({ answer })))('that resolves to $answer gets nothing, and the delivery is dead', async ({ answer }) => {
    await open()
    names.set('hook.example', [answer])
    await world.make(1, { url: 'https://hook.example/', events: ['posts.*'] })
    await send('POST', '/posts', { title: 'one' })
    const [delivery] = await world.settled()
    expect(delivery).toMatchObject({
      status: 'dead', attempts: 1, due_at: null, response_status: null, response_body: null,
      error: 'The name of the receiver resolves to an address that is not public.',
    })
    // The reason names no address of this network.
    for (const address of answer) expect(String(delivery!.error)).not.toContain(address)
  })

  it('without addresses, or that does not exist, is asked for again later', async () => {
    await open()
    names.set('empty.example', [[]])
    for (const name of ['empty.example', 'missing.example']) await world.make(1, { url: `https://${name}/`, events: ['posts.*'] })
    await send('POST', '/posts', { title: 'one' })
    for (const delivery of await world.settled())
      expect(delivery).toMatchObject({ status: 'failed', error: 'The receiver could not be reached (ENOTFOUND).' })
  })

  it('is resolved once for each request, and the request goes to the address that was checked', async () => {
    await open({ allowHttp: true, allowPrivateNetworks: true })
    const seen: unknown[] = []
    const serve = () => createHttpServer((request, response) => {
      seen.push([request.socket.localAddress, request.headers.host])
      response.end()
    })
    const port = await listen(serve())
    await listen(serve(), '127.0.0.2', port)
    // The second answer is that of an attacker who changes the address between check and use.
    names.set('hook.example', [['127.0.0.1'], ['127.0.0.2']])
    expect(await deliver(`http://hook.example:${port}/`)).toMatchObject({ status: 'delivered' })
    expect([seen, asked]).toEqual([[['127.0.0.1', `hook.example:${port}`]], ['hook.example']])
  })

  it('that is public when the webhook is saved and private later is refused later', async () => {
    await open()
    names.set('hook.example', [['127.0.0.1']])
    expect(await deliver('https://hook.example/')).toMatchObject({ status: 'dead', attempts: 1 })
    expect((await save('https://hook.example/')).status).toBe(201)
  })
})

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])('with %d is not followed, and counts as failed', async (status) => {
    const inside = await openReceiver()
    const outside = await openReceiver((response: ServerResponse) => void response.writeHead(status, { location: inside.url }).end('moved'))
    closing.push(inside.close, outside.close)
    await open({ allowHttp: true, allowPrivateNetworks: true })
    expect(await deliver(outside.url)).toMatchObject({
      status: 'dead', responseStatus: status, responseBody: 'moved', error: `The receiver answered with the status ${status}.`,
    })
    expect([outside.received.length, inside.received]).toEqual([1, []])
  })
})

describe('a receiver', () => {
  const LATE = 'The receiver did not answer within 1 seconds.'
  /** Repeats a write until the connection ends. */
  const repeat = (socket: Socket, text: string, milliseconds: number) => {
    const timer = setInterval(() => socket.write(text), milliseconds)
    socket.on('close', () => clearInterval(timer)).on('error', () => {})
  }
  const begin = (socket: Socket, text: string) => {
    socket.write(text)
    return socket
  }
  const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n'

  it.each<[what: string, answer: (socket: Socket) => void, expected: object]>([
    ['never answers', () => {}, { error: LATE }],
    ['sends its headers one by one', socket => repeat(begin(socket, HEAD), 'x: y\r\n', 50), { error: LATE }],
    ['sends its body byte by byte', socket => repeat(begin(socket, `${HEAD}\r\n`), 'x', 50), { error: LATE }],
    ['sends a part of its body and stops', socket => void socket.write(`${HEAD}content-length: 9\r\n\r\nabc`), { error: LATE }],
    ['sends early hints without end', socket => repeat(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n', 20), { error: LATE }],
    ['closes the connection', socket => void socket.destroy(), { error: 'The receiver could not be reached (ECONNRESET).' }],
    ['closes in its body', socket => void socket.end(`${HEAD}content-length: 9\r\n\r\nabc`),
      { error: 'The receiver could not be reached (ECONNRESET).' }],
    ['sends no HTTP', socket => void socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
      { error: expect.stringMatching(/^The receiver could not be reached \(HPE_/) as string }],
    ['sends endless headers', socket => repeat(begin(socket, HEAD), `x: ${'y'.repeat(9000)}\r\n`, 1),
      { error: 'The receiver could not be reached (HPE_HEADER_OVERFLOW).' }],
    ['changes the protocol', socket => void socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      { error: 'The receiver could not be reached.' }],
  ])('that %s ends as failed after the time limit at the latest', async (_what, answer, expected) => {
    const port = await listen(createTcpServer((socket) => {
      socket.on('error', () => {}).once('data', () => answer(socket))
    }))
    await open({ allowHttp: true, allowPrivateNetworks: true, timeout: 1 })
    const before = performance.now()
    expect(await deliver(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 'dead', responseBody: null, ...expected })
    expect(performance.now() - before).toBeLessThan(4000)
  })

  it('that answers without end is read for 64 kB and kept for 1 kB', async () => {
    let written = 0
    let isClosed = false
    const port = await listen(createTcpServer((socket) => {
      socket.on('error', () => {}).on('close', () => isClosed = true).once('data', () => {
        const chunk = 'é'.repeat(32 * 1024)
        const more = () => {
          while (!socket.destroyed) {
            written += chunk.length * 2
            if (!socket.write(chunk)) return void socket.once('drain', more)
          }
        }
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        more()
      })
    }))
    await open({ allowHttp: true, allowPrivateNetworks: true })
    const delivery = await deliver(`http://127.0.0.1:${port}/`)
    expect(delivery).toMatchObject({ status: 'delivered', responseBody: 'é'.repeat(1024) })
    // What the buffers of the system take, and no more.
    expect(written).toBeLessThan(16 * 1024 * 1024)
    await vi.waitFor(() => expect(isClosed).toBe(true))
  })

  it('that ends its answer by closing the connection has answered', async () => {
    const port = await listen(createTcpServer((socket) => {
      socket.on('error', () => {}).once('data', () => void socket.end(`${HEAD}\r\nthanks`))
    }))
    await open({ allowHttp: true, allowPrivateNetworks: true })
    expect(await deliver(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 'delivered', responseBody: 'thanks' })
  })

  it('that answers with bytes that are no text is kept as text', async () => {
    const receiver = await openReceiver((response: ServerResponse) => void response.end(Buffer.from([0, 255, 65, 0, 66])))
    closing.push(receiver.close)
    await open({ allowHttp: true, allowPrivateNetworks: true })
    expect(await deliver(receiver.url)).toMatchObject({ status: 'delivered', responseBody: '\uFFFDAB' })
  })
})

describe('a secure receiver', () => {
  async function openSecure() {
    const seen: unknown[] = []
    const server = createHttpsServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
      seen.push([(request.socket as unknown as { servername: string }).servername, request.headers.host, request.url])
      response.end('ok')
    })
    return { port: await listen(server), seen }
  }

  it('gets the request under its name, with a certificate of this name', async () => {
    const { port, seen } = await openSecure()
    trusted.ca = CERTIFICATE
    names.set('hook.example', [['127.0.0.1']])
    await open({ allowPrivateNetworks: true })
    expect(await deliver(`https://hook.example:${port}/a?b=c`)).toMatchObject({ status: 'delivered', error: null })
    expect(seen).toEqual([['hook.example', `hook.example:${port}`, '/a?b=c']])
  })

  it.each<[why: string, host: string, isTrusted: boolean, code: string]>([
    ['of another name', 'other.example', true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['of a name, at an address', '127.0.0.1', true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['that nobody trusts', 'hook.example', false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ])('gets nothing if its certificate is one %s', async (_why, host, isTrusted, code) => {
    const { port, seen } = await openSecure()
    if (isTrusted) trusted.ca = CERTIFICATE
    names.set(host, [['127.0.0.1']])
    await open({ allowPrivateNetworks: true })
    expect(await deliver(`https://${host}:${port}/`)).toMatchObject({ status: 'dead', error: `The receiver could not be reached (${code}).` })
    expect(seen).toEqual([])
  })
})
