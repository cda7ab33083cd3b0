/** Checks before measuring that all servers return the same responses, byte for byte, and refuse the same requests. */
import { OPERATIONS, REFUSALS, type BenchRequest, type Operation } from './operations.ts'
import { toPeerQuery, type Peer, type Row } from './peers.ts'
import type { RunningServer } from './server.ts'
import type { Sample } from './dataset.ts'

const [LIST] = OPERATIONS as [Operation]

interface ServerResponse {
  readonly status: number
  readonly type: string | null
  readonly text: string
}

/**
 * Sends every request of a round to all servers.
 * @returns the mean size of a response in bytes.
 * @throws When a response is wrong, or differs between servers.
 */
export async function assertSameResponses(operation: Operation, servers: readonly RunningServer[], sample: Sample): Promise<number> {
  const requests = operation.requests(sample)
  let bytes = 0
  for (const request of requests) {
    const [expected, ...others] = await Promise.all(servers.map(server => send(server, request)))
    const [first, ...rest] = servers
    const where = `${operation.title}: caller ${request.caller}, posts${request.path}`
    if (expected!.status !== (operation.status ?? 200) || !operation.isCorrect((operation.parse ?? JSON.parse)(expected!.text))) {
      throw new Error(`${where}: the response of ${first!.implementation.key} is wrong\n${show(expected!)}`)
    }
    others.forEach((response, index) => {
      if (comparable(operation, response) === comparable(operation, expected!)) return
      throw new Error(`${where}: the response of ${rest[index]!.implementation.key} differs\n${show(expected!)}\n${show(response)}`)
    })
    bytes += Buffer.byteLength(expected!.text)
  }
  return Math.round(bytes / requests.length)
}

/**
 * Compares the rows of a peer with ours: the same rows, in the same order, with the same columns. The envelope can differ.
 * @throws When the rows differ.
 */
export async function assertSameRows(operation: Operation, ours: RunningServer, peer: RunningServer, sample: Sample): Promise<void> {
  const implementation = peer.implementation as Peer
  const translated = translate(operation, implementation, sample)
  const pairs = operation.requests(sample).map((request, index) => [request, translated?.[index]] as const)
  for (const [request, theirs] of pairs) {
    if (!theirs) return
    const sorted = implementation.sort && request.body === undefined && request.path.startsWith('?')
      ? { ...request, path: `${request.path}&sort=${implementation.sort}` }
      : request
    const [expected, response] = await Promise.all([send(ours, sorted), send(peer, theirs)])
    const body = JSON.parse(expected.text) as { data?: Row[] }
    const rows = (response.status < 300 ? implementation.rows(JSON.parse(response.text)) : []).map(row => canonical(row, request))
    if (JSON.stringify(rows) !== JSON.stringify((body.data ?? [body as Row]).map(row => canonical(row, request)))) {
      const where = `${operation.title}: ${implementation.key}, caller ${request.caller}, ${theirs.path}`
      throw new Error(`${where}: the rows differ\n${show(expected).slice(0, 300)}\n${show(response).slice(0, 300)}`)
    }
  }
}

/** Whether an anonymous caller gets no rows: an error, or an empty list. */
export async function refusesAnonymous(peer: RunningServer, sample: Sample): Promise<boolean> {
  const [first] = translate(LIST, peer.implementation as Peer, sample)!
  const { status, text } = await send(peer, { ...first!, caller: undefined })
  return status >= 400 || (peer.implementation as Peer).rows(JSON.parse(text)).length === 0
}

/** The requests of an operation in the format of a peer; `undefined` if the peer cannot do the operation. */
export function translate(operation: Operation, peer: Peer, sample: Sample): BenchRequest[] | undefined {
  if (operation.peers === false) return undefined
  const translated = operation.requests(sample).map((request) => {
    const theirs = peer.toRequest(toPeerQuery(request))
    return theirs && { caller: request.caller, ...theirs }
  })
  return translated.every(request => request !== undefined) ? translated : undefined
}

/** Columns in one order. For a write, without the columns whose values the server or the database generates. */
function canonical(row: Row, { body }: BenchRequest): Row {
  const made = body === undefined ? [] : ['id', 'createdAt', 'updatedAt', 'publishedAt']
  return Object.fromEntries(Object.entries(row).filter(([key]) => !made.includes(key)).toSorted(([a], [b]) => a < b ? -1 : 1))
}

/** @throws When a server accepts a request that it must refuse. */
export async function assertSameRefusals(servers: readonly RunningServer[], sample: Sample): Promise<void> {
  for (const server of servers) {
    for (const { title, status, request } of REFUSALS) {
      const response = await send(server, request(sample))
      if (response.status === status) continue
      throw new Error(`${title}: ${server.implementation.key} returns ${response.status} instead of ${status}\n${show(response)}`)
    }
  }
}

/** The response as text. For a write, without generated ids and times. */
function comparable({ status }: Operation, response: ServerResponse): string {
  const text = show(response)
  return status === undefined ? text : text.replace(/"(id|createdAt|updatedAt)":("[^"]*"|\d+)/g, '"$1":"generated"')
}

async function send(server: RunningServer, request: BenchRequest): Promise<ServerResponse> {
  const response = await fetch(server.posts + request.path, toFetchOptions(request))
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

interface FetchOptions {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly headers: Record<string, string>
  readonly body?: string
}

/** Method, headers and body, in the format of both `fetch` and autocannon. */
export function toFetchOptions({ caller, body, method, ifNoneMatch }: BenchRequest): FetchOptions {
  return {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      ...caller !== undefined && { 'x-caller': String(caller) },
      ...body !== undefined && { 'content-type': 'application/json' },
      ...ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch },
    },
    ...body !== undefined && { body: JSON.stringify(body) },
  }
}

const show = ({ status, type, text }: ServerResponse) => `${status} ${type} ${text}`
