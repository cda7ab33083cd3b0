/** Upserts and the rules of a resource: rows and fields that the caller cannot use, operations and odd values. */
import { sql } from 'drizzle-orm'
import { integer, sqliteTable, text, unique, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { computed } from '../../../src/runtime/server/define'
import { DEFAULT_CONFIG, DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { EVERYTHING, openWorld, outcome, type World } from './world'

const docs = sqliteTable('docs', {
  id: integer('id').primaryKey(),
  organizationId: integer('organization_id').notNull(),
  slug: text('slug').unique(),
  email: text('email').unique(),
  state: text('state'),
  title: text('title'),
  pay: integer('pay'),
  day: integer('day', { mode: 'timestamp_ms' }).unique(),
  number: integer('number').unique(),
  kind: text('kind').default('x').unique(),
  updatedAt: integer('updated_at', { mode: 'timestamp_ms' }),
})
const frozen = sqliteTable('frozen', { id: integer('id').primaryKey(), slug: text('slug').unique(), title: text('title') })
const closed = sqliteTable('closed', { id: integer('id').primaryKey(), slug: text('slug').unique(), title: text('title') })
const members = sqliteTable('members', {
  room: text('room').notNull(), name: text('name').notNull(), isActive: integer('is_active', { mode: 'boolean' }), note: text('note'),
}, t => [unique().on(t.room, t.name)])
const plans = sqliteTable('plans', {
  id: integer('id').primaryKey(), slug: text('slug'), isActive: integer('is_active', { mode: 'boolean' }).notNull().default(true), title: text('title'),
}, t => [uniqueIndex('active').on(t.slug).where(sql`${t.isActive} = 1`)])

let world: World
beforeAll(async () => {
  world = await openWorld({
    tables: { docs, frozen, closed, members, plans },
    resources: {
      docs: {
        authorization: {
          permissions: { read: true, create: 'create', update: 'update' },
          // A row is hidden from reads, or from writes, or from both.
          listFilter: (table, ctx) => sql`${(table as typeof docs).state} is not ${ctx.operation === 'read' ? 'unlisted' : 'locked'}`,
          objectLevel: (row, ctx) => (row as { state: string }).state !== 'secret'
            && !((row as { state: string }).state === 'final' && ctx.operation !== 'read'),
          fields: { email: { read: 'hr' }, pay: { write: 'hr' } } as never,
        },
        computed: { loud: computed.text(table => sql`upper(${(table as typeof docs).title})`) },
      },
      frozen: { authorization: { permissions: EVERYTHING }, disabled: ['update'] },
      closed: { authorization: { permissions: EVERYTHING }, disabled: ['create'] },
    },
    rows: `insert into docs (id, organization_id, slug, email, state, title, pay, day, number, kind) values
        (1, 1, 'plain', 'a', null, 'Plain', 1, 86400000, 1, 'a'), (2, 1, 'secret', 'b', 'secret', 'Secret', 1, 2, 2, 'b'),
        (3, 1, 'final', 'c', 'final', 'Final', 1, 3, 3, 'c'), (4, 1, 'locked', 'd', 'locked', 'Locked', 1, 4, 4, 'd'),
        (5, 1, 'unlisted', 'e', 'unlisted', 'Unlisted', 1, 5, 5, 'e'), (6, 2, 'theirs', 'f', null, 'Theirs', 1, 6, 6, 'f');
      insert into frozen values (1, 'old', 'Old'); insert into closed values (1, 'old', 'Old');
      insert into members values ('a', 'b', 1, 'x');
      insert into plans values (1, 'gold', 0, 'Old gold'), (2, 'gold', 0, 'Older gold'), (3, 'silver', 0, 'Old silver'), (4, 'tin', 1, 'Tin')`,
    config: { multiTenancy: { ...DEFAULT_MULTI_TENANCY, excludedResources: ['frozen', 'closed', 'members', 'plans'] } },
  })
})
beforeEach(() => world.reset())
afterAll(() => world.client.close())

const as = (...permissions: string[]) => ({ user: { id: 1, organizationId: 1 }, permissions })
const BOTH = as('create', 'update')
const send = (path: string, body: unknown, caller = BOTH) => world.send('POST', path, body, caller)
const withoutUrl = ({ status, body }: Awaited<ReturnType<typeof send>>) => [status, { ...body, url: '' }]

describe('rows', () => {
  const IDS = { plain: 1, secret: 2, final: 3, locked: 4, unlisted: 5, theirs: 6 }
  const CALLERS = { 'both permissions': BOTH, 'create': as('create'), 'update': as('update'), 'none': as() }
  const afterReset = async <T>(run: () => Promise<T>) => {
    world.reset()
    return await run()
  }

  it.each(Object.entries(IDS).flatMap(([slug, id]) => Object.entries(CALLERS).map(([name, caller]) => [slug, name, id, caller] as const)))(
    'answer what an update by the id answers, or what a create answers if there is no such record: %s, with %s',
    async (slug, _name, id, caller) => {
      const body = { slug, title: 'x' }
      const [items, entries] = [{ items: [{ slug: 'new' }, body] }, { items: [{ id: 1, data: {} }, { id, data: { title: 'x' } }] }]
      const isFound = outcome(await afterReset(() => world.send('PATCH', `docs/${id}`, { title: 'x' }, BOTH))) !== '404 NOT_FOUND'
      const upserted = await afterReset(() => send('docs?onConflict=slug', body, caller))
      const bulk = await afterReset(() => send('docs/bulk?onConflict=slug', items, caller))
      if (isFound) {
        expect(outcome(upserted)).toBe(outcome(await afterReset(() => world.send('PATCH', `docs/${id}`, { title: 'x' }, caller))))
        if (caller === BOTH && id !== 1)
          expect(outcome(bulk)).toBe(outcome(await afterReset(() => world.send('PATCH', 'docs/bulk', entries, caller))))
      }
      else {
        const before = world.dump()
        expect(withoutUrl(upserted)).toEqual(withoutUrl(await afterReset(() => send('docs', body, caller))))
        expect(withoutUrl(bulk)).toEqual(withoutUrl(await afterReset(() => send('docs/bulk', items, caller))))
        expect(world.dump()).toBe(before)
      }
    },
  )
})

describe('fields', () => {
  it('that a caller cannot read are unknown as a key', async () => {
    const answers = [await send('docs?onConflict=email', { email: 'a' }), await send('docs?onConflict=nothing', { email: 'a' })]
    expect(answers.map(outcome)).toEqual(['400 UNKNOWN_FIELD', '400 UNKNOWN_FIELD'])
    expect(answers[0]!.body.message.replace('email', 'nothing')).toBe(answers[1]!.body.message)
    expect((await send('docs?onConflict=title', {})).body.message).not.toContain('email')
  })

  it('that a caller cannot write refuse the update as they refuse the create', async () => {
    for (const slug of ['plain', 'new']) expect(outcome(await send('docs?onConflict=slug', { slug, pay: 2 }))).toBe('403 FIELD_FORBIDDEN')
    expect(outcome(await send('docs?onConflict=slug', { slug: 'plain', organizationId: 2 }))).toBe('200')
    expect(world.rows('select organization_id, pay from docs where id = 1')).toEqual([[1, 1]])
  })

  it('that are computed are no key', async () => {
    expect(outcome(await send('docs?onConflict=loud', { loud: 'PLAIN' }))).toMatch(/^400/)
  })
})

describe('operations', () => {
  it('that are disabled stay so', async () => {
    const answers = [
      await send('frozen?onConflict=slug', { slug: 'new' }), await send('frozen?onConflict=slug', { slug: 'old', title: 'x' }),
      await send('closed?onConflict=slug', { slug: 'new' }), await send('closed?onConflict=slug', { slug: 'old', title: 'x' }),
    ]
    expect(answers.map(outcome)).toEqual(['201', '403 FORBIDDEN', '405 METHOD_NOT_ALLOWED', '405 METHOD_NOT_ALLOWED'])
    expect(world.rows('select title from frozen where id = 1')).toEqual(['Old'])
  })

  it('of a bulk are all needed, and nothing is written without one', async () => {
    const before = world.dump()
    const items = [{ slug: 'plain', title: 'x' }, { slug: 'new', title: 'x' }]
    for (const caller of [as('create'), as('update')])
      expect(outcome(await send('docs/bulk?onConflict=slug', { items }, caller))).toBe('403 FORBIDDEN')
    expect(world.dump()).toBe(before)
  })
})

describe('values', () => {
  it.each<[string, unknown]>([
    ['an array', []], ['a text', 'x'], ['null', null], ['a list of records', [{ slug: 'plain' }]],
    ['an object as the key', { slug: { $ne: 'x' } }], ['an array as the key', { slug: ['plain'] }], ['a number as the key', { slug: 1 }],
    ['true as the key', { slug: true }],
  ])('that are no record or no key are a 400: %s', async (_, body) => {
    const before = world.dump()
    expect(outcome(await send('docs?onConflict=slug', body))).toMatch(/^400/)
    expect(outcome(await send('docs/bulk?onConflict=slug', { items: [body] }))).toMatch(/^400/)
    expect(world.dump()).toBe(before)
  })

  it('find a time in each of its spellings, and two spellings are one key', async () => {
    const spellings = ['1970-01-02T00:00:00.000Z', '1970-01-02T02:00:00+02:00', '1970-01-02T00:00:00Z']
    for (const day of spellings) expect((await send('docs?onConflict=day', { day, title: day })).body.id).toBe(1)
    const { status, body } = await send('docs/bulk?onConflict=day', { items: spellings.map(day => ({ day })) })
    expect([status, body.data.errors.length]).toEqual([409, 3])
  })

  it('are not changed by a default: a key that is not given finds nothing', async () => {
    expect(outcome(await send('docs?onConflict=kind', { title: 'x' }))).toBe('201')
    expect(outcome(await send('docs?onConflict=kind', { title: 'x' }))).toBe('409 CONFLICT')
  })

  it('that are too large for the column find nothing', async () => {
    for (const number of [1e300, 2 ** 53, 1.5]) expect(outcome(await send('docs?onConflict=number', { number }))).toMatch(/^(400|201)/)
  })
})

describe('a unique index with a condition', () => {
  it('finds only records that meet it', async () => {
    const answers = [await send('plans?onConflict=slug', { slug: 'gold', isActive: true, title: 'Gold' }), await send('plans?onConflict=slug', { slug: 'silver', isActive: true, title: 'Silver' }),
      await send('plans?onConflict=slug', { slug: 'tin', title: 'New tin' })]
    expect(answers.map(outcome)).toEqual(['201', '201', '200'])
    expect(world.rows('select title from plans where id < 5 order by id')).toEqual(['Old gold', 'Older gold', 'Old silver', 'New tin'])
  })
})

it('a table whose key is a unique constraint has upserts by this key', async () => {
  expect((await send('members?onConflict=room,name', { room: 'a', name: 'b', note: 'y' })).status).toBe(200)
  expect((await send('members?onConflict=name,room', { room: 'a', name: 'c', note: 'y' })).status).toBe(201)
  expect(world.rows('select note from members')).toEqual(['y', 'y'])
})

describe('a request', () => {
  it.each([
    'onConflict=slug&onConflict=number', 'onConflict[]=slug', 'onConflict=slug,', 'onConflict=,', 'onConflict=Slug', 'onConflict=docs.slug',
    'onConflict=constructor', 'onConflict=__proto__', 'onConflict={"slug":true}',
  ])('with a list that is no list of fields is a 400: %s', async (query) => {
    for (const path of ['docs', 'docs/bulk']) expect(outcome(await send(`${path}?${query}`, { slug: 'plain', items: [] }))).toMatch(/^400/)
  })

  it('is counted and bounded as a bulk create is', async () => {
    for (const items of [[], Array.from({ length: 101 }, (_, index) => ({ slug: `s${index}` }))]) {
      const [upserted, created] = [await send('docs/bulk?onConflict=slug', { items }), await send('docs/bulk', { items })]
      expect(outcome(upserted)).toBe(outcome(created))
    }
  })

  it('that updates has the tag of the record in its response', async () => {
    const upserted = await send('docs?onConflict=slug', { slug: 'plain', title: 'New' })
    const read = await world.send('GET', 'docs/1', undefined, BOTH)
    expect(upserted.headers.get('etag')).toBe(read.headers.get('etag'))
    expect(upserted.headers.get('etag')).not.toBeNull()
  })

  it('whose records are too large for a response has only their keys, as a bulk create has', async () => {
    const items = ['plain', 'new'].map(slug => ({ slug, title: 'x'.repeat(60) }))
    const small = await openWorld({
      tables: { frozen }, rows: 'insert into frozen values (1, \'plain\', \'Old\')',
      config: { http: { ...DEFAULT_CONFIG.http, maxResponseSize: 150 } },
    })
    const { status, body } = await small.send('POST', 'frozen/bulk?onConflict=slug', { items })
    small.client.close()
    expect([status, body.data]).toEqual([200, [{ id: 1 }, { id: 2 }]])
  })
})
