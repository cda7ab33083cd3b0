/** Tables for the tests of hooks: posts with hidden, unreadable and unwritable columns, a tenant column and trash columns. */
import { integer, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { ResourceHooks } from '../../../src/runtime/server/registration'
import type { AutoApiConfig } from '../../../src/runtime/shared/config'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { EVERYTHING, openWorld, type World } from './world'

const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  title: text('title').notNull(),
  slug: text('slug').unique(),
  parentId: integer('parent_id').references((): AnySQLiteColumn => posts.id),
  score: integer('score').notNull().default(0),
  fee: integer('fee'),
  secret: text('secret'),
  createdBy: integer('created_by'),
  updatedAt: integer('updated_at', { mode: 'timestamp_ms' }),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
  deletionId: text('deletion_id'),
})
const seats = sqliteTable('seats', { room: text('room').primaryKey(), organizationId: integer('organization_id').notNull() })

interface Options {
  readonly hooks?: ResourceHooks
  readonly config?: Partial<AutoApiConfig>
  /** Registers what a server plugin would. */
  readonly added?: (utils: typeof import('../../../src/runtime/server/utils')) => void
}

export async function openBlog({ hooks, config, added }: Options = {}): Promise<World> {
  const world = await openWorld({
    tables: { posts, seats },
    resources: {
      posts: {
        authorization: {
          permissions: { ...EVERYTHING, create: ctx => ctx.user !== null },
          fields: { fee: { read: 'staff', write: 'staff' }, score: { write: false } } as never,
        },
        hiddenFields: ['secret'],
        hooks: hooks as never,
      },
    },
    rows: `insert into posts (id, organization_id, title, fee, secret) values (1, 1, 'one', 5, 's'), (2, 1, 'two', null, null), (11, 2, 'theirs', null, null);
      insert into posts (id, organization_id, title, deleted_at, deletion_id) values (3, 1, 'three', 1000, 'd3'); insert into seats values ('red', 1)`,
    config: { multiTenancy: DEFAULT_MULTI_TENANCY, ...config },
  })
  if (added) added(await import('../../../src/runtime/server/utils'))
  return world
}
