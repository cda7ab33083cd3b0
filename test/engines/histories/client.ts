/** A client that sends requests to several instances of the API, and records what they wrote and returned. */
import type { Operation } from './check/history'
import { KEYS, moment, readItems, readMark, toItems, type Known, type Shelf } from './shelf'

export interface Answer {
  readonly status: number
  readonly etag: string | null
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- whatever a response holds
  readonly body: any
}

/** Without an answer, the request may have been handled. `'not sent'`: no server listens. */
export type Send
  = (method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>) => Promise<Answer | 'not sent' | undefined>

export interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly ifMatch?: string
  readonly writes?: readonly Operation[]
  /** Records of cells as the request must have found them. */
  readonly found?: readonly Operation[]
  /** What the response says about the moment of the request. */
  readonly reads?: (body: Answer['body']) => readonly Operation[]
  /** Further reads, each at a moment of its own. */
  readonly later?: (body: Answer['body']) => readonly (readonly Operation[])[]
  /** Statuses of refusals, beside 503. */
  readonly refusals?: readonly number[]
  /** Nothing is written, whatever the response is. */
  readonly isDryRun?: boolean
}

/** The random numbers of mulberry32. */
export function createRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = state + 0x6D2B79F5 | 0
    let mixed = Math.imul(state ^ state >>> 15, 1 | state)
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed
    return ((mixed ^ mixed >>> 14) >>> 0) / 4_294_967_296
  }
}

export class Client {
  /** Cells as the client read them last. */
  readonly known = new Map<number, Known>()
  /** Responses that no request may have. */
  readonly problems: string[] = []
  readonly statuses = new Map<string, number>()

  constructor(readonly random: () => number, readonly servers: readonly Send[]) {}

  below = (limit: number): number => Math.floor(this.random() * limit)
  pick = <T>(values: readonly T[]): T => values[this.below(values.length)]!
  cellOf = ({ ids }: Shelf): number => this.pick(ids)

  /** @returns the response if the request succeeded */
  async send(shelf: Shelf, sent: Sent): Promise<Answer | undefined> {
    const { method, path, body, ifMatch, writes = [], found = [], reads, later, refusals = [], isDryRun = false } = sent
    const server = this.below(this.servers.length)
    const name = `${method} ${path} on server ${server}${ifMatch === undefined ? '' : ' with If-Match'}`
    const begin = moment()
    const answer = await this.servers[server]!(method, path, body, ifMatch === undefined ? {} : { 'if-match': ifMatch })
    const status = answer === undefined ? 'none' : answer === 'not sent' ? answer : String(answer.status)
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    if (answer === undefined) {
      shelf.record(name, begin, isDryRun ? 'refused' : 'unknown', writes)
      return undefined
    }
    if (answer === 'not sent' || answer.status >= 300) {
      if (answer !== 'not sent' && ![503, ...refusals].includes(answer.status))
        this.problems.push(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`)
      shelf.record(name, begin, 'refused', writes)
      return undefined
    }
    if (isDryRun) shelf.record(name, begin, 'refused', writes)
    else shelf.record(name, begin, 'done', [...found, ...reads?.(answer.body) ?? [], ...writes])
    for (const operations of later?.(answer.body) ?? []) shelf.record(`${name}, a later statement`, begin, 'done', operations)
    return answer
  }

  async get(shelf: Shelf, id: number): Promise<Known | undefined> {
    const answer = await this.send(shelf, {
      method: 'GET', path: `cells/${id}`, reads: ({ items, mark }) => [readItems(id, items), readMark(id, mark)],
    })
    if (!answer) return undefined
    const known = { tag: answer.etag!, items: toItems(answer.body.items), mark: answer.body.mark }
    this.known.set(id, known)
    return known
  }

  /** The cell as it is now or, sometimes, as it was a while ago. */
  async read(shelf: Shelf, id: number): Promise<Known | undefined> {
    const known = this.known.get(id)
    return known && this.random() < 0.3 ? known : this.get(shelf, id)
  }

  /** The next request does not use what the client knew before it. */
  forget = (ids: Iterable<number>): void => {
    for (const id of ids) this.known.delete(id)
  }

  async update(shelf: Shelf, id: number, { data, known, ...sent }: CellUpdate): Promise<void> {
    const answer = await this.send(shelf, {
      method: 'PATCH', path: `cells/${id}`, body: data,
      ...known && { ifMatch: known.tag, found: foundIn(id, known), refusals: [412] },
      ...sent,
    })
    this.forget([id])
    if (!answer || sent.isDryRun) return
    const { items, mark } = answer.body
    if (known) this.expectAnswer(answer, { items: known.items.join(), mark: known.mark, ...data })
    this.known.set(id, { tag: answer.etag!, items: toItems(items), mark })
  }

  private expectAnswer({ body }: Answer, expected: Readonly<Record<string, unknown>>): void {
    if (body.items !== expected.items || body.mark !== expected.mark)
      this.problems.push(`${JSON.stringify(body)} instead of ${JSON.stringify(expected)}`)
  }
}

export interface CellUpdate extends Partial<Pick<Sent, 'writes' | 'reads' | 'isDryRun' | 'path'>> {
  readonly data: Readonly<Record<string, unknown>>
  /** The cell that the tag of the request belongs to. */
  readonly known?: Known
}

/** A write with a tag finds the cell as the client read it. */
export const foundIn = (id: number, { items, mark }: Known): Operation[] =>
  [{ kind: 'read list', key: KEYS.items(id), values: items }, readMark(id, mark)]
