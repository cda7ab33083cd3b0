/** A TCP proxy in front of several servers: it sends each connection to the next server that its health check accepts. */
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'

export interface Proxy {
  readonly url: string
  /** Sends connections to the server from now on. */
  readonly add: (url: string) => void
  /** Sends no new connections to the server. Those that it has remain. */
  readonly remove: (url: string) => void
  /** The servers that get connections. */
  readonly used: () => readonly string[]
  readonly close: () => void
}

export interface ProxyOptions {
  /** The path that a healthy server answers with 200. */
  readonly health: string
  /** Milliseconds between two checks. */
  readonly interval: number
  /** Milliseconds that a response can take. */
  readonly timeout: number
}

const NONE = 'HTTP/1.1 503 Service Unavailable\r\nx-proxy: no server\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'

export async function startProxy(urls: readonly string[], { health, interval, timeout }: ProxyOptions): Promise<Proxy> {
  const healthy = new Map(urls.map(url => [url, true]))
  let turn = 0

  const server = createServer({ allowHalfOpen: true }, client => send(client, next()))
  const next = () => {
    const used = usedOf(healthy)
    return used.length === 0 ? undefined : used[turn++ % used.length]
  }

  /** A server that refuses the connection has read nothing: another one gets it. */
  function send(client: Socket, url: string | undefined): void {
    client.on('error', () => {})
    if (url === undefined) return void client.end(NONE)
    const upstream = connect(Number(new URL(url).port), '127.0.0.1')
    upstream.once('error', () => {
      if (!upstream.connecting && upstream.bytesRead + upstream.bytesWritten > 0) return client.destroy()
      if (healthy.has(url)) healthy.set(url, false)
      send(client, next())
    })
    upstream.once('connect', () => {
      upstream.on('error', () => client.destroy())
      upstream.once('close', hadError => hadError && client.destroy())
      client.once('close', () => upstream.destroy())
      client.pipe(upstream).pipe(client)
    })
  }

  const check = async (url: string) => {
    const { status } = await fetch(url + health, { signal: AbortSignal.timeout(timeout), headers: { connection: 'close' } }).catch(() => ({
      status: 0,
    }))
    if (healthy.has(url)) healthy.set(url, status === 200)
  }
  const timer = setInterval(() => void Promise.all([...healthy.keys()].map(check)), interval)

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: url => void healthy.set(url, true),
    remove: url => void healthy.delete(url),
    used: () => usedOf(healthy),
    close() {
      clearInterval(timer)
      server.close()
    },
  }
}

const usedOf = (healthy: ReadonlyMap<string, boolean>) => [...healthy].filter(([, isHealthy]) => isHealthy).map(([url]) => url)
