/** The requests that are measured on tables of each size. */
import type { BenchRequest } from '../operations.ts'
import type { RunningServer } from '../server.ts'
import { toFetchOptions } from '../verify.ts'
import { ORGANIZATIONS, START } from './databases.ts'

interface Where {
  /** The number of posts. */
  readonly size: number
  readonly server: RunningServer
}

interface GrowthOperation {
  readonly title: string
  /** The route below `/api/`, if it is not `posts`. */
  readonly path?: string
  /** Whether the cost follows the table. One request at a time then takes long enough. */
  readonly grows?: true
  /** The least number of records of a response. 20 without it. */
  readonly records?: number
  readonly requests: (where: Where) => readonly BenchRequest[] | Promise<readonly BenchRequest[]>
}

/** The first user of an organization has its number. */
const callers = Array.from({ length: ORGANIZATIONS }, (_, index) => index + 1)

const query = (parameters: Record<string, string | number>) =>
  `?${new URLSearchParams(Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]))}`

const newest = { limit: 20, sort: '-createdAt' }

/** Pages 1 to 5 for a caller of each organization. */
const pages = (parameters: Record<string, string | number>) => () =>
  [1, 2, 3, 4, 5].flatMap(page =>
    callers.map((caller): BenchRequest => ({ caller, path: query({ ...newest, count: 'none', ...parameters, page }) })),
  )

const before = (share: number, { size }: Where) => new Date(START + size * share * 1000).toISOString()

async function read<T>({ server }: Where, request: BenchRequest): Promise<T> {
  const response = await fetch(server.posts + request.path, toFetchOptions(request))
  if (!response.ok) throw new Error(`${request.path}: ${response.status} ${await response.text()}`)
  return await response.json() as T
}

/** Ids of posts of the caller's organization, the newest before a point of the table. */
async function findIds(where: Where, caller: number, share: number, limit: number): Promise<number[]> {
  const filter = JSON.stringify({ createdAt: { $lte: before(share, where) } })
  const { data } = await read<{ data: { id: number }[] }>(where, {
    caller,
    path: query({ limit, sort: '-createdAt', count: 'none', fields: 'id', filter }),
  })
  return data.map(({ id }) => id)
}

/** @throws When a response has fewer records than the operation reads. */
export async function checkRecords(
  { title, records = 20 }: GrowthOperation,
  server: RunningServer,
  requests: readonly BenchRequest[],
): Promise<void> {
  for (const request of requests) {
    const text = await (await fetch(server.posts + request.path, toFetchOptions(request))).text()
    if (countRecords(text) < records)
      throw new Error(`${title}: ${request.path} returns ${countRecords(text)} records.\n${text.slice(0, 500)}`)
  }
}

/** The records of a list, the lines of a CSV file without the first one, or 1 for a record. */
function countRecords(text: string): number {
  if (!text.startsWith('{')) return text.split('\r\n').length - 2
  const body = JSON.parse(text) as { data?: unknown[], id?: unknown }
  return body.data?.length ?? (body.id === undefined ? 0 : 1)
}

export const GROWTH_OPERATIONS: readonly GrowthOperation[] = [
  { title: 'list 20', requests: pages({}) },
  {
    title: 'page by cursor, after 95 % of the rows',
    async requests(where) {
      const requests: BenchRequest[] = []
      for (const caller of callers) {
        const filter = JSON.stringify({ createdAt: { $lte: before(0.05, where) } })
        const { meta } = await read<{ meta: { nextCursor: string } }>(where, {
          caller,
          path: query({ ...newest, limit: 1, cursor: '', filter }),
        })
        requests.push({ caller, path: query({ ...newest, cursor: meta.nextCursor }) })
      }
      return requests
    },
  },
  {
    title: 'filter by author',
    requests: ({ size }) =>
      callers.flatMap(caller =>
        [0.1, 0.3, 0.5, 0.7, 0.9].map((share): BenchRequest => {
          const authorId = Math.floor(((size / 100) * share) / ORGANIZATIONS) * ORGANIZATIONS + caller
          return { caller, path: query({ ...newest, count: 'none', filter: JSON.stringify({ authorId }) }) }
        }),
      ),
  },
  { title: 'include author and comments', requests: pages({ include: 'author[id,name],comments[id,body]' }) },
  {
    title: 'get',
    records: 1,
    async requests(where) {
      const requests: BenchRequest[] = []
      for (const caller of callers) {
        for (const share of [0.1, 0.3, 0.5, 0.7, 0.9]) {
          for (const id of await findIds(where, caller, share, 5)) requests.push({ caller, path: `/${id}` })
        }
      }
      return requests
    },
  },
  {
    title: 'create',
    records: 1,
    requests: () => callers.map(caller => ({ caller, path: '', body: { title: 'A new post', status: 'draft', authorId: caller } })),
  },
  {
    title: 'export of 1 000 posts',
    records: 800,
    requests: where =>
      callers.map((caller) => {
        const [from, to] = [0.5, 0.5 + 6000 / where.size].map(share => before(share, where))
        return {
          caller,
          path: `/export${query({ format: 'csv', sort: 'createdAt', filter: JSON.stringify({ createdAt: { $gte: from, $lt: to } }) })}`,
        }
      }),
  },
  {
    title: 'page of the audit log',
    path: 'audit-log',
    requests: () => callers.map(caller => ({ caller, path: query({ limit: 20, cursor: '' }) })),
  },
  {
    title: 'history of a record',
    records: 1,
    path: 'audit-log',
    async requests(where) {
      const requests: BenchRequest[] = []
      for (const caller of callers) {
        for (const recordId of await findIds(where, caller, 0.5, 5))
          requests.push({ caller, path: query({ limit: 20, cursor: '', resource: 'posts', recordId }) })
      }
      return requests
    },
  },
  { title: 'list 20 + estimated total', requests: pages({ count: 'estimated' }) },
  { title: 'list 20 + total', grows: true, requests: pages({ count: 'exact' }) },
  {
    title: 'page by number, after 95 % of the rows',
    grows: true,
    requests: ({ size }) =>
      callers.map(caller => ({
        caller,
        path: query({ ...newest, count: 'none', page: Math.floor(((size / ORGANIZATIONS) * 0.95) / 20) }),
      })),
  },
]

/** Pairs of a delete and a restore. */
const PAIRS = 50

/** Deletes posts with ten comments and restores them. Returns the microseconds per request. */
export async function measureCascades(server: RunningServer): Promise<{ time: number, requests: number }> {
  const origin = server.posts
  const ids = await postsWithComments(origin)
  const start = performance.now()
  for (const id of ids) {
    for (const [method, path] of [['DELETE', `/${id}`], ['POST', `/${id}/restore`]] as const) {
      const response = await fetch(origin + path, { method, headers: { 'x-caller': '1' } })
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    }
  }
  const requests = ids.length * 2
  return { time: (performance.now() - start) * 1000 / requests, requests }
}

async function postsWithComments(posts: string): Promise<number[]> {
  const url = `${posts.replace(/posts$/, 'comments')}${query({ limit: 100, count: 'none', fields: 'postId' })}`
  const ids = new Set<number>()
  for (let page = 1; ids.size < PAIRS; page++) {
    const { data } = await (await fetch(`${url}&page=${page}`, { headers: { 'x-caller': '1' } })).json() as { data: { postId: number }[] }
    if (data.length === 0) throw new Error('There are too few comments.')
    for (const { postId } of data) ids.add(postId)
  }
  return [...ids].slice(0, PAIRS)
}
