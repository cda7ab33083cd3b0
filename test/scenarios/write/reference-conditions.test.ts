/** Tests that a single insert checks its references in the same statement, with the results of the separate checks of a batch. */
import { sql } from 'drizzle-orm'
import { customType, integer, sqliteTable, text, type AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_CONFIG, DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { EVERYTHING, openWorld, outcome, type World } from './world'

const tenant = () => ({ organizationId: integer('organization_id').notNull() })
const lowercase = customType<{ data: string, driverData: string }>({ dataType: () => 'text', toDriver: value => sql`lower(${value})` })
const users = sqliteTable('users', { id: integer('id').primaryKey(), ...tenant(), name: text('name').notNull() })
const categories = sqliteTable('categories', { id: integer('id').primaryKey(), ...tenant(), name: text('name').notNull() })
const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  ...tenant(),
  title: text('title').default('none').unique(),
  slug: lowercase('slug'),
  authorId: integer('author_id').references(() => users.id),
  categoryId: integer('category_id').references(() => categories.id),
  parentId: integer('parent_id').references((): AnySQLiteColumn => posts.id),
})

/** Of each table, row 1 is visible and row 2 belongs to another tenant. Row 3 of the users is excluded by a filter. */
const ROWS = `
  insert into users values (1, 1, 'own'), (2, 2, 'theirs'), (3, 1, 'filtered');
  insert into categories values (1, 1, 'own'), (2, 2, 'theirs'), (3, 1, 'refused');
  insert into posts (id, organization_id, title) values (1, 1, 'own'), (2, 2, 'theirs');
`

const statements: string[] = []
/** What another process does before the next insert. */
let meanwhile: (() => void) | undefined

async function open(rule?: (row: { name: string }) => boolean, transactional = true): Promise<World> {
  const world = await openWorld({
    tables: { users, categories, posts },
    resources: {
      users: { authorization: { permissions: EVERYTHING, listFilter: table => sql`${(table as typeof users).name} <> 'filtered'` } },
      categories: { authorization: { permissions: EVERYTHING, ...rule && { objectLevel: rule as never } } },
    },
    rows: ROWS,
    config: { multiTenancy: DEFAULT_MULTI_TENANCY, bulk: { ...DEFAULT_CONFIG.bulk, transactional } },
    log(statement) {
      statements.push(statement)
      if (statement.startsWith('insert')) meanwhile?.()
    },
  })
  return world
}

const IDS = [undefined, null, 1, 2, 3, 99]
const BODIES = IDS.flatMap(authorId => IDS.flatMap(categoryId => [undefined, 1, 2].map(parentId => ({ authorId, categoryId, parentId }))))

/** The error of a record, however it was created. */
const errorOf = ({ status, body }: Awaited<ReturnType<World['send']>>) => {
  const { code, message } = body.data?.errors?.[0] ?? { code: body.data?.code, message: body.message }
  return status < 300 && !body.data?.errors ? 'created' : `${code} ${message}`
}

describe.each([
  ['references that only SQL checks', undefined],
  ['references that an object-level rule also checks', ({ name }: { name: string }) => name !== 'refused'],
])('%s', (_name, rule) => {
  let world: World
  let separate: World
  beforeAll(async () => {
    world = await open(rule)
    separate = await open(rule, false)
  })
  beforeEach(() => {
    world.reset()
    separate.reset()
    statements.length = 0
  })
  afterAll(() => [world, separate].forEach(({ client }) => client.close()))

  it('name the same field as in a batch, where each foreign key has its own statement', async () => {
    const answers: Record<string, string> = {}
    for (const body of BODIES) {
      const item = { ...body, title: null }
      const batch = errorOf(await world.send('POST', 'posts/bulk', { items: [item, { title: null }] }))
      const ways = {
        'single': await world.send('POST', 'posts', item),
        'batch of one': await world.send('POST', 'posts/bulk', { items: [item] }),
        'batch that is not atomic': await separate.send('POST', 'posts/bulk', { items: [item] }),
        'dry run': await world.request('POST', '/api/posts', {
          body: item,
          headers: { prefer: 'tx=rollback' },
          caller: { user: { id: 1, organizationId: 1 } },
        }),
        'dry run of a batch that is not atomic': await separate.request('POST', '/api/posts/bulk', {
          body: { items: [item] },
          headers: { prefer: 'tx=rollback' },
          caller: { user: { id: 1, organizationId: 1 } },
        }),
      }
      for (const [way, answer] of Object.entries(ways))
        expect([way, JSON.stringify(body), errorOf(answer)]).toEqual([way, JSON.stringify(body), batch])
      answers[JSON.stringify(body)] = batch
    }
    const distinct = [...new Set(Object.values(answers))].sort()
    expect(distinct).toEqual(
      [
        'created',
        ...['authorId', 'categoryId', 'parentId'].map(name => `INVALID_REFERENCE \`${name}\` points to a record that does not exist.`),
      ].sort((a, b) => (a < b ? -1 : 1)),
    )
  })
})

describe('a single insert with references', () => {
  let world: World
  beforeAll(async () => void (world = await open()))
  beforeEach(() => {
    world.reset()
    statements.length = 0
    meanwhile = undefined
  })
  afterAll(() => {
    meanwhile = undefined
    world.client.close()
  })

  it('is one statement, whose conditions contain the row scope of each referenced row', async () => {
    expect(outcome(await world.send('POST', 'posts', { authorId: 1, categoryId: 1, parentId: 1, slug: 'ABC' }))).toBe('201')
    expect(statements).toHaveLength(1)
    expect(statements[0]).toMatch(/^insert into "posts" \(.*\) select .* where exists \(select 1 from "users" where .* returning/)
    expect(statements[0]!.match(/"organization_id" = \?/g)).toHaveLength(3)
    expect(statements[0]).toContain(`"users"."name" <> 'filtered'`)
    expect(world.rows('select slug, author_id, category_id, parent_id from posts where id = 3')).toEqual([['abc', 1, 1, 1]])
  })

  it('has no conditions without references', async () => {
    expect(outcome(await world.send('POST', 'posts', { title: 'x' }))).toBe('201')
    expect(statements).toEqual([expect.stringMatching(/^insert into "posts" \(.*\) values \(.*\) returning/)])
  })

  it('inserts nothing if the referenced row leaves the row scope before it', async () => {
    meanwhile = () => world.client.exec('update users set organization_id = 2 where id = 1')
    const answer = await world.send('POST', 'posts', { authorId: 1, categoryId: 1 })
    expect(errorOf(answer)).toBe('INVALID_REFERENCE `authorId` points to a record that does not exist.')
    expect(world.rows('select count(*) from posts')).toEqual([2])
  })

  it('reports a violated constraint as such', async () => {
    expect(outcome(await world.send('POST', 'posts', { authorId: 1, title: 'own' }))).toBe('409 CONFLICT')
    expect(outcome(await world.send('POST', 'posts/bulk', { items: [{ authorId: 1, title: 'own' }] }))).toBe('409 BULK_FAILED')
  })
})

describe('a referenced row that an object-level rule has accepted', () => {
  const asked: string[] = []
  let world: World
  beforeAll(async () => void (world = await open(({ name }) => {
    asked.push(name)
    return name !== 'refused'
  })))
  beforeEach(() => {
    world.reset()
    asked.length = 0
    meanwhile = undefined
  })
  afterAll(() => {
    meanwhile = undefined
    world.client.close()
  })
  const rename = (names: string[]) => () => {
    const name = names.shift()
    if (name) world.client.exec(`update categories set name = '${name}' where id = 1`)
  }

  it('is checked again if it changes before the insert', async () => {
    meanwhile = rename(['once'])
    expect(outcome(await world.send('POST', 'posts', { categoryId: 1 }))).toBe('201')
    expect(asked).toEqual(['own', 'once'])
    expect(world.rows('select count(*) from posts')).toEqual([3])
  })

  it('is refused if it changes to a row that the rule refuses', async () => {
    meanwhile = rename(['refused'])
    expect(outcome(await world.send('POST', 'posts', { categoryId: 1 }))).toBe('400 INVALID_REFERENCE')
    expect(world.rows('select count(*) from posts')).toEqual([2])
  })

  it('fails the insert if it changes a second time', async () => {
    meanwhile = rename(['once', 'twice'])
    expect(outcome(await world.send('POST', 'posts', { categoryId: 1 }))).toBe('409 CONFLICT')
    expect(world.rows('select count(*) from posts')).toEqual([2])
  })
})
