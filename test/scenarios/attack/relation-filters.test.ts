/**
 * A filter on a relation finds out nothing that an include would not show: neither rows out of the caller's sight nor unreadable fields.
 */
import { sql } from 'drizzle-orm'
import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import type { AutoApiPlugin } from '../../../src/runtime/server/plugin/contract'
import type { AutoApiContext, ResourceAuth, ResourceRegistration } from '../../../src/runtime/server/registration'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { serveTables } from '../../support/tables-server'

const tenant = () => ({ organizationId: integer('organization_id') })
const people = sqliteTable('people', {
  id: integer('id').primaryKey(),
  ...tenant(),
  name: text('name'),
  salary: integer('salary'),
  deletedAt: integer('deleted_at'),
})
const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  ...tenant(),
  title: text('title'),
  authorId: integer('author_id').references(() => people.id),
})
const badges = sqliteTable('badges', { id: integer('id').primaryKey(), label: text('label') })
const peopleBadges = sqliteTable(
  'people_badges',
  {
    personId: integer('person_id').references(() => people.id),
    badgeId: integer('badge_id').references(() => badges.id),
    ...tenant(),
    level: text('level'),
  },
  t => [primaryKey({ columns: [t.personId, t.badgeId] })],
)
const TABLES = { people, posts, badges, peopleBadges }

const DDL = `
  create table people (id integer primary key, organization_id integer, name text, salary integer, deleted_at integer);
  create table posts (id integer primary key, organization_id integer, title text, author_id integer);
  create table badges (id integer primary key, label text);
  create table people_badges (person_id integer, badge_id integer, organization_id integer, level text, primary key (person_id, badge_id));
  insert into badges values (1, 'gold');
`

/** Why the person is out of the caller's sight: columns of the row, and rules. */
interface Reason {
  readonly row?: Partial<Record<'organization_id' | 'name' | 'deleted_at', unknown>>
  readonly rules?: ResourceAuth
  /** Columns of the person's link to the badge. */
  readonly link?: Partial<Record<'organization_id' | 'level', unknown>>
  readonly linkRules?: ResourceAuth
}

const listFilter = (_: unknown, ctx: AutoApiContext) => ctx.permissions.includes('all') ? undefined : sql`name <> 'hidden'`

const REASONS: Record<string, Reason> = {
  'is another tenant\'s': { row: { organization_id: 2 } },
  'is in the trash': { row: { deleted_at: 1 } },
  'is refused by listFilter': { row: { name: 'hidden' }, rules: { listFilter } as never },
}
const LINK_REASONS: Record<string, Reason> = {
  'is another tenant\'s': { link: { organization_id: 2 } },
  'is refused by listFilter': { link: { level: 'hidden' }, linkRules: { listFilter: () => sql`level <> 'hidden'` } as never },
}

const OPEN = { read: true, aggregate: true } as const
const member = { user: { id: 1, organizationId: 1 }, permissions: [] }

async function open(
  { row = {}, rules, link = {}, linkRules }: Reason,
  change: (registrations: Record<string, Omit<ResourceRegistration, 'name'>>) => void = () => {},
  plugins: readonly AutoApiPlugin[] = [],
) {
  const registrations: Record<string, Omit<ResourceRegistration, 'name'>> = {
    people: { schema: people, authorization: { permissions: OPEN, fields: { salary: { read: 'hr' } }, ...rules } as ResourceAuth },
    posts: { schema: posts, authorization: { permissions: OPEN } },
    badges: { schema: badges, authorization: { permissions: OPEN } },
    peopleBadges: { schema: peopleBadges, authorization: { permissions: OPEN, ...linkRules } as ResourceAuth },
  }
  change(registrations)
  const value = (column: unknown) => (column === null ? 'null' : typeof column === 'number' ? String(column) : `'${String(column)}'`)
  const person = { organization_id: 1, name: 'Ann', salary: 7, deleted_at: null, ...row }
  const linked = { organization_id: 1, level: 'plain', ...link }
  return serveTables(
    `${DDL}
    insert into people values (1, ${Object.values(person).map(value).join()});
    insert into posts values (1, 1, 'first', 1), (2, 1, 'second', null);
    insert into people_badges values (1, 1, ${Object.values(linked).map(value).join()});
  `,
    [TABLES],
    registrations,
    { multiTenancy: { ...DEFAULT_MULTI_TENANCY, excludedResources: ['badges'] } },
    plugins,
  )
}

type Target = Awaited<ReturnType<typeof open>>

const spelled = (filter: object) => `filter=${encodeURIComponent(JSON.stringify(filter))}`

/** Everything that a response can disclose about the rows that a filter finds. */
async function found(target: Target, resource: string, filter: object, caller: object = member) {
  const get = async (path: string) => (await target.request('GET', `/api/${resource}${path}${spelled(filter)}`, { caller })).body
  const [page, cursor, groups, sums] = [
    await get('?'),
    await get('?cursor=&limit=1&'),
    await get('?groupBy=id&'),
    await get('/aggregate?aggregate=count,max(id)&'),
  ]
  const ids = page.data.map(({ id }: { id: number }) => id)
  expect(page.meta.total).toBe(ids.length)
  expect([cursor.data.length, cursor.meta.hasMore, cursor.meta.nextCursor !== null]).toEqual([
    Math.min(1, ids.length),
    ids.length > 1,
    ids.length > 1,
  ])
  expect(groups.meta.total).toBe(ids.length)
  expect(sums.data[0].count).toBe(ids.length)
  return ids
}

/** Filters that find the first row of a resource by the person, and the rows that they find otherwise. */
const BY_PERSON: [title: string, resource: string, filter: object, otherwise: number[]][] = [
  ['to-one', 'posts', { author: { id: 1 } }, []],
  ['to-one, by a condition that every row meets', 'posts', { author: { id: { $ne: 99 } } }, []],
  ['to-one, any', 'posts', { author: { $null: false } }, []],
  ['to-one, in a branch', 'posts', { $or: [{ author: { id: 1 } }, { id: 99 }] }, []],
  ['many-to-many', 'badges', { people: { id: 1 } }, []],
  ['many-to-many, any', 'badges', { people: { $ne: null } }, []],
  ['two relations deep', 'posts', { author: { posts: { id: 1 } } }, []],
  ['to-many of a junction', 'badges', { peopleBadges: { person: { id: 1 } } }, []],
]

describe.each(Object.entries(REASONS))('a related row that %s', (_, reason) => {
  it.each(BY_PERSON)('is not found by a filter: %s', async (_, resource, filter, otherwise) => {
    expect(await found(await open({}), resource, filter)).toEqual([1])
    expect(await found(await open(reason), resource, filter)).toEqual(otherwise)
  })

  it('counts as absent', async () => {
    expect(await found(await open({}), 'posts', { author: null })).toEqual([2])
    expect(await found(await open(reason), 'posts', { author: null })).toEqual([1, 2])
    expect(await found(await open(reason), 'badges', { people: null })).toEqual([1])
  })

  it('gives the same responses as if it did not exist', async () => {
    const [hidden, missing] = [
      await open(reason),
      await serveTables(
        `${DDL} insert into posts values (1, 1, 'first', 9), (2, 1, 'second', null);`,
        [TABLES],
        {
          people: { schema: people, authorization: { permissions: OPEN, ...reason.rules } as ResourceAuth },
          posts: { schema: posts, authorization: { permissions: OPEN } },
        },
        { multiTenancy: DEFAULT_MULTI_TENANCY },
      ),
    ]
    for (const filter of [
      { author: { name: 'hidden' } },
      { author: { id: { $gt: 0 } } },
      { $or: [{ author: null }, { author: { name: { $like: 'a' } } }] },
    ]) {
      const texts = await Promise.all(
        [hidden, missing].map(
          async target => (await target.request('GET', `/api/posts?fields=id&sort=title&${spelled(filter)}`, { caller: member })).text,
        ),
      )
      expect(texts[0]).toBe(texts[1])
    }
  })
})

describe.each(Object.entries(LINK_REASONS))('a link that %s', (_, reason) => {
  it('is not followed by a filter, whether the junction is named or not', async () => {
    for (const filter of [{ people: { id: 1 } }, { people: { $null: false } }, { peopleBadges: { personId: 1 } }]) {
      expect(await found(await open({}), 'badges', filter)).toEqual([1])
      expect(await found(await open(reason), 'badges', filter)).toEqual([])
    }
    expect(await found(await open(reason), 'badges', { people: null })).toEqual([1])
  })
})

it('a link of another tenant in a junction that is not registered is not followed by a filter', async () => {
  const unregistered = (registrations: Record<string, unknown>) => {
    delete registrations.peopleBadges
  }
  expect(await found(await open({}, unregistered), 'badges', { people: { id: 1 } })).toEqual([1])
  expect(await found(await open({ link: { organization_id: 2 } }, unregistered), 'badges', { people: { id: 1 } })).toEqual([])
})

describe('a field of a related row', () => {
  it('that the caller cannot read is an unknown field, as if it did not exist', async () => {
    const target = await open({}, ({ people }) => Object.assign(people!, { hiddenFields: ['deletedAt'] }))
    const ask = async (name: string, spell: (name: string) => string, caller: object = member) =>
      target.request('GET', `/api/${spell(name)}`, { caller })
    const forms: ((name: string) => string)[] = [
      name => `posts?${spelled({ author: { [name]: 7 } })}`,
      name => `posts?${spelled({ author: { [name]: { $gt: 1 } } })}`,
      name => `posts?${spelled({ author: { [name]: { $ne: 1, $null: false } } })}`,
      name => `posts?${spelled({ author: { [name]: { deep: 1 } } })}`,
      name => `posts?filter[author][${name}][$null]=true`,
      name => `posts/aggregate?${spelled({ $or: [{ id: 1 }, { author: { [name]: 7 } }] })}`,
      name => `people?include=${encodeURIComponent(JSON.stringify({ posts: { filter: { author: { [name]: 7 } } } }))}`,
    ]
    for (const form of forms) {
      const missing = await ask('nothing', form)
      expect([missing.status, missing.body.data.code]).toEqual([400, 'UNKNOWN_FIELD'])
      for (const name of ['salary', 'deletedAt']) expect((await ask(name, form)).text).toBe(missing.text.replaceAll('nothing', name))
    }
    expect((await ask('salary', forms[0]!, { ...member, permissions: ['hr'] })).body.data).toHaveLength(1)
  })

  it('that is a key of the relation makes the relation unknown to callers who cannot read it', async () => {
    for (const [resource, column] of [['people', 'id'], ['posts', 'authorId']] as const) {
      const target = await open({}, registrations => Object.assign(registrations[resource]!, { hiddenFields: [column] }))
      const [secret, missing] = [
        await target.request('GET', `/api/posts?${spelled({ author: { name: 'Ann' } })}`, { caller: member }),
        await target.request('GET', `/api/posts?${spelled({ authorx: { name: 'Ann' } })}`, { caller: member }),
      ]
      expect([secret.status, secret.text]).toEqual([400, missing.text.replaceAll('authorx', 'author')])
    }
  })
})

describe('without permission to read the related resource', () => {
  const refusing = (permissions: object) => open({}, ({ people }) => Object.assign(people!, { authorization: { permissions } }))
  const PATHS = [
    `posts?${spelled({ author: { id: 1 } })}`,
    `posts?${spelled({ author: null })}`,
    `posts?${spelled({ $or: [{ id: 1 }, { author: { $null: false } }] })}`,
    `posts?groupBy=id&${spelled({ author: { id: 1 } })}`,
    `badges?${spelled({ people: { id: 1 } })}`,
    `badges?${spelled({ peopleBadges: { person: { id: 1 } } })}`,
    `posts/aggregate?${spelled({ author: { id: 1 } })}`,
    `badges?include=${encodeURIComponent(JSON.stringify({ peopleBadges: { filter: { person: { id: 1 } } } }))}`,
  ]

  it.each(PATHS)('a signed-in caller gets 403, an anonymous caller 401: %s', async (path) => {
    const target = await refusing({ read: 'staff' })
    expect((await target.request('GET', `/api/${path}`, { caller: member })).status).toBe(403)
    expect((await target.request('GET', `/api/${path}`, { caller: { tenantId: 1 } as object })).status).toBe(401)
    expect((await target.request('GET', `/api/${path}`, { caller: { ...member, permissions: ['staff'] } })).status).toBe(200)
  })

  it('invalid requests get their 400 first', async () => {
    const target = await refusing({ read: 'staff' })
    for (const query of [
      `${spelled({ author: { nothing: 1 } })}`,
      `${spelled({ author: { id: 'x' } })}`,
      `${spelled({ author: { id: 1 } })}&sort=nothing`,
      `${spelled({ author: { id: 1 } })}&include=nobody`,
      `${spelled({ author: { id: 1 } })}&aggregate=sum(title)`,
    ])
      expect((await target.request('GET', `/api/posts?${query}`, { caller: member })).status).toBe(400)
  })

  it('the permission to aggregate is not enough', async () => {
    const target = await refusing({ read: 'staff', aggregate: true })
    expect(
      (await target.request('GET', `/api/people/aggregate?${spelled({ posts: { author: { id: 1 } } })}`, { caller: member })).status,
    ).toBe(403)
  })
})

describe('a rule in code', () => {
  it.each([
    ['of the related resource', 'people', 'posts', 'author'],
    ['of a registered junction', 'peopleBadges', 'badges', 'people'],
  ])('%s refuses the filter with 400', async (_, judged, resource, relation) => {
    const target = await open({}, registrations =>
      Object.assign(registrations[judged!]!, { authorization: { permissions: OPEN, objectLevel: () => false } }),
    )
    for (const filter of [{ [relation!]: { id: 1 } }, { [relation!]: null }]) {
      const { status, body } = await target.request('GET', `/api/${resource}?${spelled(filter)}`, { caller: member })
      expect([status, body.data.code]).toEqual([400, 'INVALID_QUERY'])
    }
  })

  it.each([
    ['of the related resource', 'people', 'posts', 'author'],
    ['of a registered junction', 'peopleBadges', 'badges', 'people'],
  ])('%s refuses the filter, if a plugin checks the rows', async (_, judged, resource, relation) => {
    const target = await open({}, () => {}, [{ name: 'check', rowChecks: { [judged!]: () => () => false } }])
    for (const filter of [{ [relation!]: { id: 1 } }, { [relation!]: null }, { $or: [{ [relation!]: { id: 1 } }, { id: 99 }] }]) {
      const { status, body } = await target.request('GET', `/api/${resource}?${spelled(filter)}`, { caller: member })
      expect([status, body.data?.code]).toEqual([400, 'INVALID_QUERY'])
    }
  })

  it('of the resource itself checks the rows that the filter finds', async () => {
    const target = await open({}, ({ posts }) =>
      Object.assign(posts!, { authorization: { permissions: OPEN, objectLevel: (row: { id: number }) => row.id !== 1 } }),
    )
    expect(await found(target, 'posts', { $or: [{ author: { id: 1 } }, { author: null }] })).toEqual([2])
  })
})

describe('callers with the same filter', () => {
  it('do not share rows: the same statement runs with each caller\'s own scope', async () => {
    const target = await open(REASONS['is refused by listFilter']!)
    const filter = { author: { id: { $gt: 0 } } }
    const all = { ...member, permissions: ['all'] }
    const other = { user: { id: 2, organizationId: 2 }, permissions: ['all'] }
    for (let round = 0; round < 2; round++)
      expect([
        await found(target, 'posts', filter),
        await found(target, 'posts', filter, all),
        await found(target, 'posts', filter, other),
      ]).toEqual([[], [1], []])
  })
})

describe('a filter in other places', () => {
  it('applies to the list of a relation, to an include and to pages by cursor', async () => {
    const target = await open({})
    const get = async (path: string) => (await target.request('GET', `/api/${path}`, { caller: member })).body
    expect((await get(`people/1/relations/posts?${spelled({ author: { name: 'Ann' } })}`)).data).toHaveLength(1)
    expect((await get(`people/1/relations/posts?${spelled({ author: { name: 'Ben' } })}`)).data).toEqual([])
    const include = (name: string) => `people?include=${encodeURIComponent(JSON.stringify({ posts: { filter: { author: { name } } } }))}`
    expect([(await get(include('Ann'))).data[0].posts.length, (await get(include('Ben'))).data[0].posts.length]).toEqual([1, 0])
  })
})
