/** Nobody is measured who answers differently: every request of a round, byte by byte, and what has to be refused. */
import { REFUSALS, type Ask, type Operation } from './operations.ts'
import type { RunningServer } from './server.ts'
import type { Sample } from './dataset.ts'

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
