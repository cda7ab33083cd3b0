/** Three servers on the three nodes of a cluster write the same rows at the same time: nothing is lost, doubled, or answered with a 500. */
import { datetime, int, mysqlTable, timestamp, varchar } from 'drizzle-orm/mysql-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase } from '../../src/runtime/server/core/replicas/database'
import { createScheduler } from '../../src/runtime/server/plugin/tasks'
import { createServer } from '../support/server'
import { ddl, serveBlog, type Blog } from './support/blog'
import { clusterCase, hasCluster, openCluster, type Cluster } from './support/cluster'
import { openKeys } from './support/keys'
import { reset, WRITER } from './support/scene'
import { TASK_RUNS, taskRunsSql } from './support/task-runs'
import { isFull } from '../support/tiers'

const ROUNDS = isFull ? 60 : 12

describe.skipIf(!hasCluster)('servers on the nodes of a cluster', () => {
  let cluster: Cluster, blogs: readonly Blog[]

  beforeAll(async () => {
    cluster = await openCluster(ddl('mysql') + await taskRunsSql('mysql'))
    blogs = await Promise.all(cluster.nodes.map(node => serveBlog({ dialect: 'mysql', engine: 'mysql' }, node)))
    await reset(blogs[0]!, 'mysql')
    await cluster.sync()
  })
  afterAll(() => cluster?.close())

  const send = (node: number, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    blogs[node]!.request(method, `/api/${path}`, { body, headers, caller: WRITER })
  const onAll = <T>(run: (node: number) => Promise<T>) => Promise.all(blogs.map((_, node) => run(node)))
  const read = async (sql: string) => {
    await cluster.sync()
    const [first, ...others] = await onAll(node => cluster.nodes[node]!.all(sql))
    for (const other of others) expect(other).toEqual(first)
    return first!
  }
  const failures = (statuses: readonly number[], ...expected: number[]) => statuses.filter(status => !expected.includes(status))

  it('generate keys with gaps, and return the keys of what each of them has created', async () => {
    const created = await onAll(async (node) => {
      const rows: { id: number, title: string }[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const items = Array.from({ length: 5 }, (_, index) => ({ title: `bulk ${node} ${round} ${index}` }))
        const { status, body } = await send(node, 'POST', 'posts/bulk', { items })
        expect(status).toBe(200)
        expect(body.data.map(({ title }: { title: string }) => title)).toEqual(items.map(({ title }) => title))
        rows.push(...body.data)
      }
      return rows
    })
    const returned = created.flat().map(({ id, title }) => [id, title])
    expect(new Set(returned.map(([id]) => id)).size).toBe(3 * 5 * ROUNDS)
    expect(returned.sort(([a], [b]) => Number(a) - Number(b))).toEqual(
      await read(`select id, title from posts where title like 'bulk %' order by id`),
    )
    // Each node leaves out the keys of the others, and a commit that is tried again leaves out its own.
    const [ids] = created
    expect(ids!.slice(1).map(({ id }, index) => (id - ids![index]!.id) % 3)).toEqual(ids!.slice(1).map(() => 0))
  })

  it('lose no update of a counter', async () => {
    const { id } = (await send(0, 'POST', 'posts', { title: '0' })).body
    await cluster.sync()
    const statuses: number[] = []
    await onAll(async (node) => {
      for (let done = 0; done < ROUNDS;) {
        const { body, headers } = await send(node, 'GET', `posts/${id}`)
        const { status } = await send(
          node,
          'PATCH',
          `posts/${id}`,
          { title: String(Number(body.title) + 1) },
          { 'if-match': headers.get('etag')! },
        )
        statuses.push(status)
        if (status === 200) done++
      }
    })
    expect(failures(statuses, 200, 412)).toEqual([])
    expect(await read(`select title from posts where id = ${id}`)).toEqual([[String(3 * ROUNDS)]])
  })

  it('accept a unique value once', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const statuses = (await onAll(node => send(node, 'POST', 'posts', { title: `unique ${round}` }))).map(({ status }) => status)
      expect(statuses.sort()).toEqual([201, 409, 409])
    }
    expect(await read(`select count(*), count(distinct title) from posts where title like 'unique %'`)).toEqual([[ROUNDS, ROUNDS]])
  })

  it('update all rows of a batch or none', async () => {
    const statuses: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      // In different orders.
      const ids = (node: number) => node === 1 ? [3, 2, 1] : [1, 2, 3]
      const answers = await onAll(node =>
        send(node, 'PATCH', 'posts/bulk', { items: ids(node).map(id => ({ id, data: { title: `batch ${round} ${node} ${id}` } })) }),
      )
      statuses.push(...answers.map(({ status }) => status))
      const titles = (await read('select title from posts where id in (1, 2, 3) order by id')).map(([title]) => String(title).slice(0, -2))
      expect(new Set(titles).size).toBe(1)
    }
    expect(failures(statuses, 200)).toEqual([])
  })

  it('add the same and different links', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await cluster.exec('delete from post_tags where post_id = 2')
      const answers = await onAll(node => send(node, 'POST', 'posts/2/relations/tags', { ids: [1, 2 + node] }))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
      expect(await read('select tag_id from post_tags where post_id = 2 order by 1')).toEqual([[1], [2], [3], [4]])
    }
  })

  it('leave no live comment on a post in the trash, and keep the columns of a post that comments refer to', async () => {
    for (let round = 0; round < 3 * ROUNDS; round++) {
      const { id } = (await send(0, 'POST', 'posts', { title: `parent ${round}` })).body
      await cluster.sync()
      const [removed, one, two] = await Promise.all([
        send(0, 'DELETE', `posts/${id}`),
        send(1, 'POST', 'comments', { body: 'a', postId: id }),
        send(2, 'POST', 'comments', { body: 'b', postId: id }),
      ])
      expect(failures([removed.status], 200)).toEqual([])
      expect(failures([one.status, two.status], 201, 400)).toEqual([])
    }
    expect(
      await read(
        'select c.id from comments c inner join posts p on p.id = c.post_id where c.deleted_at is null and p.deleted_at is not null',
      ),
    ).toEqual([])
    expect(await read('select id from posts where (deleted_at is null) <> (deletion_id is null)')).toEqual([])
  })

  it('change no column of a record that a new one refers to, not even one with `on update`', async () => {
    const pages = mysqlTable('pages', {
      id: int('id').autoincrement().primaryKey(), changedAt: timestamp('changed_at').notNull().onUpdateNow(),
      deletedAt: datetime('deleted_at', { fsp: 3 }), deletionId: varchar('deletion_id', { length: 36 }),
    })
    const notes = mysqlTable('page_notes', {
      id: int('id').autoincrement().primaryKey(),
      pageId: int('page_id').references(() => pages.id),
    })
    await cluster.exec(`
      create table pages (id int auto_increment primary key, changed_at timestamp not null default '2020-01-01' on update current_timestamp,
        deleted_at datetime(3), deletion_id varchar(36));
      create table page_notes (id int auto_increment primary key, page_id int references pages(id));
      insert into pages (id) values (1)`)
    const authorization = { permissions: { read: true as const, create: true as const } }
    const node = cluster.nodes[1]!
    const { request } = await createServer({
      db: node.db,
      engine: 'mysql',
      registrations: [
        { name: 'pages', schema: pages, authorization },
        { name: 'notes', schema: notes, authorization },
      ],
    })
    node.statements()
    expect((await request('POST', '/api/notes', { body: { pageId: 1 }, caller: WRITER })).status).toBe(201)
    expect(node.statements().filter(text => text.startsWith('update `pages` set `deletion_id` = ?'))).toHaveLength(2)
    expect(await read(`select changed_at = '2020-01-01', deleted_at, deletion_id from pages`)).toEqual([[1, null, null]])
  })

  it('restore and purge a group once', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      await reset(blogs[0]!, 'mysql')
      await cluster.sync()
      const answers = await onAll(node =>
        send(node, node === 2 ? 'DELETE' : 'POST', node === 2 ? 'posts/bulk?force=true' : 'posts/bulk/restore', { deletionId: 'd4' }),
      )
      const statuses = answers.map(({ status }) => status)
      expect(statuses.filter(status => status === 200)).toHaveLength(1)
      expect(failures(statuses, 200, 404, 409)).toEqual([])
      expect(await read('select count(*) from posts where id in (4, 5) and deleted_at is not null')).toEqual([[0]])
    }
  })

  it('run a request with an idempotency key once', async () => {
    const world = await openKeys(clusterCase(cluster), undefined, '24h', 3)
    for (let round = 0; round < ROUNDS; round++) {
      const answers = await Promise.all(
        Array.from({ length: 9 }, (_, index) =>
          world.servers[index % 3]!.request('POST', '/api/notes', {
            body: { title: `once ${round}` },
            headers: { 'idempotency-key': `key ${round}` },
            caller: { user: { id: 1, organizationId: 1 }, permissions: ['write'] },
          }),
        ),
      )
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
      expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(8)
    }
    expect(await read('select count(*) from notes')).toEqual([[ROUNDS]])
  })

  it('read on each node what was written on another one, with `wsrep_sync_wait`', async () => {
    const waiting = await openCluster(ddl('mysql'), true)
    try {
      const [one, two] = (await Promise.all(waiting.nodes.map(node => serveBlog({ dialect: 'mysql', engine: 'mysql' }, node)))) as [
        Blog,
        Blog,
      ]
      for (let round = 0; round < 5 * ROUNDS; round++) {
        const { body: { id } } = await one.request('POST', '/api/posts', { body: { title: `seen ${round}` }, caller: WRITER })
        expect((await two.request('GET', `/api/posts/${id}`, { caller: WRITER })).status).toBe(200)
      }
    }
    finally {
      await waiting.close()
    }
  })

  it('run a task once', async () => {
    const ran: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      await onAll(async (node) => {
        const database = createDatabase()
        database.initialize(cluster.nodes[node]!.db, 'mysql')
        const tasks = new Map([[`task ${round}`, { every: 2, run: () => void ran.push(`task ${round}`) }]])
        await createScheduler({ tasks, ownTasks: [], table: TASK_RUNS.mysql, database }).runDue(new Date(120_000))
      })
    }
    expect(ran.sort()).toEqual(Array.from({ length: ROUNDS }, (_, round) => `task ${round}`).sort())
  })
})
