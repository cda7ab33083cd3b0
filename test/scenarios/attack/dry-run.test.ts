/** Dry runs: which requests ask for one, what they disclose about rows that the caller cannot see, and what they cost. */
import { sql, type SQL } from 'drizzle-orm'
import { integer, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AutoApiContext } from '../../../src/runtime/server/define'
import { isDryRun, preferredEnd } from '../../../src/runtime/server/core/request/prefer'
import { openWorld, outcome, type World } from '../write/world'

const trash = () => ({ deletedAt: integer('deleted_at'), deletionId: text('deletion_id') })
const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  title: text('title').notNull().unique(),
  ...trash(),
})
const comments = sqliteTable('comments', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  postId: integer('post_id').references(() => posts.id),
  parentId: integer('parent_id').references((): AnySQLiteColumn => comments.id),
  author: text('author').notNull(),
  ...trash(),
})
const votes = sqliteTable('votes', {
  id: integer('id').primaryKey(),
  commentId: integer('comment_id').references(() => comments.id, { onDelete: 'cascade' }),
  secret: integer('secret').notNull(),
  ...trash(),
})
const audits = sqliteTable('audits', { id: integer('id').primaryKey(), postId: integer('post_id').references(() => posts.id), ...trash() })
const files = sqliteTable('files', { id: integer('id').primaryKey(), postId: integer('post_id').references(() => posts.id), ...trash() })
const pages = sqliteTable('pages', { id: integer('id').primaryKey(), name: text('name') })
const visits = sqliteTable('visits', {
  id: integer('id').primaryKey(),
  pageId: integer('page_id').references(() => pages.id, { onDelete: 'cascade' }),
  secret: integer('secret').notNull(),
})

const ROWS = `
  insert into posts (id, organization_id, title) values (1, 1, 'one'), (2, 1, 'two'), (9, 2, 'theirs');
  insert into posts (id, organization_id, title, deleted_at, deletion_id) values (3, 1, 'three', 1, 'd3');
  insert into comments (id, organization_id, post_id, parent_id, author) values (1, 1, 1, null, 'ada'), (2, 1, 1, null, 'ben'), (3, 1, null, 2, 'ada'), (4, 1, null, 3, 'ben'), (5, 2, 1, null, 'ada');
  insert into comments (id, organization_id, post_id, author, deleted_at, deletion_id) values (6, 1, 1, 'ada', 1, 'd6'), (7, 1, 3, 'ada', 1, 'd3'), (8, 1, 3, 'ben', 1, 'd3');
  insert into votes (id, comment_id, secret) values (1, 1, 0), (2, 1, 1), (3, 4, 0);
  insert into audits (id, post_id) values (1, 1), (2, 1);
  insert into files (id, post_id) values (1, 1);
  insert into pages values (1, 'a'), (2, 'b');
  insert into visits values (1, 1, 0), (2, 1, 1), (3, 1, 0), (4, 2, 0);
`

type Rule = { readonly id: string, readonly author: string }

/** Comments by Ben are visible to Ben only, secret votes to nobody, audits only with a permission; files are no resource. */
const open = (log?: (statement: string) => void) =>
  openWorld({
    tables: { posts, comments, votes, audits, files, pages, visits },
    rows: ROWS,
    log,
    config: {
      multiTenancy: {
        enabled: true,
        tenantIdField: 'organizationId',
        userTenantField: 'organizationId',
        scopedResources: '*',
        excludedResources: [],
      },
    },
    resources: {
      comments: {
        authorization: {
          permissions: { read: true, create: true, update: true, delete: true, viewDeleted: 'trash' },
          listFilter: (table, { user }: AutoApiContext): SQL | undefined =>
            user?.name === 'root' ? undefined : sql`${(table as unknown as Rule & { author: SQL }).author} <> 'ben'`,
        },
      },
      votes: {
        authorization: {
          permissions: { read: true, viewDeleted: 'trash' },
          objectLevel: (row: Record<string, unknown>) => row.secret === 0,
        },
      },
      visits: { authorization: { permissions: { read: true }, objectLevel: (row: Record<string, unknown>) => row.secret === 0 } },
      audits: { authorization: { permissions: { read: 'audit' } } },
      files: false,
    },
  })

const ADA = { user: { id: 1, organizationId: 1, name: 'ada' }, permissions: [] as string[] }
const AUDITOR = { ...ADA, permissions: ['audit', 'trash'] }

const affected = async (world: World, method: string, path: string, body?: unknown, caller = ADA) =>
  (await world.send(method, `${path}${path.includes('?') ? '&' : '?'}dryRun=true`, body, caller)).body.affected

describe('the affected rows of a dry run', () => {
  it('leave out rows that no filter, object rule, permission or tenant lets the caller see, and tables that are no resource', async () => {
    const world = await open()
    // Comments 2 and 4 are by Ben, 5 is of another tenant, vote 2 is secret.
    expect(await affected(world, 'DELETE', 'posts/1')).toEqual({ posts: 1, comments: 2, votes: 2 })
    expect(await affected(world, 'DELETE', 'posts/1', undefined, AUDITOR)).toEqual({ posts: 1, comments: 2, votes: 2, audits: 2 })
    expect(await affected(world, 'DELETE', 'posts/1', undefined, { ...AUDITOR, user: { ...ADA.user, name: 'root' } })).toEqual({
      posts: 1,
      comments: 4,
      votes: 2,
      audits: 2,
    })
  })

  it('leave out rows in the trash for a caller who cannot see the trash', async () => {
    const world = await open()
    expect(await affected(world, 'DELETE', 'posts/1?force=true')).toEqual({ posts: 1, comments: 2, votes: 2 })
    expect(await affected(world, 'DELETE', 'posts/1?force=true', undefined, AUDITOR)).toEqual({
      posts: 1,
      comments: 3,
      votes: 2,
      audits: 2,
    })
    expect(await affected(world, 'POST', 'posts/3/restore')).toEqual({ posts: 1 })
    expect(await affected(world, 'POST', 'posts/3/restore', undefined, AUDITOR)).toEqual({ posts: 1, comments: 1 })
  })

  it('count a row once, even if several named rows reach it', async () => {
    const world = await open()
    expect(await affected(world, 'DELETE', 'comments/bulk', { ids: [1, 3] })).toEqual({ comments: 2, votes: 2 })
    expect(await affected(world, 'DELETE', 'posts/bulk', { ids: [1, 2] })).toEqual({ posts: 2, comments: 2, votes: 2 })
  })

  it('contain the rows that the database deletes by its foreign keys', async () => {
    expect(await affected(await open(), 'DELETE', 'pages/1')).toEqual({ pages: 1, visits: 2 })
  })

  it('answer 404 as the real delete for rows that the caller cannot see', async () => {
    const world = await open()
    for (const path of ['posts/9', 'posts/77', 'comments/2', 'comments/5']) {
      const dry = await world.send('DELETE', `${path}?dryRun=true`, undefined, ADA)
      expect(dry.status).toBe(404)
      expect(dry.text).toBe((await world.send('DELETE', path, undefined, ADA)).text)
    }
  })

  it('need a number of statements that does not depend on the number of rows', async () => {
    const log: string[] = []
    const world = await open(statement => void log.push(statement))
    const count = async (path: string) => {
      log.length = 0
      expect((await world.send('DELETE', `${path}?dryRun=true`)).status).toBe(200)
      return log.length
    }
    const few = await count('posts/2')
    world.client.exec(`insert into comments (organization_id, post_id, author) select 1, 2, 'ada' from posts a, posts b, posts c, posts d;
      insert into audits (post_id) select 2 from comments`)
    expect(await count('posts/2')).toBe(few)
  })
})

describe('a request for a dry run', () => {
  it.each([
    ['PATCH', 'posts/1?dryRun=1'],
    ['PATCH', 'posts/1?dryRun='],
    ['PATCH', 'posts/1?dryRun=TRUE'],
    ['PATCH', 'posts/1?dryRun=true&dryRun=false'],
    ['DELETE', 'posts/1?dryRun=yes'],
    ['POST', 'posts/3/restore?dryRun=0'],
    ['DELETE', 'posts/bulk?dryRun=on'],
  ])('returns 400 and writes nothing if it is neither true nor false: %s %s', async (method, path) => {
    const world = await open()
    const before = world.dump()
    expect(outcome(await world.send(method, path, { title: 'x', ids: [1] }))).toBe('400 INVALID_QUERY')
    expect(world.dump()).toBe(before)
  })

  it('returns 400 and writes nothing for an end of the transaction that does not exist', async () => {
    const world = await open()
    const before = world.dump()
    const response = await world.request('DELETE', '/api/posts/1', { caller: ADA, headers: { prefer: 'tx=rolback' } })
    expect(outcome(response)).toBe('400 INVALID_VALUE')
    expect(world.dump()).toBe(before)
  })

  it('is authorized before its parameters are read', async () => {
    const world = await open()
    expect(outcome(await world.send('DELETE', 'votes/1?dryRun=maybe'))).toBe('403 FORBIDDEN')
    expect(outcome(await world.send('DELETE', 'votes/1?dryRun=true'))).toBe('403 FORBIDDEN')
  })

  it('writes with dryRun=false and tx=commit', async () => {
    const world = await open()
    expect(
      (await world.request('PATCH', '/api/posts/1?dryRun=false', { caller: ADA, body: { title: 'x' }, headers: { prefer: 'tx=commit' } }))
        .status,
    ).toBe(200)
    expect(world.rows('select title from posts where id = 1')).toEqual(['x'])
  })

  it('has no effect on a read', async () => {
    const world = await open()
    const { status, headers } = await world.request('GET', '/api/posts/1?dryRun=maybe', { caller: ADA, headers: { prefer: 'tx=rollback' } })
    expect([status, headers.get('preference-applied')]).toEqual([200, null])
  })

  it.each<[string, string | undefined]>([
    ['tx=rollback', 'rollback'],
    ['TX=rollback', 'rollback'],
    ['tx="rollback"', 'rollback'],
    ['return=minimal, tx = rollback ;x=1', 'rollback'],
    ['tx=commit, tx=rollback', 'commit'],
    ['return="a, tx=rollback"', undefined],
    ['wait=5; note=", tx=commit", tx=rollback', 'rollback'],
    ['tx', ''],
    ['txt=rollback', undefined],
    ['', undefined],
  ])('is read from the header: %s', (prefer, end) => {
    expect(preferredEnd({ header: () => prefer })).toBe(end)
  })

  it('is read from any header in linear time', () => {
    fc.assert(fc.property(fc.string({ unit: fc.constantFrom('t', 'x', '=', '"', ',', ';', ' ', 'rollback') }), (prefer) => {
      const request = { method: 'POST', query: {}, header: () => prefer }
      expect(isDryRun(request)).toBe(preferredEnd(request) === 'rollback')
      expect(isDryRun({ ...request, method: 'GET' })).toBe(false)
    }))
    const start = performance.now()
    for (const part of ['tx="', 'a;', ';"', ',', 'a,', ' ', '=', 'tx; ', '"']) preferredEnd({ header: () => part.repeat(8_000) })
    expect(performance.now() - start).toBeLessThan(1_000)
  })
})
