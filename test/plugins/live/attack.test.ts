/** What a stream could reveal besides the records of its caller, and what a client could do to the server with it. */
import { eq, sql } from 'drizzle-orm'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { live } from '../../../src/runtime/plugins'
import type { AutoApiContext } from '../../../src/runtime/server/define'
import { computed } from '../../../src/runtime/server/define'
import { EVERYTHING, openWorld, type World } from '../../scenarios/write/world'
import type { Caller } from '../../support/server'
import { idle, pass, settle, startClock, stopClock } from './clock'
import { EDITOR, listen, openFeed, OTHER, READER, type Listener, type posts } from './feed'

const open: Listener[] = []
beforeEach(stopClock)
afterEach(async () => {
  for (const listener of open.splice(0)) listener.close()
  await idle()
  startClock()
  vi.restoreAllMocks()
})

const follow = async (world: World, resources: string, caller: Caller, headers: Record<string, string> = {}) => {
  const listener = await listen(world, resources, caller, headers)
  open.push(listener)
  await idle()
  return listener
}
/** The signals since the last call. */
const taken = new WeakMap<Listener, number>()
async function signals(listener: Listener): Promise<readonly string[]> {
  await settle()
  const found = listener.events.slice(taken.get(listener) ?? 0).filter(({ event }) => event !== 'open')
  taken.set(listener, listener.events.length)
  return found.map(({ event, data }) => [event, ...Object.values(data)].join(' ')).sort()
}
const lastId = ({ events }: Listener) => events.at(-1)!.id!
const again = (world: World, resources: string, caller: Caller, id: string) => follow(world, resources, caller, { 'last-event-id': id })

describe('links of two kinds', () => {
  const notes = sqliteTable('notes', { id: integer('id').primaryKey(), title: text('title') })
  const red = sqliteTable('red', { id: integer('id').primaryKey() })
  const blue = sqliteTable('blue', { id: integer('id').primaryKey() })
  const link = (name: string, other: typeof red | typeof blue) => sqliteTable(name, {
    id: integer('id').primaryKey(),
    noteId: integer('note_id').notNull().references(() => notes.id),
    otherId: integer('other_id').notNull().references(() => other.id),
  })
  const tables = { notes, red, blue, redNotes: link('red_notes', red), blueNotes: link('blue_notes', blue) }

  it('reach only the callers who can read the other side, though the rules about rows are equal', async () => {
    const only = (name: string) =>
      ({ authorization: { permissions: { ...EVERYTHING, read: (ctx: AutoApiContext) => ctx.permissions.includes(name) } } })
    const world = await openWorld({
      tables, resources: { red: only('red'), blue: only('blue'), redNotes: false, blueNotes: false },
      rows: 'insert into notes values (1, \'x\'); insert into red values (1); insert into blue values (1)',
      config: { m2m: { autoDetect: true, relations: { redNotes: ['notes', 'red'], blueNotes: ['notes', 'blue'] } } } as never,
      plugins: [live()],
    })
    const ofRed = await follow(world, 'notes', { user: { id: 1 }, permissions: ['red'] })
    const ofBlue = await follow(world, 'notes', { user: { id: 2 }, permissions: ['blue'] })
    const both: Caller = { user: { id: 3 }, permissions: ['red', 'blue'] }
    expect((await world.send('POST', 'notes/1/relations/red', { ids: [1] }, both)).status).toBe(200)
    expect([await signals(ofRed), await signals(ofBlue)]).toEqual([['changed notes 1'], []])
    expect((await world.send('POST', 'notes/1/relations/blue', { ids: [1] }, both)).status).toBe(200)
    expect([await signals(ofRed), await signals(ofBlue)]).toEqual([[], ['changed notes 1']])
  })
})

describe('a client that connects again', () => {
  it('receives a reset if no stream followed its rows meanwhile', async () => {
    const world = await openFeed()
    for (const [resources, wait] of [['drafts', 0], ['posts', 70_000]] as const) {
      const first = await follow(world, resources, READER)
      const id = lastId(first)
      first.close()
      await pass(wait)
      await world.send('PATCH', `${resources}/1`, resources === 'drafts' ? { text: 'missed' } : { title: 'missed' }, { ...READER, permissions: [] })
      expect([resources, await signals(await again(world, resources, READER, id))]).toEqual([resources, ['reset']])
    }
  })

  it('receives a reset if it can read something else now, though others follow those rows', async () => {
    const world = await openFeed()
    await follow(world, 'posts', EDITOR)
    const reader = await follow(world, 'posts', READER)
    await world.send('PATCH', 'posts/1', { title: 'A' }, EDITOR)
    await settle()
    const id = lastId(reader)
    expect(await signals(await again(world, 'posts', { ...READER, permissions: ['editor'] }, id))).toEqual(['reset'])
    expect(await signals(await again(world, 'posts', READER, id))).toEqual([])
    expect(await signals(await again(world, 'posts', { user: { id: 7, team: 1 } }, id))).toEqual(['reset'])
  })

  it('learns nothing by ids that it makes up', async () => {
    const world = await openFeed()
    const reader = await follow(world, 'posts', READER)
    const [id, mark] = lastId(reader).split('.')
    for (const made of ['', '.', `.${mark}`, `AAAA.${mark}`, `${'A'.repeat(46)}.${mark}`, `${id}.`, `${id}.x`, 'x'.repeat(10_000), `${id}.${mark}.x`.slice(0, -3) + '!'])
      expect([made, await signals(await again(world, 'posts', READER, made))]).toEqual([made, ['reset']])
  })
})

describe('ids', () => {
  it('do not say whether anything has happened between two events', async () => {
    const world = await openFeed()
    const listeners = await Promise.all(Array.from({ length: 5 }, () => follow(world, 'posts', READER)))
    expect(new Set(listeners.map(lastId)).size).toBe(5)
    expect(new Set(listeners.map(listener => lastId(listener).length)).size).toBe(1)
  })
})

describe('a record that changes several times in a moment', () => {
  it('is gone for a client that can have read it in between', async () => {
    const world = await openFeed()
    const reader = await follow(world, 'posts', READER)
    await world.send('PATCH', 'posts/3', { published: true }, EDITOR)
    expect((await world.send('GET', 'posts/3', undefined, READER)).status).toBe(200)
    await world.send('PATCH', 'posts/3', { published: false }, EDITOR)
    expect(await signals(reader)).toEqual(['gone posts 3'])
  })

  it('has changed for a client that can have missed it in between', async () => {
    const world = await openFeed({}, { resources: { posts: {
      authorization: {
        permissions: EVERYTHING,
        listFilter: (table, ctx) => ctx.permissions.includes('editor') ? undefined : eq((table as typeof posts).note, 'open'),
        fields: { note: { read: 'editor', write: true } } as never,
      },
    } } })
    await world.send('PATCH', 'posts/1', { note: 'open' }, EDITOR)
    const reader = await follow(world, 'posts', READER)
    await world.send('PATCH', 'posts/1', { note: 'closed' }, EDITOR)
    expect((await world.send('GET', 'posts/1', undefined, READER)).status).toBe(404)
    await world.send('PATCH', 'posts/1', { note: 'open' }, EDITOR)
    expect(await signals(reader)).toEqual(['changed posts 1'])
  })
})

describe('a computed field', () => {
  it('changes with a column that the caller cannot read, if its value changes', async () => {
    const world = await openFeed({}, { resources: { posts: {
      authorization: { permissions: EVERYTHING, fields: { note: { read: 'editor', write: true } } as never },
      hiddenFields: ['secret'],
      computed: { isNoted: computed.boolean(t => eq((t as typeof posts).note, 'x')) } as never,
    } } })
    const [reader, editor] = [await follow(world, 'posts', READER), await follow(world, 'posts', EDITOR)]
    await world.send('PATCH', 'posts/1', { note: 'x' }, EDITOR)
    expect([await signals(reader), await signals(editor)]).toEqual([['changed posts 1'], ['changed posts 1']])
    await world.send('PATCH', 'posts/1', { note: 'y' }, EDITOR)
    expect([await signals(reader), await signals(editor)]).toEqual([['changed posts 1'], ['changed posts 1']])
    await world.send('PATCH', 'posts/1', { note: 'z' }, EDITOR)
    expect([await signals(reader), await signals(editor)]).toEqual([[], ['changed posts 1']])
  })
})

describe('a reference that the database clears', () => {
  it('is no signal for callers who cannot read it', async () => {
    const hidden = { authorization: { permissions: EVERYTHING, fields: { parentId: { read: 'editor', write: true } } as never } }
    const parents = sqliteTable('parents', { id: integer('id').primaryKey() })
    const children = sqliteTable('children', {
      id: integer('id').primaryKey(), parentId: integer('parent_id').references(() => parents.id, { onDelete: 'set null' }),
    })
    const world = await openWorld({
      tables: { parents, children }, resources: { children: hidden }, plugins: [live()],
      rows: 'insert into parents values (1); insert into children values (1, 1)',
    })
    const [reader, editor] = [await follow(world, 'children', READER), await follow(world, 'children', EDITOR)]
    expect((await world.send('DELETE', 'parents/1')).status).toBe(200)
    expect([await signals(reader), await signals(editor)]).toEqual([[], ['changed children 1']])
  })
})

describe('a rule that compares as its column does', () => {
  it('judges a row as it was stored, with the type and the collation of the column', async () => {
    const world = await openFeed({}, { resources: { posts: {
      authorization: {
        permissions: EVERYTHING,
        listFilter: (table, ctx) => ctx.permissions.includes('editor') ? undefined : sql`${(table as typeof posts).team} = ${'1'} and ${(table as typeof posts).title} > ${0}`,
      },
    } } })
    const reader = await follow(world, 'posts', READER)
    await world.send('PATCH', 'posts/1', { team: 2 }, EDITOR)
    expect(await signals(reader)).toEqual(['gone posts 1'])
  })
})

describe('the caller of an open stream', () => {
  it('is another one after a sign-out, also if users have no id', async () => {
    const world = await openFeed({ recheck: 5 }, { resources: { posts: { authorization: { permissions: EVERYTHING } } } })
    const caller: Caller = { user: { name: 'Ada' } }
    const stream = await follow(world, 'posts', caller)
    caller.user = null
    await pass(10_000)
    expect(stream.events.at(-1)).toMatchObject({ event: 'end', data: { reason: 'unauthorized' } })
  })

  it.each([
    ['cannot be found any more', () => new Promise<never>(() => {}), 40_000],
    ['has a rule that throws', () => Promise.reject(new Error('broken')), 10_000],
  ])('who %s has no stream any more', async (_, fail, wait) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    let isBroken = false
    const plugin = { name: 'broken', extendContext: () => isBroken ? fail() : undefined }
    const world = await openFeed({ recheck: 5 }, { plugins: [live({ recheck: 5 }), plugin] })
    const streams = await Promise.all(Array.from({ length: 5 }, () => follow(world, 'posts', READER)))
    isBroken = true
    await pass(wait)
    expect(streams.map(({ events }) => events.at(-1))).toMatchObject(streams.map(() => ({ event: 'end', data: { reason: 'closing' } })))
    expect(streams.every(stream => stream.ended())).toBe(true)
  })

  it('has no stream any more if a rule about rows throws', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    let isBroken = false
    const listFilter = () => {
      if (isBroken) throw new Error('broken')
      return undefined
    }
    const world = await openFeed({ recheck: 5 }, { resources: { posts: { authorization: { permissions: EVERYTHING, listFilter } } } })
    const stream = await follow(world, 'posts', READER)
    isBroken = true
    await pass(10_000)
    expect(stream.events.at(-1)).toMatchObject({ event: 'end', data: { reason: 'closing' } })
    expect(JSON.stringify(stream.events)).not.toContain('broken')
  })
})

describe('a page of another site', () => {
  const BEARER = { authorization: 'Bearer x' }
  it.each<[Record<string, string>, number]>([
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'cross-site', 'origin': 'http://localhost' }, 403],
    [{ origin: 'https://evil.example', ...BEARER }, 200],
    [{ 'sec-fetch-site': 'same-origin', 'origin': 'http://localhost' }, 200],
    [{ 'sec-fetch-site': 'same-site' }, 200],
    [{ 'sec-fetch-site': 'none' }, 200],
    [{}, 200],
  ])('opens no stream: %j %d', async (headers, status) => {
    const world = await openFeed()
    const stream = await follow(world, 'posts', READER, { host: 'localhost', ...headers })
    expect(stream.status).toBe(status)
  })
})

describe('many requests', () => {
  it('at the same time open no more streams than one after the other', async () => {
    const world = await openFeed({ maxStreamsPerCaller: 3 })
    const streams = await Promise.all(Array.from({ length: 20 }, () => follow(world, 'posts', READER)))
    expect(streams.filter(({ status, ended }) => status === 200 && !ended())).toHaveLength(3)
    const closed = streams.filter(({ status, ended }) => status === 200 && ended())
    for (const { events } of closed) expect(events).toMatchObject([{ event: 'end', data: { reason: 'closing' } }])
  })

  it('of the kind HEAD take no stream', async () => {
    const world = await openFeed({ maxStreamsPerCaller: 1 })
    for (let count = 0; count < 5; count++)
      expect((await world.fetch(new Request('http://localhost/api/_live?resources=posts', { method: 'HEAD' }), READER)).status).toBe(200)
    expect((await follow(world, 'posts', READER)).events).toMatchObject([{ event: 'open' }])
  })

  it('that open and close streams leave nothing behind', async () => {
    const world = await openFeed({ maxStreams: 1, maxStreamsPerCaller: 1 })
    for (let count = 0; count < 1000; count++) {
      const stream = await listen(world, 'posts,drafts', READER)
      expect(stream.status).toBe(200)
      stream.close()
      await idle()
    }
    await pass(70_000)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a long list of resources', () => {
  it('is one subscription for each, and an unknown name refuses all', async () => {
    const world = await openFeed()
    const stream = await follow(world, Array.from({ length: 1000 }, () => 'posts,comments').join(), READER)
    await world.send('PATCH', 'posts/1', { title: 'A' }, EDITOR)
    expect(await signals(stream)).toEqual(['changed posts 1'])
    expect((await follow(world, Array.from({ length: 2000 }, (_, index) => `r${index}`).join(), READER)).status).toBe(400)
  })
})

describe('a table of many columns', () => {
  it('has no more parameters in a statement than the database accepts', async () => {
    const columns = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`c${index}`, integer(`c${index}`)]))
    const wide = sqliteTable('wide', { id: integer('id').primaryKey(), ...columns })
    const world = await openWorld({
      tables: { wide }, plugins: [live()], config: { bulk: { enabled: true, maxBatchSize: 1000, transactional: true } },
      rows: `insert into wide (id) with recursive n (id) as (select 1 union all select id + 1 from n where id < 250) select id from n`,
    })
    const reader = await follow(world, 'wide', READER)
    const ids = Array.from({ length: 250 }, (_, index) => index + 1)
    expect((await world.send('DELETE', 'wide/bulk', { ids })).status).toBe(200)
    expect(await signals(reader)).toEqual(ids.map(id => `gone wide ${id}`).sort())
  })
})

describe('an error of the database', () => {
  it('resets the streams of its group only', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const world = await openFeed({}, { resources: { posts: {
      authorization: {
        permissions: EVERYTHING,
        listFilter: (table, ctx) => ctx.user?.id === 3 ? sql`json(${(table as typeof posts).title}) is not null` : undefined,
      },
    } } })
    const [reader, other, ofComments] = [await follow(world, 'posts', READER), await follow(world, 'posts', OTHER), await follow(world, 'comments', OTHER)]
    await world.send('PATCH', 'posts/1', { title: '{not json' }, EDITOR)
    expect([await signals(reader), await signals(other), await signals(ofComments)]).toEqual([['changed posts 1'], ['reset'], []])
  })
})
