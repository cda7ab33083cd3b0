/** Remult over better-sqlite3 and Express, set up as its documentation recommends, without decorators. */
import express from 'express'
import { describeEntity, Fields, remult, SqlDatabase } from 'remult'
import { BetterSqlite3DataProvider } from 'remult/remult-better-sqlite3'
import { remultApi } from 'remult/remult-express'
import { announce, openDatabase, readCallers } from '../callers.ts'

const connection = openDatabase()
const findCaller = readCallers(connection)

const time = (dbName: string, options = {}) =>
  Fields.date({
    dbName,
    valueConverter: {
      toDb: (value?: Date | string) => (value == null ? value : new Date(value).getTime()),
      fromDb: (value?: number) => (value == null ? (value as never) : new Date(value)),
    },
    ...options,
  })

interface PostRow { organizationId: number, status: string, authorId: number, createdAt: Date, updatedAt: Date }
/* Remult needs a class per entity. Without decorators, the class is empty. */
/* eslint-disable @typescript-eslint/no-extraneous-class */
class Post {}
class User {}
/* eslint-enable @typescript-eslint/no-extraneous-class */

describeEntity(User, 'users', {
  id: Fields.autoIncrement(),
  organizationId: Fields.integer({ dbName: 'organization_id' }),
  name: Fields.string(),
} as never, { allowApiRead: 'posts:read' })

const caller = () => remult.user as unknown as { id: number, organizationId: number, editor: boolean }

describeEntity(Post, 'posts', {
  id: Fields.autoIncrement(),
  organizationId: Fields.integer({ dbName: 'organization_id', allowApiUpdate: false }),
  authorId: Fields.integer({ dbName: 'author_id' }),
  title: Fields.string(),
  slug: Fields.string(),
  excerpt: Fields.string({ allowNull: true }),
  status: Fields.string({ defaultValue: () => 'draft' }),
  featured: Fields.boolean(),
  views: Fields.integer(),
  publishedAt: time('published_at', { allowNull: true }),
  createdAt: time('created_at'),
  updatedAt: time('updated_at'),
} as never, {
  allowApiRead: 'posts:read',
  allowApiInsert: 'posts:read',
  defaultOrderBy: { id: 'asc' },
  apiPrefilter: () => {
    const { id, organizationId, editor } = caller()
    return { organizationId, ...!editor && { $or: [{ status: 'published' }, { authorId: id }] } }
  },
  saving: async (post: PostRow, { isNew }: { isNew: boolean }) => {
    if (!isNew) return
    post.organizationId = caller().organizationId
    post.createdAt = post.updatedAt = new Date()
    const authors = await remult.repo(User).count({ id: post.authorId, organizationId: post.organizationId } as never)
    if (authors === 0) throw new Error('The author belongs to another organization')
  },
} as never)

const app = express()
app.use(remultApi({
  entities: [Post, User],
  dataProvider: new SqlDatabase(new BetterSqlite3DataProvider(connection)),
  ensureSchema: false,
  getUser: (request) => {
    const caller = findCaller(request.headers['x-caller'])
    return caller && { ...caller, roles: caller.reader ? ['posts:read'] : [] } as never
  },
}))
const server = app.listen(Number(process.env.PORT), process.env.HOST!, () => announce(server.address()))
process.once('SIGTERM', () => process.exit())
