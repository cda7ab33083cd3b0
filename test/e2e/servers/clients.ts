/** Clients that write and read through a proxy all the time, and remember what was acknowledged. */
import { randomUUID } from 'node:crypto'
import { request as open } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { memberOf } from './orders'

/** An order that a client has written. */
interface Order {
  readonly id: number
  readonly name: string
  version: number
  deleted: boolean
  /** The last change got no response: it can be in the database or not. */
  uncertain?: { readonly version: number, readonly deleted: boolean }
}

/** A request that failed, and when. */
export interface Failure {
  readonly what: string
  readonly status: number
  readonly text: string
  readonly start: number
  readonly end: number
}

export interface Client {
  readonly organization: number
  readonly orders: readonly Order[]
  /** The names of lines that one bulk request has created, by request. All of them are acknowledged. */
  readonly batches: readonly (readonly string[])[]
  readonly failures: readonly Failure[]
  /** What no correct deployment returns. */
  readonly wrong: readonly string[]
  readonly requests: number
  readonly stop: () => Promise<void>
}

interface Answer {
  readonly status: number
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test reads whatever a response holds
  readonly body: any
}

const LINES = 3
/** Milliseconds after which a request has failed. */
const TIMEOUT = 20_000

/** @param token an API token of a member. Without it, the client has a session. */
export function startClient(url: string, organization: number, token?: string): Client {
  const orders: Order[] = []
  const batches: string[][] = []
  const failures: Failure[] = []
  const wrong: string[] = []
  const state = { requests: 0, ends: false, marker: '' }
  const credentials: Record<string, string> = token
    ? { authorization: `Bearer ${token}` }
    : { 'x-caller': JSON.stringify(memberOf(organization)) }

  async function send(method: string, path: string, body?: unknown, key?: string): Promise<Answer> {
    const start = performance.now()
    state.requests++
    const headers: Record<string, string> = {
      ...credentials, connection: 'close', ...body !== undefined && { 'content-type': 'application/json' },
      ...key && { 'idempotency-key': key }, ...state.marker && { 'consistency-token': state.marker },
    }
    const {
      status,
      body: text,
      marker,
    } = await exchange(url + path, method, headers, body === undefined ? undefined : JSON.stringify(body))
    if (marker) state.marker = marker
    if (status === 0 || status >= 500) failures.push({ what: `${method} ${path}`, status, text, start, end: performance.now() })
    return { status, body: status > 0 && status < 500 && text !== '' ? JSON.parse(text) : text }
  }

  /** Repeats a write with its key until it has a response. */
  async function insist(method: string, path: string, body: unknown): Promise<Answer> {
    const key = randomUUID()
    for (;;) {
      const answer = await send(method, path, body, key)
      if (answer.status > 0 && answer.status < 500) return answer
      await wait(100)
    }
  }

  const expectStatus = (what: string, { status, body }: Answer, expected: number) => {
    if (status !== expected) wrong.push(`${what}: ${status} instead of ${expected}: ${JSON.stringify(body)}`)
    return status === expected
  }

  async function create(): Promise<void> {
    const name = `organization ${organization} ${randomUUID()}`
    const answer = await insist('POST', '/api/orders', { name })
    if (!expectStatus(`create ${name}`, answer, 201)) return
    const order: Order = { id: answer.body.id, name, version: 0, deleted: false }
    const names = Array.from({ length: LINES }, (_, index) => `organization ${organization} ${randomUUID()} ${index}`)
    const lines = await insist('POST', '/api/lines/bulk', { items: names.map(name => ({ name, orderId: order.id })) })
    if (expectStatus(`create lines of ${name}`, lines, 200)) batches.push(names)
    orders.push(order)
  }

  /** A change without a key, as most clients send it: after a failure nobody knows whether it was committed. */
  async function change(order: Order): Promise<void> {
    const next = Math.random() < 0.3 ? { version: order.version, deleted: true } : { version: order.version + 1, deleted: false }
    const path = `/api/orders/${order.id}`
    const answer = next.deleted ? await send('DELETE', path) : await send('PATCH', path, { version: next.version })
    if (answer.status === 0 || answer.status >= 500) order.uncertain = next
    else if (expectStatus(`change ${order.name} to ${JSON.stringify(next)}`, answer, 200)) Object.assign(order, next)
  }

  async function read(order: Order): Promise<void> {
    const { version, deleted } = order
    const answer = await send('GET', `/api/orders/${order.id}?include=lines`)
    if (answer.status === 0 || answer.status >= 500) return
    if (!expectStatus(`read own ${order.name}`, answer, deleted ? 404 : 200) || deleted) return
    if (answer.body.version !== version) wrong.push(`read own ${order.name}: version ${answer.body.version} instead of ${version}`)
    if (answer.body.lines.length !== LINES) wrong.push(`read own ${order.name}: ${answer.body.lines.length} lines`)
  }

  async function list(path: string): Promise<void> {
    const answer = await send('GET', path)
    if (answer.status === 0 || answer.status >= 500) return
    if (!expectStatus(path, answer, 200)) return
    for (const { organizationId, name } of answer.body.data as { organizationId: number, name: string }[])
      if (organizationId !== organization || !name.startsWith(`organization ${organization} `))
        wrong.push(`${path}: a row of organization ${organizationId}, ${name}`)
  }

  const certain = () => orders.filter(({ uncertain, deleted }) => !uncertain && !deleted)
  const any = <T>(list: readonly T[]) => list[Math.floor(Math.random() * list.length)]

  const finished = (async () => {
    while (!state.ends) {
      const order = any(certain())
      const turn = Math.random()
      if (!order || turn < 0.2) await create()
      else if (turn < 0.5) await change(order)
      const last = any(orders.filter(({ uncertain }) => !uncertain).slice(-5))
      if (last) await read(last)
      if (turn > 0.5) await list(turn > 0.75 ? '/api/orders?sort=-id&limit=20' : '/api/lines?sort=-id&limit=20&include=order')
    }
  })()

  return {
    organization, orders, batches, failures, wrong,
    get requests() {
      return state.requests
    },
    async stop() {
      state.ends = true
      await finished
    },
  }
}

/** @returns the status 0 if the connection breaks. */
function exchange(
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: string,
): Promise<{ status: number, body: string, marker?: string }> {
  return new Promise((resolve) => {
    const fail = (error: Error) => resolve({ status: 0, body: error.message })
    const sent = open(url, { method, headers, agent: false, timeout: TIMEOUT }, (response) => {
      let text = ''
      response
        .setEncoding('utf8')
        .on('data', chunk => (text += chunk))
        .on('error', fail)
      response.on('end', () =>
        resolve({ status: response.statusCode!, body: text, marker: response.headers['consistency-token'] as string | undefined }),
      )
      response.on('close', () => fail(new Error('the response was cut')))
    })
    sent
      .on('error', fail)
      .on('timeout', () => sent.destroy(new Error(`no response within ${TIMEOUT} ms`)))
      .end(body)
  })
}
