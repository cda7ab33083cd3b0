/** An API in memory with streams: what a client sees of the plugin `live`, without its rules. */

export type Row = Readonly<Record<string, unknown>> & { readonly id: number }

interface Stream {
  readonly resources: readonly string[]
  readonly last: string | null
  readonly caller: string
  readonly push: (text: string) => void
  readonly end: () => void
}

export interface FakeServer {
  readonly handle: (request: Request) => Promise<Response>
  /** `GET /api/posts`, without the streams. */
  readonly requests: string[]
  /** The streams that are open, and the resources of each that was opened. */
  readonly streams: ReadonlySet<Stream>
  readonly opened: { readonly resources: string, readonly last: string | null, readonly caller: string }[]
  /** Writes a row, and sends its signal. */
  readonly write: (resource: string, id: number, values: object) => void
  readonly remove: (resource: string, id: number) => void
  readonly rows: (resource: string) => Row[]
  /** Sends text to all streams. */
  readonly send: (text: string) => void
  /** Ends all streams without a word. */
  readonly drop: () => void
  /** As `drop`, and forgets the events: no stream can resume. */
  readonly restart: () => void
  caller: string
  /** What the next streams are answered with. */
  readonly refusals: (() => Response)[]
  /** Whether it answers streams with `poll`. */
  polls: boolean
  /** Resources that the caller cannot read. @param named whether the error names them */
  forbidden: { readonly names: readonly string[], readonly named: boolean }
  /** Waits before and after a request reads the rows. */
  wait: () => Promise<void>
}

const json = (body: unknown, status = 200) => Response.json(body, { status })
export const errorOf = (status: number, code: string, data: object = {}) => json({ message: code, data: { code, ...data } }, status)
export const eventOf = (event: string, data: object, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

const NOT_FOUND = { status: 404, body: { message: 'Not found', data: { code: 'NOT_FOUND' } } }

/** @param capacity how many events it keeps for streams that resume */
export function createFakeServer(capacity = 1_000): FakeServer {
  const tables = new Map<string, Map<number, Row>>()
  const streams = new Set<Stream>()
  let epoch = 1
  let count = 0
  let ring: { readonly number: number, readonly resource: string, readonly text: string }[] = []

  const tableOf = (resource: string) => tables.get(resource) ?? tables.set(resource, new Map()).get(resource)!
  const rows = (resource: string) => [...tableOf(resource).values()].sort((a, b) => a.id - b.id)

  function signal(event: 'changed' | 'gone', resource: string, id: number): void {
    const number = ++count
    const text = eventOf(event, { resource, id: String(id) }, `${epoch}-${number}`)
    ring = [...ring, { number, resource, text }].slice(-capacity)
    for (const stream of streams) if (stream.resources.includes(resource)) stream.push(text)
  }

  function stream(url: URL, request: Request): Response {
    const resources = url.searchParams.get('resources')!.split(',')
    const last = request.headers.get('last-event-id')
    server.opened.push({ resources: resources.join(), last, caller: server.caller })
    const refusal = server.refusals.shift()
    if (refusal) return refusal()
    const forbidden = resources.filter(name => server.forbidden.names.includes(name))
    if (forbidden.length > 0) return errorOf(403, 'FORBIDDEN', server.forbidden.named ? { fields: forbidden } : {})
    const encoder = new TextEncoder()
    let open: Stream
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const end = () => {
          if (streams.delete(open)) controller.close()
        }
        open = { resources, last, caller: server.caller, push: text => controller.enqueue(encoder.encode(text)), end }
        streams.add(open)
        open.push(`:\n\nretry: 30\n${eventOf('open', { id: 'x' }, `${epoch}-${count}`)}`)
        if (server.polls) {
          open.push(eventOf('poll', { interval: 50 }))
          return end()
        }
        if (last === null) return
        const [from, number] = last.split('-').map(Number) as [number, number]
        if (from !== epoch || number < (ring[0]?.number ?? count + 1) - 1) open.push(eventOf('reset', {}, `${epoch}-${count}`))
        else for (const event of ring) if (event.number > number && resources.includes(event.resource)) open.push(event.text)
      },
      cancel: () => void streams.delete(open),
    })
    request.signal.addEventListener('abort', () => open.end())
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }

  async function answer(request: Request, url: URL): Promise<Response> {
    const [, , resource, id] = url.pathname.split('/') as [string, string, string, string | undefined]
    server.requests.push(`${request.method} ${url.pathname}${decodeURIComponent(url.search)}`)
    const { status, body } = await readOrWrite(request, resource, id, url)
    return json(body, status)
  }

  async function readOrWrite(request: Request, resource: string, id: string | undefined, { searchParams }: URL) {
    await server.wait()
    const result = request.method === 'GET' ? read(resource, id, searchParams) : await change(request, resource, Number(id))
    await server.wait()
    return result
  }

  function read(resource: string, id: string | undefined, query: URLSearchParams) {
    const included = query.get('include')?.includes('comments') ?? false
    const expand = (row: Row) => included ? { ...row, comments: rows('comments').filter(({ postId }) => postId === row.id) } : row
    if (id === 'aggregate') return { status: 200, body: { data: [{ count: rows(resource).length }], meta: { total: 1 } } }
    if (id === undefined) {
      const data = rows(resource).map(expand)
      return { status: 200, body: { data, meta: { page: 1, limit: 20, total: data.length, nextCursor: null } } }
    }
    const row = tableOf(resource).get(Number(id))
    return row ? { status: 200, body: expand(row) } : NOT_FOUND
  }

  async function change(request: Request, resource: string, id: number) {
    if (Number.isNaN(id)) return NOT_FOUND
    if (request.method === 'DELETE') server.remove(resource, id)
    else server.write(resource, id, await request.json() as object)
    return { status: 200, body: tableOf(resource).get(id) ?? {} }
  }

  const server: FakeServer = {
    requests: [],
    streams,
    opened: [],
    caller: 'ada',
    refusals: [],
    polls: false,
    forbidden: { names: [], named: false },
    wait: () => Promise.resolve(),
    rows,
    handle(request) {
      const url = new URL(request.url)
      return url.pathname === '/api/_live' ? Promise.resolve(stream(url, request)) : answer(request, url)
    },
    write(resource, id, values) {
      tableOf(resource).set(id, { ...tableOf(resource).get(id), ...values, id })
      signal('changed', resource, id)
    },
    remove(resource, id) {
      if (tableOf(resource).delete(id)) signal('gone', resource, id)
    },
    send(text) {
      for (const { push } of streams) push(text)
    },
    drop() {
      for (const { end } of [...streams]) end()
    },
    restart() {
      server.drop()
      epoch++
      ring = []
    },
  }
  return server
}
