/** Runs clients against several instances of the API, and checks the history of each shelf as soon as it is full. */
import { check, type Anomaly } from './check/check'
import type { Dependency } from './check/graph'
import { Client, createRandom, type Send } from './client'
import type { World } from './databases'
import { createCells, sendAny } from './requests'
import { Shelf, toHistory } from './shelf'

export interface RunOptions {
  readonly servers: readonly Send[]
  readonly world: World
  readonly log: boolean
  readonly seed: number
  /** The run ends after so many requests. */
  readonly requests: number
  /** Milliseconds until no request without a response can take effect any more. */
  readonly settling?: number
  /** Whether the run can end. */
  readonly isDone?: () => boolean
}

export interface Summary {
  readonly shelves: number
  readonly requests: number
  readonly operations: number
  readonly edges: Readonly<Record<Dependency, number>>
  readonly statuses: Readonly<Record<string, number>>
  readonly anomalies: readonly Anomaly[]
  readonly problems: readonly string[]
}

const CLIENTS = 8
const SHELVES = 2

export async function runClients({ servers, world, log, seed, requests, settling = 0, isDone = () => true }: RunOptions): Promise<Summary> {
  const anomalies: Anomaly[] = []
  const edges = { ww: 0, wr: 0, rw: 0, rt: 0 }
  let [number, sent, operations, shelves] = [0, 0, 0, 0]
  const newShelf = () => new Shelf(number++)
  const active = Array.from({ length: SHELVES }, newShelf)
  const clients = Array.from({ length: CLIENTS }, (_, index) => new Client(createRandom(seed + index * 7919), servers))
  const isOver = () => (sent >= requests && isDone()) || anomalies.length > 0 || clients.some(({ problems }) => problems.length > 0)

  async function checkShelf(shelf: Shelf): Promise<void> {
    if (settling > 0) await new Promise(resolve => setTimeout(resolve, settling))
    const checked = check(await toHistory(shelf, world, log))
    anomalies.push(...checked.anomalies)
    operations += checked.operations
    shelves++
    for (const type of Object.keys(edges) as Dependency[]) edges[type] += checked.edges[type]
  }

  async function run(client: Client): Promise<void> {
    while (!isOver()) {
      const place = client.below(SHELVES)
      const shelf = active[place]!
      const isFirst = !shelf.isReady && shelf.running === 0 && shelf.transactions.length === 0
      shelf.running++
      await (isFirst ? createCells : sendAny)(client, shelf)
      shelf.running--
      sent++
      if (shelf.isFull && active[place] === shelf) {
        active[place] = newShelf()
        for (const { forget } of clients) forget(shelf.ids)
      }
      if (shelf.isFull && shelf.running === 0) await checkShelf(shelf)
    }
  }

  await Promise.all(clients.map(run))
  for (const shelf of active) await checkShelf(shelf)
  const statuses: Record<string, number> = {}
  for (const client of clients) for (const [status, count] of client.statuses) statuses[status] = (statuses[status] ?? 0) + count
  return {
    shelves, operations, edges, statuses, anomalies,
    requests: Object.values(statuses).reduce((sum, count) => sum + count, 0),
    problems: clients.flatMap(({ problems }) => problems),
  }
}

export const inWords = ({ shelves, requests, operations, edges: { ww, wr, rw, rt }, statuses }: Summary): string =>
  `${requests} requests, ${operations} operations, ${shelves} histories; edges: ${ww} ww, ${wr} wr, ${rw} rw, ${rt} rt; `
  + `responses: ${Object.entries(statuses).map(([status, count]) => `${count} × ${status}`).join(', ')}`
