/** What npm offers for the same job: each a small server as its documentation sets it up, asked in its own words. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import type { Contestant } from './contestants.ts'
import { organizationOf } from './dataset.ts'
import type { Ask } from './operations.ts'

/** What an operation asks for, whatever words a peer has for it. */
export interface Question {
  readonly limit: number
  readonly skip: number
  readonly total: boolean
  readonly featured: boolean
  readonly byViews: boolean
  readonly author: boolean
  readonly organization: number
  readonly id?: number
  /** One post, or many. */
  readonly body?: object | readonly object[]
}

export type Row = Record<string, unknown>

export interface Peer extends Contestant {
  /** Packages whose versions the report states. */
  readonly packages: readonly string[]
  /** The request in the peer's words; `undefined` where it cannot do this. */
  readonly ask: (question: Question) => Omit<Ask, 'caller'> | undefined
  /** The rows of its answer, in our names. */
  readonly rows: (body: unknown) => readonly Row[]
  /** Its order of a list cannot be chosen: ours is asked for the same one. */
  readonly sort?: string
  /** Its copy of the database has to look different. */
  readonly prepare?: (file: string) => void
  /** A Nuxt app that has to be built first. */
  readonly app?: string
}

export const peersFolder = fileURLToPath(new URL('./peers', import.meta.url))

const server = (name: string) => `${peersFolder}/${name}/server.ts`
const nuxtServer = (name: string) => `${peersFolder}/${name}/.output/server/index.mjs`
const search = (parameters: Record<string, string | number | false>) =>
  `?${new URLSearchParams(Object.entries(parameters).flatMap(([name, value]) => value === false ? [] : [[name, String(value)] as [string, string]]))}`

const list = (value: unknown): readonly Row[] => Array.isArray(value) ? value as Row[] : [value as Row]

/** `organization_id: 3` as `organizationId: 3`, a number of milliseconds as a date, 0 and 1 as booleans. */
function fromColumns(row: Row): Row {
  const { author_name: name, ...columns } = row
  const camel = Object.fromEntries(Object.entries(columns).map(([key, value]) => [key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()), value]))
  for (const key of ['publishedAt', 'createdAt', 'updatedAt']) if (typeof camel[key] === 'number') camel[key] = new Date(camel[key]).toISOString()
  return { ...camel, featured: Boolean(camel.featured), ...name !== undefined && { author: { id: camel.authorId, name } } }
}

const toColumns = (row: object) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key === 'authorId' ? 'author_id' : key, value]))

const remult: Peer = {
  key: 'remult',
  title: 'remult, Express',
  packages: ['remult', 'express'],
  entry: server('remult'),
  posts: '/api/posts',
  ask: ({ limit, skip, total, featured, byViews, author, id, body }) => {
    if (body) return { path: '', body }
    if (id !== undefined) return { path: `/${id}` }
    if (total || author) return undefined
    return { path: search({ _limit: limit, _page: skip / limit + 1, featured: featured && 'true', ...byViews && { _sort: 'views,id', _order: 'desc,desc' } }) }
  },
  rows: list,
}

const zenstack: Peer = {
  key: 'zenstack',
  title: 'ZenStack 3, access policies, Express',
  packages: ['@zenstackhq/orm', '@zenstackhq/server', '@zenstackhq/plugin-policy', 'express'],
  entry: server('zenstack'),
  posts: '/api/model',
  ask: ({ limit, skip, total, featured, byViews, author, id, body }) => {
    if (Array.isArray(body)) return { path: '/post/createManyAndReturn', body: { data: body } }
    if (body) return { path: '/post/create', body: { data: body } }
    const q = (path: string, args: object) => ({ path: `${path}${search({ q: JSON.stringify(args) })}` })
    if (id !== undefined) return q('/post/findUnique', { where: { id } })
    const where = { ...featured && { featured } }
    const many = { where, take: limit, skip, orderBy: byViews ? [{ views: 'desc' }, { id: 'desc' }] : { id: 'asc' }, ...author && { include: { author: { select: { id: true, name: true } } } } }
    return total
      ? { path: '/$transaction/sequential', body: [{ model: 'post', op: 'findMany', args: many }, { model: 'post', op: 'count', args: { where } }] }
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
  ask: ({ limit, skip, total, featured, byViews, author, id, body }) => {
    if (body) return { path: '', body: Array.isArray(body) ? body.map(toColumns) : toColumns(body) }
    if (id !== undefined) return { path: `/${id}` }
    return { path: search({ $limit: limit, $skip: skip, total: String(total), featured: featured && 1, author: author && 'true', ...byViews ? { '$sort[views]': -1, '$sort[id]': -1 } : { '$sort[id]': 1 } }) }
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
  ask: ({ limit, skip, total, featured, byViews, author, id, body }) => {
    if (Array.isArray(body)) return { path: '/bulk', body: { items: body } }
    if (body) return { path: '', body }
    if (id !== undefined) return { path: `/${id}` }
    // It counts whenever it is asked for a page, and has no other way to a later one than a cursor.
    const page = search({ limit, page: (total || skip > 0) && skip / limit + 1, filter: featured && '{"featured":true}', include: author && 'author' })
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
  ask: ({ limit, skip, total, featured, byViews, author, id, organization, body }) => {
    // One order for all requests, and no bulk writes.
    if (byViews || author || Array.isArray(body)) return undefined
    // It knows no tenants: the client has to tell its own.
    if (body) return { path: '', body: { ...body, organizationId: organization } }
    if (id !== undefined) return { path: `/${id}` }
    return { path: search({ limit, page: skip / limit + 1, organizationId: organization, featured: featured && 'true', total: total && 'true' }) }
  },
  environment: file => ({ DATABASE_URL: `file:${file}` }),
  sort: '-id',
  // Its rule for rows knows one word for what everybody sees.
  prepare: (file) => {
    const connection = new Database(file)
    connection.exec('update posts set status = \'active\' where status = \'published\'')
    connection.pragma('wal_checkpoint(TRUNCATE)')
    connection.close()
  },
  rows: body => list((body as { data?: unknown }).data ?? body).map(row => row.status === 'active' ? { ...row, status: 'published' } : row),
}

const PEERS: readonly Peer[] = [remult, zenstack, feathers, autoApi, autoCrud]

export const isPeer = (contestant: Contestant): contestant is Peer => 'ask' in contestant

/** Reads what an operation asks of us. */
export function toQuestion({ caller, path, body }: Ask): Question {
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

/** Installs and builds what is not there yet. Peers that fail are left out with a sentence why. */
export function preparePeers(): Peer[] {
  if (!existsSync(`${peersFolder}/node_modules`)) {
    console.info('installing the peers (npm ci in bench/peers), once …')
    run('npm', ['ci', '--ignore-scripts'], peersFolder)
  }
  if (!existsSync(`${peersFolder}/zenstack/generated`)) run('npx', ['zen', 'generate', '--schema', 'zenstack/schema.zmodel', '--output', 'zenstack/generated'], peersFolder)
  return PEERS.filter((peer) => {
    if (!peer.app || existsSync(peer.entry)) return true
    console.info(`building ${peer.title} …`)
    try {
      run('nuxi', ['build', '.'], peer.app)
      return true
    }
    catch (error) {
      console.warn(`${peer.title} is left out: ${(error as Error).message}`)
      return false
    }
  })
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env: { ...process.env, NODE_ENV: command === 'nuxi' ? 'production' : 'development', NUXT_TELEMETRY_DISABLED: '1' }, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} fails\n${stdout}\n${stderr}`)
}
