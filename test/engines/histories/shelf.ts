/** A few cells that requests read and write together, and their history. No request reaches two shelves. */
import type { Dialect } from '../../../src/runtime/shared/dialects'
import type { History, Key, Operation, Outcome, Transaction } from './check/history'
import type { World } from './databases'
import { PINS, TAGS } from './tables'

export const CELLS = 4

/** A shelf with a longer list gets no more requests: the whole history is checked, and the next shelf begins. */
const LONGEST = 40
const MOST_REQUESTS = 900
const MOST_ENTRIES = 100

export interface Known { readonly tag: string, readonly items: readonly number[], readonly mark: number }

/** Each moment is another number. */
let now = 0
export const moment = () => ++now

/** A member of a set of a cell. */
export interface Member { readonly cell: number, readonly value: number }

export class Shelf {
  readonly ids: readonly number[]
  readonly transactions: Transaction[] = []
  /** Whether its cells exist: before that, requests only read them. */
  isReady = false
  isFull = false
  running = 0
  /** Members of sets that a request can remove: each once. */
  readonly removable = { entries: [] as Member[], tags: [] as Member[] }
  #value = 0
  #entries = 0
  #tags = 0
  #pins = 0

  constructor(readonly number: number) {
    this.ids = Array.from({ length: CELLS }, (_, index) => number * CELLS + index + 1)
  }

  /** A value that no other request writes. */
  newValue = (): number => ++this.#value

  /** As many as a page of a list has. */
  newEntry(): number | undefined {
    return this.#entries < MOST_ENTRIES ? this.number * 1000 + ++this.#entries : undefined
  }

  /** Of all cells together, so that a few cells cannot use them up. */
  newTag(): number | undefined {
    return this.#tags < TAGS ? ++this.#tags : undefined
  }

  newPins(): readonly [number, number] | undefined {
    let [at, first] = [this.#pins, 1]
    for (; first < PINS && at >= PINS - first; first++) at -= PINS - first
    if (first >= PINS) return undefined
    this.#pins++
    return [first, first + 1 + at]
  }

  record(name: string, begin: number, outcome: Outcome, operations: readonly Operation[]): void {
    this.transactions.push({ name, begin, end: outcome === 'unknown' ? Infinity : moment(), outcome, operations })
    const isLong = operations.some(operation => operation.kind === 'read list' && operation.values.length >= LONGEST)
    if (isLong || this.transactions.length > MOST_REQUESTS) this.isFull = true
  }
}

export const KEYS = {
  items: (cell: number): Key => `items ${cell}`,
  mark: (cell: number): Key => `mark ${cell}`,
  entries: (cell: number): Key => `entries ${cell}`,
  tags: (cell: number): Key => `tags ${cell}`,
  pins: (cell: number): Key => `pins ${cell}`,
}

export const toItems = (text: string): number[] => text === '' ? [] : text.split(',').map(Number)

/** A pair of pins as one value. Other numbers of pins are no value that a request has written. */
export const toPins = (ids: readonly number[]): number => ids.toSorted((a, b) => a - b).reduce((sum, id) => sum * 1000 + id, 0)

export const readItems = (cell: number, text: string): Operation => ({ kind: 'read list', key: KEYS.items(cell), values: toItems(text) })
export const readMark = (cell: number, value: number): Operation => ({ kind: 'read register', key: KEYS.mark(cell), value })

/** A record of a cell. */
export interface Cell { readonly id: string, readonly items: string, readonly mark: number }

/** A read of all cells. A cell that does not exist has neither items nor a mark. */
export function readCells(ids: readonly number[], rows: readonly Cell[]): Operation[] {
  const byId = new Map(rows.map(row => [Number(row.id), row]))
  return ids.flatMap(id => [readItems(id, byId.get(id)?.items ?? ''), readMark(id, byId.get(id)?.mark ?? 0)])
}

type Pair = readonly [cell: number, value: number]

/** A read of the sets of all cells. */
export function readSets(key: (cell: number) => Key, ids: readonly number[], pairs: readonly Pair[]): Operation[] {
  const byCell = Map.groupBy(pairs, ([cell]) => cell)
  return ids.map(id => ({ kind: 'read set', key: key(id), values: (byCell.get(id) ?? []).map(([, value]) => value) }))
}

export function readPins(ids: readonly number[], pairs: readonly Pair[]): Operation[] {
  const byCell = Map.groupBy(pairs, ([cell]) => cell)
  return ids.map(id => ({ kind: 'read register', key: KEYS.pins(id), value: toPins((byCell.get(id) ?? []).map(([, pin]) => pin)) }))
}

/** Reads everything without the API, after the last request. */
export async function toHistory({ ids, number, transactions }: Shelf, { all, dialect }: World, log: boolean): Promise<History> {
  const pairs = async (sql: string) => (await all(sql)).map(([a, b]) => [Number(a), Number(b)] as const)
  const among = ids.map(id => `'${id}'`).join()
  const cells = await all(`select id, items, mark from cells where shelf = ${number}`)
  const last = [
    ...readCells(ids, cells.map(([id, items, mark]) => ({ id: String(id), items: String(items), mark: Number(mark) }))),
    ...readSets(KEYS.entries, ids, await pairs(`select cell_id, id from entries where shelf = ${number}`)),
    ...readSets(KEYS.tags, ids, await pairs(`select cell_id, tag_id from cell_tags where cell_id in (${among})`)),
    ...readPins(ids, await pairs(`select cell_id, pin_id from cell_pins where cell_id in (${among})`)),
  ]
  return { transactions, last, ...log && { log: await readLog(ids, all, dialect) } }
}

async function readLog(ids: readonly number[], all: World['all'], dialect: Dialect): Promise<NonNullable<History['log']>> {
  const before = dialect === 'mysql' ? '`before`' : 'before'
  const among = ids.map(id => `'${id}'`).join()
  const rows = await all(`select record_id, ${before}, after from audit_log where resource = 'cells' and record_id in (${among})`)
  const log = new Map<Key, [number, number][]>(ids.map(id => [KEYS.mark(id), []]))
  for (const [id, earlier, later] of rows) {
    const [from, to] = [markOf(earlier), markOf(later)]
    if (to !== undefined && to !== from) log.get(KEYS.mark(Number(id)))!.push([from ?? 0, to])
  }
  return log
}

function markOf(json: unknown): number | undefined {
  const values = (typeof json === 'string' ? JSON.parse(json) : json) as { readonly mark?: number } | null
  return values?.mark
}
