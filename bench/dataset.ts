/** Builds the database: 6 organizations, 1 000 users and 100 000 posts with comments and tags, with the same rows in every run. */
import { createRequire } from 'node:module'
import Database from 'better-sqlite3'
import { drizzle, type BetterSQLite3Database } from 'drizzle-orm/better-sqlite3'
import * as schema from './app/server/database/schema.ts'
import { createRandom } from './random.ts'

const { organizations, users, posts, comments, tags, postTags } = schema

/** The CommonJS build: the ES module expects a bundler to provide `require`. */
const { generateSQLiteDrizzleJson, generateSQLiteMigration } = createRequire(import.meta.url)(
  'drizzle-kit/api',
) as typeof import('drizzle-kit/api')

/** Tags of each organization. */
const TAGS = 20

export const SIZE = { organizations: 6, users: 1000, posts: 100_000 }

const SEED = 20_261_121
const WORDS = 'harbour council bridge winter school river market tram library festival budget garden museum station theatre bakery'.split(
  ' ',
)
const ROLES = ['guest', 'editor', 'editor', 'writer', 'writer', 'writer', 'writer', 'writer', 'writer', 'writer'] as const
const STATUSES = ['draft', 'published', 'published', 'published', 'archived'] as const
const START = Date.UTC(2024, 0, 1)

export const organizationOf = (user: number) => 1 + user % SIZE.organizations

/** Ids that the operations use. They come from the rows, so that every id exists and is visible. */
export interface Sample {
  /** One reader per organization, every third one an editor, with posts that the reader can see. */
  readonly callers: readonly { readonly id: number, readonly visible: readonly number[] }[]
  readonly guest: number
  readonly writer: number
  /** 100 posts of the writer's organization that the writer can see. */
  readonly mine: readonly number[]
  /** A post of another organization than the writer's. */
  readonly foreign: number
  /** A draft of a colleague of the writer. */
  readonly draft: number
}

export async function buildDatabase(file: string): Promise<Sample> {
  const connection = new Database(file)
  connection.pragma('journal_mode = WAL')
  connection.pragma('synchronous = NORMAL')
  const db = drizzle({ client: connection, schema })
  const empty = await generateSQLiteDrizzleJson({})
  for (const statement of await generateSQLiteMigration(empty, await generateSQLiteDrizzleJson(schema))) connection.exec(statement)
  connection.transaction(() => {
    fill(db)
    fillRelated(connection, db)
  })()
  connection.pragma('wal_checkpoint(TRUNCATE)')
  const sample = drawSample(connection)
  connection.close()
  return sample
}

function fill(db: BetterSQLite3Database<typeof schema>): void {
  const { below, pick } = createRandom(SEED)
  const text = (words: number) => Array.from({ length: words }, () => pick(WORDS)).join(' ')
  const times = (length: number) => Array.from({ length }, (_, index) => index + 1)

  db.insert(organizations).values(times(SIZE.organizations).map(id => ({ id, name: `Newsroom ${id}` }))).run()

  const people = times(SIZE.users).map(id => ({
    id,
    organizationId: organizationOf(id),
    name: `${pick(WORDS)} ${pick(WORDS)}`,
    email: `user${id}@example.org`,
    role: pick(ROLES),
  }))
  insert(people, 500, rows => db.insert(users).values(rows).run())

  insert(times(SIZE.posts), 1000, ids => db.insert(posts).values(ids.map((id) => {
    const author = pick(people)
    const status = pick(STATUSES)
    const createdAt = new Date(START + id * 600_000 + below(600_000))
    return {
      id,
      organizationId: author.organizationId,
      authorId: author.id,
      title: text(6),
      slug: `${text(3).replaceAll(' ', '-')}-${id}`,
      excerpt: below(5) === 0 ? null : text(14),
      status,
      featured: below(20) === 0,
      views: below(50_000),
      publishedAt: status === 'draft' ? null : new Date(createdAt.getTime() + below(86_400_000)),
      createdAt,
      updatedAt: createdAt,
    }
  })).run())
}

/** Up to four comments and up to three tags per post. They have their own random numbers: the rows above stay the same without them. */
function fillRelated(connection: Database.Database, db: BetterSQLite3Database<typeof schema>): void {
  const { below, pick } = createRandom(SEED + 2)
  db.insert(tags).values(Array.from({ length: SIZE.organizations * TAGS }, (_, index) => ({
    id: index + 1,
    organizationId: 1 + index % SIZE.organizations,
    name: `${pick(WORDS)} ${index + 1}`,
  }))).run()
  const found = connection.prepare<[], { id: number, organizationId: number, createdAt: number }>(
    'select id, organization_id as organizationId, created_at as createdAt from posts',
  ).all()
  const ofPost = found.flatMap(({ id: postId, organizationId, createdAt }) => Array.from({ length: below(5) }, () => ({
    organizationId,
    postId,
    body: Array.from({ length: 10 }, () => pick(WORDS)).join(' '),
    createdAt: new Date(createdAt + below(86_400_000)),
  })))
  insert(ofPost, 1000, rows => db.insert(comments).values(rows).run())
  const links = found.flatMap(({ id: postId, organizationId }) => {
    const first = below(TAGS)
    return Array.from({ length: below(4) }, (_, index) => ({
      postId,
      tagId: organizationId + SIZE.organizations * ((first + index) % TAGS),
    }))
  })
  insert(links, 1000, rows => db.insert(postTags).values(rows).run())
}

function insert<T>(rows: readonly T[], size: number, run: (rows: T[]) => void): void {
  for (let start = 0; start < rows.length; start += size) run(rows.slice(start, start + size))
}

function drawSample(connection: Database.Database): Sample {
  const { pick } = createRandom(SEED + 1)
  const ids = (text: string, ...values: unknown[]) => connection.prepare<unknown[], number>(text).pluck().all(...values)
  const first = (text: string, ...values: unknown[]) => {
    const [id] = ids(`${text} limit 1`, ...values)
    if (id === undefined) throw new Error(`No row matches: ${text}`)
    return id
  }
  const reader = (organization: number) =>
    first('select id from users where organization_id = ? and role = ?', organization, organization % 3 === 0 ? 'editor' : 'writer')

  const callers = Array.from({ length: SIZE.organizations }, (_, index) => {
    const published = ids('select id from posts where organization_id = ? and status = \'published\'', index + 1)
    return { id: reader(index + 1), visible: Array.from({ length: 50 }, () => pick(published)) }
  })
  const writer = reader(1)
  return {
    callers,
    writer,
    mine: ids('select id from posts where organization_id = 1 and status = \'published\' order by id limit 100'),
    guest: first('select id from users where role = \'guest\''),
    foreign: first('select id from posts where organization_id = 2 and status = \'published\''),
    draft: first('select id from posts where organization_id = 1 and status = \'draft\' and author_id <> ?', writer),
  }
}
