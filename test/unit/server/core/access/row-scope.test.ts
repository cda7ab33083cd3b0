/** The rules of rows, one by one: each hides the rows that it refuses, also when it fails, and no rule shows what another one hides. */
import Database from 'better-sqlite3'
import { sql, type SQL } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { scopeClause, scopeSql, withReadable, type Plan, type Scoped } from '../../../../../src/runtime/server/core/access/row-scope'
import { forResource } from '../../../../../src/runtime/server/core/request/call'
import { requireSession, type Call, type Session } from '../../../../../src/runtime/server/core/request/session'
import type { AutoApiContext, AutoApiPlugin } from '../../../../../src/runtime/server/define'
import type { ResourceAuth } from '../../../../../src/runtime/server/registration'
import { DEFAULT_MULTI_TENANCY } from '../../../../../src/runtime/shared/defaults'
import { createServer, type TestServer } from '../../../../support/server'

const people = sqliteTable('people', { id: integer('id').primaryKey(), name: text('name').notNull() })
const tasks = sqliteTable('tasks', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  personId: integer('person_id').references(() => people.id),
  size: integer('size').notNull(),
  deletedAt: integer('deleted_at', { mode: 'timestamp_ms' }),
})
const labels = sqliteTable('labels', { id: integer('id').primaryKey(), name: text('name').notNull() })
const taskLabels = sqliteTable('task_labels', {
  taskId: integer('task_id').notNull().references(() => tasks.id),
  labelId: integer('label_id').notNull().references(() => labels.id),
  secret: integer('secret').notNull().default(0),
}, table => [primaryKey({ columns: [table.taskId, table.labelId] })])

const OPEN = { read: true, create: true, update: true, delete: true, viewDeleted: true } as const
const SIGNED_IN = { user: { id: 1, organizationId: 1, role: 'editor' }, permissions: ['big'] }

let client: Database.Database
afterEach(() => {
  client?.close()
  vi.restoreAllMocks()
})

interface Rules {
  readonly tasks?: ResourceAuth
  readonly people?: ResourceAuth
  readonly taskLabels?: ResourceAuth
  readonly plugins?: readonly AutoApiPlugin[]
}

async function open({ plugins = [], ...rules }: Rules = {}): Promise<TestServer> {
  client = new Database(':memory:')
  client.exec(`
    create table people (id integer primary key, name text not null);
    create table tasks (id integer primary key, organization_id integer not null, person_id integer references people, size integer not null, deleted_at integer);
    create table labels (id integer primary key, name text not null);
    create table task_labels (task_id integer not null, label_id integer not null, secret integer not null default 0, primary key (task_id, label_id));
    insert into people values (1, 'Ann'), (2, 'Ben');
    insert into tasks values (1, 1, 1, 10, null), (2, 1, 2, 20, null), (3, 2, 1, 30, null), (4, 1, 1, 40, 5);
    insert into labels values (1, 'red'), (2, 'blue');
    insert into task_labels values (1, 1, 0), (2, 1, 1), (2, 2, 0);
  `)
  return createServer({
    db: drizzle({ client }),
    config: { multiTenancy: DEFAULT_MULTI_TENANCY },
    modules: [{ people, tasks, labels, taskLabels }],
    registrations: [
      { name: 'people', schema: people, authorization: { permissions: OPEN, ...rules.people } },
      { name: 'tasks', schema: tasks, authorization: { permissions: OPEN, ...rules.tasks } },
      { name: 'labels', schema: labels, authorization: { permissions: OPEN } },
      { name: 'taskLabels', schema: taskLabels, authorization: { permissions: OPEN, ...rules.taskLabels } },
    ],
    plugins,
  })
}

const ids = async (server: TestServer, path: string, caller: object = SIGNED_IN): Promise<unknown> => {
  const { status, body } = await server.request('GET', path, { caller })
  return status === 200 ? body.data.map(({ id }: { id: number }) => id) : status
}
const small = (limit: number) => (row: object) => (row as { size: number }).size < limit

describe('the trash', () => {
  it.each([
    ['/api/tasks', [1, 2]], ['/api/tasks?includeDeleted=true', [1, 2, 4]], ['/api/tasks?onlyDeleted=true', [4]],
    ['/api/people', [1, 2]], ['/api/people?includeDeleted=true', [1, 2]], ['/api/people?onlyDeleted=true', []],
  ])('is what the request asks for, also for a resource without a trash: %s', async (path, expected) => {
    expect(await ids(await open(), path)).toEqual(expected)
  })
})

describe('the condition for a statement of a plugin', () => {
  it.each([
    ['active', [1]],
    ['both', [1, 4]],
    ['trashed', [4]],
  ] as const)('has the tenant, the filter and the trash mode: %s', async (trash, expected) => {
    let call: Call | undefined
    const capture: AutoApiPlugin = {
      name: 'capture',
      around: (ctx, next) => {
        const session = requireSession(ctx)
        call = forResource(session, session.api.resources.get('tasks')!, ctx)
        return next()
      },
    }
    const server = await open({ tasks: { listFilter: table => sql`${(table as typeof tasks).size} <> 20` }, plugins: [capture] })
    await server.request('GET', '/api/tasks', { caller: SIGNED_IN })
    const scope = await scopeClause(call!, call!.resource, trash)
    expect(
      drizzle({ client })
        .select({ id: tasks.id })
        .from(tasks)
        .where(scope.getSQL())
        .all()
        .map(({ id }) => id),
    ).toEqual(expected)
  })
})

it('the condition for a query of the app can be negated, and is one operand', async () => {
  let session: Session | undefined
  const capture: AutoApiPlugin = {
    name: 'capture',
    around: (ctx, next) => {
      session = requireSession(ctx)
      return next()
    },
  }
  const server = await open({ tasks: { listFilter: table => sql`${(table as typeof tasks).size} <> 20` }, plugins: [capture] })
  await server.request('GET', '/api/tasks', { caller: SIGNED_IN })
  const scope = await scopeSql(session as Call, session!.api.resources.get('tasks')!, tasks)
  const find = (condition: SQL) => drizzle({ client }).select({ id: tasks.id }).from(tasks).where(condition).all().map(({ id }) => id)
  const all = find(sql`1 = 1`)
  const visible = find(scope)
  expect(visible.length).toBeGreaterThan(0)
  expect(find(sql`not ${scope}`)).toEqual(all.filter(id => !visible.includes(id)))
  expect(find(sql`${scope} = 0`)).toEqual(all.filter(id => !visible.includes(id)))
})

describe('listFilter', () => {
  it.each([
    ['null', null],
    ['false', false],
    ['true', true],
    ['text', '1 = 1'],
  ])('that returns %s shows no row', async (_what, returned) => {
    const log = vi.spyOn(console, 'error').mockReturnValue()
    const server = await open({ tasks: { listFilter: () => returned as unknown as SQL } })
    expect(await ids(server, '/api/tasks')).toBe(500)
    expect(log.mock.calls.flat().join()).toContain('`tasks.authorization.listFilter` returned something that is neither SQL nor undefined')
  })

  it('hides the row from every request, and undefined hides none', async () => {
    const server = await open({ tasks: { listFilter: (_table, ctx) => ctx.user?.id === 1 ? sql`size < 15` : undefined } })
    expect(await ids(server, '/api/tasks')).toEqual([1])
    expect(await ids(server, '/api/tasks', { user: { id: 2, organizationId: 1 } })).toEqual([1, 2])
    for (const [method, body] of [['GET'], ['PATCH', { size: 1 }], ['DELETE']] as const)
      expect((await server.request(method, '/api/tasks/2', { body, caller: SIGNED_IN })).status).toBe(404)
    expect(client.prepare('select size from tasks where id = 2 and deleted_at is null').pluck().get()).toBe(20)
  })
})

describe('objectLevel', () => {
  it('hides the rows that it refuses, those for which it throws, and those of another tenant', async () => {
    const log = vi.spyOn(console, 'error').mockReturnValue()
    const server = await open({ tasks: { objectLevel: (row) => {
      if (!small(15)(row)) throw new Error('no answer')
      return true
    } } })
    expect(await ids(server, '/api/tasks')).toEqual([1])
    expect((await server.request('GET', '/api/tasks/2', { caller: SIGNED_IN })).status).toBe(404)
    expect(log.mock.calls.flat().join()).toContain('`tasks.authorization.objectLevel` threw; the row is not shown.')
    expect((await server.request('GET', '/api/tasks/3', { caller: SIGNED_IN })).status).toBe(404)
  })

  it('and the checks of plugins must all accept a row', async () => {
    const checking = (name: string, limit: number): AutoApiPlugin => ({ name, rowChecks: { tasks: () => small(limit) } })
    const server = await open({
      tasks: { objectLevel: row => (row as { id: number }).id !== 1 },
      plugins: [checking('one', 99), checking('two', 25)],
    })
    expect(await ids(server, '/api/tasks?includeDeleted=true')).toEqual([2])
    expect(await ids(await open({ plugins: [checking('one', 15)] }), '/api/tasks')).toEqual([1])
    expect(await ids(await open({ plugins: [{ name: 'none', rowChecks: { tasks: () => undefined } }] }), '/api/tasks')).toEqual([1, 2])
    for (const plugins of [[checking('no', 0), checking('yes', 99)], [checking('yes', 99), checking('no', 0)]])
      expect(await ids(await open({ plugins }), '/api/tasks')).toEqual([])
  })
})

describe('a write of a row that objectLevel refuses', () => {
  it.each([
    ['403, if the caller can read the row', 'update', 403],
    ['404, if the caller cannot read it either', 'read', 404],
  ])('is a %s', async (_what, refused, status) => {
    const plugins: AutoApiPlugin[] = [{ name: 'every', rowChecks: { tasks: () => () => true } }]
    const server = await open({ tasks: { objectLevel: (_row, ctx) => ctx.operation !== 'update' && ctx.operation !== refused }, plugins })
    expect((await server.request('PATCH', '/api/tasks/1', { body: { size: 11 }, caller: SIGNED_IN })).status).toBe(status)
    expect(client.prepare('select size from tasks where id = 1').pluck().get()).toBe(10)
  })
})

describe('a credential with scopes', () => {
  const credential = (scopes: readonly string[] | undefined): AutoApiPlugin => ({
    name: 'keys', credentials: () => ({ ...SIGNED_IN, id: 'k', ...scopes && { scopes } }),
  } as AutoApiPlugin)
  const isEditor = (ctx: AutoApiContext) => ctx.user?.role === 'editor'

  it.each([
    ['without scopes', undefined, [1], [2]],
    // The owner is an editor, and the reduced caller is not: rows that either of them cannot see are hidden.
    ['with scopes', ['tasks:read'], [], []],
  ])('%s sees only rows that the owner and the reduced caller see', async (_what, scopes, filtered, checked) => {
    const filter = { listFilter: (_table: unknown, ctx: AutoApiContext) => isEditor(ctx) ? sql`size < 15` : sql`size > 15` }
    expect(await ids(await open({ tasks: filter as ResourceAuth, plugins: [credential(scopes)] }), '/api/tasks')).toEqual(filtered)
    const check: ResourceAuth = { objectLevel: (row, ctx) => small(15)(row) !== isEditor(ctx) }
    expect(await ids(await open({ tasks: check, plugins: [credential(scopes)] }), '/api/tasks')).toEqual(checked)
  })
})

describe('related records', () => {
  it('keep their own rules in includes and in filters, on both sides of a link', async () => {
    const server = await open({ people: { listFilter: () => sql`name = 'Ann'` }, taskLabels: { listFilter: () => sql`secret = 0` } })
    const { body } = await server.request('GET', '/api/tasks?include=person,labels', { caller: SIGNED_IN })
    expect(
      body.data.map(({ person, labels }: { person: { name: string } | null, labels: { id: number }[] }) => [
        person?.name,
        labels.map(({ id }) => id),
      ]),
    ).toEqual([
      ['Ann', [1]],
      [undefined, [2]],
    ])
    const filtered = (filter: object) => ids(server, `/api/tasks?filter=${encodeURIComponent(JSON.stringify(filter))}`)
    expect(await filtered({ person: { name: 'Ben' } })).toEqual([])
    expect(await filtered({ labels: { id: 1 } })).toEqual([1])
    expect(await filtered({ $or: [{ labels: { id: 1 } }, { person: { name: 'Ben' } }] })).toEqual([1])
    expect(await filtered({ person: { tasks: { size: 30 } } })).toEqual([])
    expect(await filtered({ size: { $gt: 5 }, labels: { id: 2 } })).toEqual([2])
    // A text search finds the related rows in code first. The other conditions stay.
    expect(await filtered({ person: { name: { $like: '%n%' } } })).toEqual([1])
    expect(await filtered({ size: { $gt: 15 }, person: { name: { $like: 'A%' } } })).toEqual([])
  })
})

describe('a search for several patterns, which finds the keys of the rows first', () => {
  const open3 = (rules: Rules = {}) => open({ people: { listFilter: () => sql`name <> 'Eve'` }, ...rules })
  const search = async (server: TestServer, path: string, filter: object) =>
    ids(server, `${path}?filter=${encodeURIComponent(JSON.stringify(filter))}`)
  const anyName = (...patterns: string[]) => patterns.map($like => ({ name: { $like } }))

  it('applies the scope and the other conditions of each resource', async () => {
    const server = await open3()
    client.exec(`insert into people values (3, 'Eve'), (4, 'Abe'); insert into tasks values (5, 1, 3, 50, null), (6, 1, 4, 60, null)`)
    const $or = anyName('%e%', '%E%', 'zz')
    expect(await search(server, '/api/people', { $or })).toEqual([2, 4])
    expect(await search(server, '/api/people', { $or, id: { $gt: 2 } })).toEqual([4])
    expect(await search(server, '/api/people', { $or, tasks: { size: { $gt: 20 } } })).toEqual([4])
    const byPerson = { $or: $or.map(person => ({ person })) }
    expect(await search(server, '/api/tasks', byPerson)).toEqual([2, 6])
    expect(await search(server, '/api/tasks', { ...byPerson, size: { $lt: 60 } })).toEqual([2])
    expect(await search(server, '/api/tasks', { ...byPerson, person: { id: { $gt: 2 } }, size: { $gt: 5 } })).toEqual([6])
  })
})

describe('the tenant', () => {
  it('of a user without an organization has no rows in a custom query', async () => {
    const { rowScope } = await import('../../../../../src/runtime/server/utils/index')
    const found: unknown[] = []
    const server = await open({ plugins: [{ name: 'asking', routes: [{ method: 'GET', path: '/asking', handler: async (ctx) => {
      found.push(
        (ctx.db as ReturnType<typeof drizzle>)
          .select({ id: tasks.id })
          .from(tasks)
          .where(await rowScope(ctx, 'tasks', tasks))
          .all(),
      )
      return {}
    } }] }] })
    const ask = async (caller: object) => (await server.request('GET', '/api/asking', { caller })).status
    expect([await ask({ user: { id: 1 } }), await ask(SIGNED_IN)]).toEqual([200, 200])
    expect(found).toEqual([[], [{ id: 1 }, { id: 2 }]])
  })

  it('of a custom query is joined by the filter of each resource, for the operation of the request', async () => {
    const { rowScope } = await import('../../../../../src/runtime/server/utils/index')
    const asked: string[] = []
    const ask = (ctx: AutoApiContext) => {
      asked.push(`${ctx.resource}: ${ctx.operation}`)
      return undefined
    }
    const server = await open({
      tasks: { listFilter: (_table, ctx) => ask(ctx) },
      people: { listFilter: (_table, ctx) => ask(ctx) },
      plugins: [
        {
          name: 'asking',
          routes: [
            {
              method: 'POST',
              path: '/:resource/asked',
              resources: ['tasks'],
              operation: 'update',
              handler: async (ctx) => {
                await rowScope(ctx, 'tasks', tasks)
                await rowScope(ctx, 'people', people)
                return {}
              },
            },
          ],
        },
      ],
    })
    expect((await server.request('POST', '/api/tasks/asked', { caller: SIGNED_IN })).status).toBe(200)
    expect(asked).toEqual(['tasks: update', 'people: update'])
  })

  it.each<[tenant: unknown, expected: unknown]>([
    [1, [1, 2]],
    ['1', [1, 2]],
    ['acme', 403],
    ['', 403],
    [undefined, 403],
    [1.5, 403],
  ])('%j', async (organizationId, expected) => {
    const server = await open()
    expect(await ids(server, '/api/tasks', { user: { id: 1, organizationId } })).toEqual(expected)
    const { status } = await server.request('POST', '/api/tasks', {
      body: { size: 1 },
      caller: { user: { id: 1, organizationId } as never },
    })
    expect(status).toBe(expected === 403 ? 403 : 201)
  })
})

it('a custom query of a resource without authorization has no condition, even if a plugin checks its rows in code', async () => {
  const { rowScope } = await import('../../../../../src/runtime/server/utils/index')
  client = new Database(':memory:')
  client.exec('create table people (id integer primary key, name text not null); insert into people values (1, \'Ann\'), (2, \'Ben\')')
  let found: unknown
  const asking: AutoApiPlugin = {
    name: 'asking',
    rowChecks: { people: () => row => (row as { id: number }).id === 1 },
    routes: [{ method: 'GET', path: '/asking', handler: async (ctx) => {
      found = (ctx.db as ReturnType<typeof drizzle>)
        .select({ id: people.id })
        .from(people)
        .where(await rowScope(ctx, 'people', people))
        .all()
      return {}
    } }],
  }
  const server = await createServer({
    db: drizzle({ client }),
    modules: [{ people }],
    registrations: [{ name: 'people', schema: people }],
    plugins: [asking],
  })
  expect((await server.request('GET', '/api/asking', { caller: SIGNED_IN })).status).toBe(200)
  // SQL cannot express the check.
  expect(found).toEqual([{ id: 1 }, { id: 2 }])
})

describe('the rows that get no 404 in a write', () => {
  const scoped = (rules: Partial<Scoped<Plan>>) => ({ scope: [], ...rules }) as unknown as Scoped<Plan>

  it('are those that the caller can use, and those that the caller can read', async () => {
    const plan = scoped({ accepts: async ({ id }) => id === 1, canRead: async ({ id }) => id === 2 })
    const { accepts, scope } = withReadable(plan)
    expect(await Promise.all([1, 2, 3].map(id => accepts!({ id })))).toEqual([true, true, false])
    expect(scope).toBe(plan.scope)
  })

  it('are the rows of the scope without rules in code', () => {
    const plan = scoped({})
    expect(withReadable(plan)).toBe(plan)
  })
})
