/** Nobody is measured who answers differently: every request of a round, byte by byte, and what has to be refused. */
import { OPERATIONS, REFUSALS, type Ask, type Operation } from './operations.ts'
import { toQuestion, type Peer, type Row } from './peers.ts'
import type { RunningServer } from './server.ts'
import type { Sample } from './dataset.ts'

const [LIST] = OPERATIONS as [Operation]

interface Answer {
  readonly status: number
  readonly type: string | null
  readonly text: string
}

/** @throws When an answer is not right, or not the same everywhere. Returns the mean size of an answer in bytes. */
export async function assertSameAnswers(operation: Operation, servers: readonly RunningServer[], sample: Sample): Promise<number> {
  const asks = operation.asks(sample)
  let bytes = 0
  for (const ask of asks) {
    const [expected, ...others] = await Promise.all(servers.map(server => request(server, ask)))
    const [first, ...rest] = servers
    const where = `${operation.title}: caller ${ask.caller}, posts${ask.path}`
    if (expected!.status !== (operation.status ?? 200) || !operation.isRight(JSON.parse(expected!.text))) {
      throw new Error(`${where}: ${first!.contestant.key} does not answer as it should\n${show(expected!)}`)
    }
    others.forEach((answer, index) => {
      if (comparable(operation, answer) === comparable(operation, expected!)) return
      throw new Error(`${where}: ${rest[index]!.contestant.key} answers differently\n${show(expected!)}\n${show(answer)}`)
    })
    bytes += Buffer.byteLength(expected!.text)
  }
  return Math.round(bytes / asks.length)
}

/**
 * A peer has its own envelope: the same rows in the same order with the same columns are what is asked of it.
 * @throws When it answers other rows than `ours`.
 */
export async function assertSameRows(operation: Operation, ours: RunningServer, peer: RunningServer, sample: Sample): Promise<void> {
  const contestant = peer.contestant as Peer
  const asks = translate(operation, contestant, sample)
  const pairs = operation.asks(sample).map((ask, index) => [ask, asks?.[index]] as const)
  for (const [ask, theirs] of pairs) {
    if (!theirs) return
    const sorted = contestant.sort && ask.body === undefined && ask.path.startsWith('?') ? { ...ask, path: `${ask.path}&sort=${contestant.sort}` } : ask
    const [expected, answer] = await Promise.all([request(ours, sorted), request(peer, theirs)])
    const body = JSON.parse(expected.text) as { data?: Row[] }
    const rows = (answer.status < 300 ? contestant.rows(JSON.parse(answer.text)) : []).map(row => canonical(row, ask))
    if (JSON.stringify(rows) !== JSON.stringify((body.data ?? [body as Row]).map(row => canonical(row, ask)))) {
      throw new Error(`${operation.title}: ${contestant.key}, caller ${ask.caller}, ${theirs.path} answers other rows\n${show(expected).slice(0, 300)}\n${show(answer).slice(0, 300)}`)
    }
  }
}

/** Whether who has no name gets no rows: an error, or with access policies an empty list. */
export async function refusesNobody(peer: RunningServer, sample: Sample): Promise<boolean> {
  const [ask] = translate(LIST, peer.contestant as Peer, sample)!
  const { status, text } = await request(peer, { ...ask!, caller: undefined })
  return status >= 400 || (peer.contestant as Peer).rows(JSON.parse(text)).length === 0
}

/** The operation in a peer's words, or nothing where it cannot do this. */
export function translate(operation: Operation, peer: Peer, sample: Sample): Ask[] | undefined {
  const asks = operation.asks(sample).map((ask) => {
    const theirs = peer.ask(toQuestion(ask))
    return theirs && { caller: ask.caller, ...theirs }
  })
  return asks.every(ask => ask !== undefined) ? asks : undefined
}

/** Columns in one order; of a write without what every server makes up, and what some leave to the database. */
function canonical(row: Row, { body }: Ask): Row {
  const made = body === undefined ? [] : ['id', 'createdAt', 'updatedAt', 'publishedAt']
  return Object.fromEntries(Object.entries(row).filter(([key]) => !made.includes(key)).toSorted(([a], [b]) => a < b ? -1 : 1))
}

/** @throws When a server lets through what it must refuse. */
export async function assertSameRefusals(servers: readonly RunningServer[], sample: Sample): Promise<void> {
  for (const server of servers) {
    for (const { title, status, ask } of REFUSALS) {
      const answer = await request(server, ask(sample))
      if (answer.status !== status) throw new Error(`${title}: ${server.contestant.key} answers ${answer.status} instead of ${status}\n${show(answer)}`)
    }
  }
}

/** Of a write, all but what every server makes up for itself. */
function comparable({ status }: Operation, answer: Answer): string {
  const text = show(answer)
  return status === undefined ? text : text.replace(/"(id|createdAt|updatedAt)":("[^"]*"|\d+)/g, '"$1":"made"')
}

async function request(server: RunningServer, ask: Ask): Promise<Answer> {
  const response = await fetch(server.posts + ask.path, toRequest(ask))
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

/** A request as `fetch` and autocannon both take it. */
export function toRequest({ caller, body }: Ask): { method: 'GET' | 'POST', headers: Record<string, string>, body?: string } {
  return {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...caller !== undefined && { 'x-caller': String(caller) }, ...body !== undefined && { 'content-type': 'application/json' } },
    ...body !== undefined && { body: JSON.stringify(body) },
  }
}

const show = ({ status, type, text }: Answer) => `${status} ${type} ${text}`
