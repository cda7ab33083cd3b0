/** Feathers 5 on Koa, with its Knex service over better-sqlite3. Hooks authorize. */
import { feathers, type HookContext } from '@feathersjs/feathers'
import { bodyParser, errorHandler, koa, parseAuthentication, rest } from '@feathersjs/koa'
import { KnexService, type KnexAdapterParams } from '@feathersjs/knex'
import { BadRequest, Forbidden, NotAuthenticated } from '@feathersjs/errors'
import knex from 'knex'
import { announce, openDatabase, readCallers, type Caller } from '../callers.ts'

const own = openDatabase()
const findCaller = readCallers(own)
const database = knex({
  client: 'better-sqlite3',
  connection: { filename: process.env.BENCH_DATABASE! },
  useNullAsDefault: true,
  pool: {
    afterCreate: (connection: { pragma: (text: string) => void }, done: () => void) => {
      for (const pragma of ['synchronous = NORMAL', 'foreign_keys = ON']) connection.pragma(pragma)
      done()
    },
  },
})

interface Post { id: number, organization_id: number, author_id: number, created_at: number, updated_at: number }
interface PostParams extends KnexAdapterParams { caller?: Caller, withAuthor?: boolean }

/** A join in `createQuery`: the adapter's documentation recommends it over one query per row. */
class Posts extends KnexService<Post, Partial<Post>, PostParams> {
  override createQuery(params: PostParams) {
    const query = super.createQuery(params)
    return params.withAuthor
      ? query.leftJoin('users', function () {
          this.on('users.id', 'posts.author_id').andOn('users.organization_id', 'posts.organization_id')
        }).select('users.name as author_name')
      : query
  }
}

function authorize({ params }: HookContext): void {
  const caller = findCaller((params.headers as Record<string, string>)['x-caller'])
  if (!caller) throw new NotAuthenticated()
  if (!caller.reader) throw new Forbidden()
  params.caller = caller
}

function limitRows({ params }: HookContext): void {
  const { id, organizationId, editor } = params.caller as Caller
  const { author, total, ...query } = params.query as Record<string, unknown>
  if (total === 'false') params.paginate = false
  params.withAuthor = author === 'true'
  params.query = { ...query, 'posts.organization_id': organizationId, ...!editor && { $or: [{ status: 'published' }, { author_id: id }] } }
}

async function checkDrafts(context: HookContext): Promise<void> {
  const { organizationId } = context.params.caller as Caller
  const drafts = [context.data].flat() as Post[]
  const authors = [...new Set(drafts.map(({ author_id }) => author_id))]
  const known = await database('users').whereIn('id', authors).andWhere('organization_id', organizationId).select('id')
  if (known.length !== authors.length) throw new BadRequest()
  const now = Date.now()
  const complete = drafts.map(draft => ({ ...draft, organization_id: organizationId, created_at: now, updated_at: now }))
  context.data = Array.isArray(context.data) ? complete : complete[0]
}

const app = koa(feathers<{ posts: Posts }>())
app.use(errorHandler())
app.use(parseAuthentication())
app.use(bodyParser())
app.configure(rest())
app.use('posts', new Posts({ Model: database, name: 'posts', id: 'id', multi: ['create'], paginate: { default: 20, max: 100 } }))
app.service('posts').hooks({ before: { all: [authorize], find: [limitRows], get: [limitRows], create: [checkDrafts] } })

const server = await app.listen(Number(process.env.PORT), process.env.HOST as never)
if (!server.listening) await new Promise(resolve => server.once('listening', resolve))
announce(server.address())
process.once('SIGTERM', () => process.exit())
