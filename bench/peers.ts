/** Other npm packages for the same job. Each is a small server, set up as its documentation recommends, with its own request format. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import type { Implementation } from './implementations.ts'
import { organizationOf } from './dataset.ts'
import type { BenchRequest } from './operations.ts'

/** An operation's request, independent of a peer's format. */
export interface PeerQuery {
  readonly limit: number
  readonly skip: number
  readonly total: boolean
  readonly featured: boolean
  readonly byViews: boolean
  readonly author: boolean
  readonly organization: number
  readonly id?: number
  /** One new post or several. */
  readonly body?: object | readonly object[]
}

export type Row = Record<string, unknown>

export interface Peer extends Implementation {
  /** The report lists the versions of these packages. */
  readonly packages: readonly string[]
  /** The request in the peer's format; `undefined` if the peer cannot do the operation. */
  readonly toRequest: (query: PeerQuery) => Omit<BenchRequest, 'caller'> | undefined
  /** The rows of a response, with our column names. */
  readonly rows: (body: unknown) => readonly Row[]
  /** The fixed order of the peer's lists. For the comparison, our list is sorted in the same order. */
  readonly sort?: string
  /** Changes the peer's copy of the database. */
  readonly prepare?: (file: string) => void
  /** Folder of a Nuxt app that has to be built first. */
  readonly app?: string
}

export const peersFolder = fileURLToPath(new URL('./peers', import.meta.url))

const server = (name: string) => `${peersFolder}/${name}/server.ts`
const nuxtServer = (name: string) => `${peersFolder}/${name}/.output/server/index.mjs`
function search(parameters: Record<string, string | number | false>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value !== false) query.set(name, String(value))
  return `?${query}`
}

const list = (value: unknown): readonly Row[] => Array.isArray(value) ? value as Row[] : [value as Row]

/** Database values to ours: `organization_id` → `organizationId`, milliseconds → ISO date, 0 and 1 → boolean. */
function fromColumns(row: Row): Row {
  const { author_name: name, ...columns } = row
  const camel = Object.fromEntries(
    Object.entries(columns).map(([key, value]) => [key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()), value]),
  )
  for (const key of ['publishedAt', 'createdAt', 'updatedAt'])
    if (typeof camel[key] === 'number') camel[key] = new Date(camel[key]).toISOString()
  return { ...camel, featured: Boolean(camel.featured), ...name !== undefined && { author: { id: camel.authorId, name } } }
}

const toColumns = (row: object) =>
  Object.fromEntries(Object.entries(row).map(([key, value]) => [key === 'authorId' ? 'author_id' : key, value]))

const remult: Peer = {
  key: 'remult',
  title: 'remult, Express',
  packages: ['remult', 'express'],
  entry: server('remult'),
  posts: '/api/posts',
  toRequest: ({ limit, skip, total, featured, byViews, author, id, body }) => {
    if (body) return { path: '', body }
    if (id !== undefined) return { path: `/${id}` }
    if (total || author) return undefined
    return {
      path: search({
        _limit: limit,
        _page: skip / limit + 1,
        featured: featured && 'true',
        ...(byViews && { _sort: 'views,id', _order: 'desc,desc' }),
      }),
    }
  },
  rows: list,
}

const zenstack: Peer = {
  key: 'zenstack',
  title: 'ZenStack 3, access policies, Express',
  packages: ['@zenstackhq/orm', '@zenstackhq/server', '@zenstackhq/plugin-policy', 'express'],
  entry: server('zenstack'),
  posts: '/api/model',
  toRequest: ({ limit, skip, total, featured, byViews, author, id, body }) => {
    if (Array.isArray(body)) return { path: '/post/createManyAndReturn', body: { data: body } }
    if (body) return { path: '/post/create', body: { data: body } }
    const q = (path: string, args: object) => ({ path: `${path}${search({ q: JSON.stringify(args) })}` })
    if (id !== undefined) return q('/post/findUnique', { where: { id } })
    const where = { ...featured && { featured } }
    const many = {
      where,
      take: limit,
      skip,
      orderBy: byViews ? [{ views: 'desc' }, { id: 'desc' }] : { id: 'asc' },
      ...(author && { include: { author: { select: { id: true, name: true } } } }),
    }
    return total
      ? {
          path: '/$transaction/sequential',
          body: [
            { model: 'post', op: 'findMany', args: many },
            { model: 'post', op: 'count', args: { where } },
          ],
        }
      : q('/post/findMany', many)
  },
  rows: (body) => {
    const { data } = body as { data: unknown }
    return list(Array.isArray(data) && Array.isArray(data[0]) ? data[0] : data)
  },
}

const feathers: Peer = {
  key: 'feathers',
  title: 'Feathers 5 with Knex, Koa',
  packages: ['@feathersjs/feathers', '@feathersjs/koa', '@feathersjs/knex', 'knex'],
  entry: server('feathers'),
  posts: '/posts',
  toRequest: ({ limit, skip, total, featured, byViews, author, id, body }) => {
    if (body) return { path: '', body: Array.isArray(body) ? body.map(toColumns) : toColumns(body) }
    if (id !== undefined) return { path: `/${id}` }
    return {
      path: search({
        $limit: limit,
        $skip: skip,
        total: String(total),
        featured: featured && 1,
        author: author && 'true',
        ...(byViews ? { '$sort[views]': -1, '$sort[id]': -1 } : { '$sort[id]': 1 }),
      }),
    }
  },
  rows: body => list((body as { data?: unknown } | null)?.data ?? body).map(fromColumns),
}

const autoApi: Peer = {
  key: 'auto-api 0.0.8',
  title: '@websideproject/nuxt-auto-api 0.0.8',
  packages: ['@websideproject/nuxt-auto-api'],
  entry: nuxtServer('nuxt-auto-api'),
  app: `${peersFolder}/nuxt-auto-api`,
  posts: '/api/posts',
  toRequest: ({ limit, skip, total, featured, byViews, author, id, body }) => {
    if (Array.isArray(body)) return { path: '/bulk', body: { items: body } }
    if (body) return { path: '', body }
    if (id !== undefined) return { path: `/${id}` }
    // It counts rows for every numbered page. The only other way to later pages is a cursor.
    const page = search({
      limit,
      page: (total || skip > 0) && skip / limit + 1,
      filter: featured && '{"featured":true}',
      include: author && 'author',
    })
    return { path: `${page}${byViews ? '&sort=-views&sort=-id' : '&sort=id'}` }
  },
  rows: body => list((body as { data: unknown }).data).map((row) => {
    const { author } = row as { author?: Row }
    return author ? { ...row, author: { id: author.id, name: author.name } } : row
  }),
}

const autoCrud: Peer = {
  key: 'auto-crud',
  title: 'nuxt-auto-crud 3, libSQL',
  packages: ['nuxt-auto-crud', '@libsql/client'],
  entry: nuxtServer('nuxt-auto-crud'),
  app: `${peersFolder}/nuxt-auto-crud`,
  posts: '/api/_nac/posts',
  toRequest: ({ limit, skip, total, featured, byViews, author, id, organization, body }) => {
    // It has one fixed order and no bulk writes.
    if (byViews || author || Array.isArray(body)) return undefined
    // It has no tenants: the client sends its organization.
    if (body) return { path: '', body: { ...body, organizationId: organization } }
    if (id !== undefined) return { path: `/${id}` }
    return {
      path: search({ limit, page: skip / limit + 1, organizationId: organization, featured: featured && 'true', total: total && 'true' }),
    }
  },
  environment: file => ({ DATABASE_URL: `file:${file}` }),
  sort: '-id',
  // Its row rule has a fixed value for visible rows: `active`.
  prepare: (file) => {
    const connection = new Database(file)
    connection.exec('update posts set status = \'active\' where status = \'published\'')
    connection.pragma('wal_checkpoint(TRUNCATE)')
    connection.close()
  },
  rows: body => list((body as { data?: unknown }).data ?? body).map(row => row.status === 'active' ? { ...row, status: 'published' } : row),
}

const PEERS: readonly Peer[] = [remult, zenstack, feathers, autoApi, autoCrud]

export const isPeer = (implementation: Implementation): implementation is Peer => 'toRequest' in implementation

/** Converts a request in our format. */
export function toPeerQuery({ caller, path, body }: BenchRequest): PeerQuery {
  const parameters = new URLSearchParams(path.split('?')[1])
  const limit = Number(parameters.get('limit') ?? 20)
  const id = /^\/(\d+)$/.exec(path)?.[1]
  return {
    limit,
    skip: (Number(parameters.get('page') ?? 1) - 1) * limit,
    total: parameters.get('count') !== 'none',
    featured: parameters.has('filter'),
    byViews: parameters.has('sort'),
    author: parameters.has('include'),
    organization: organizationOf(caller!),
    ...id !== undefined && { id: Number(id) },
    ...body !== undefined && { body: (body as { items?: object[] }).items ?? body as object },
  }
}

/** Installs and builds the peers, once. A peer that does not build is left out with a warning. */
export function preparePeers(): Peer[] {
  if (!existsSync(`${peersFolder}/node_modules`)) {
    console.info('installing other packages (npm ci in bench/peers), once …')
    run('npm', ['ci', '--ignore-scripts'], peersFolder)
  }
  if (!existsSync(`${peersFolder}/zenstack/generated`))
    run('npx', ['zen', 'generate', '--schema', 'zenstack/schema.zmodel', '--output', 'zenstack/generated'], peersFolder)
  return PEERS.filter((peer) => {
    if (!peer.app || existsSync(peer.entry)) return true
    console.info(`building ${peer.title} …`)
    try {
      run('nuxi', ['build', '.'], peer.app)
      return true
    }
    catch (error) {
      console.warn(`left out: ${peer.title}: ${(error as Error).message}`)
      return false
    }
  })
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env: { ...process.env, NODE_ENV: command === 'nuxi' ? 'production' : 'development', NUXT_TELEMETRY_DISABLED: '1' },
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed.\n${stdout}\n${stderr}`)
}
