/** On every engine: of two upserts with the same new key one creates the record, and the other one updates it. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_MULTI_TENANCY } from '../../src/runtime/shared/defaults'
import { byTier, isFull } from '../support/tiers'
import { createServer, type Answered, type TestServer } from '../support/server'
import { CONNECTION_CASES, isAvailable, type Opened } from './support/databases'
import { entriesDdl, entriesTables, hasPartialIndex } from './support/entries'

const ROUNDS = byTier({ push: 12, full: 1000, release: 1000 })
const CALLER = { user: { id: 1, organizationId: 1 } }
const PERMISSIONS = { read: true, create: true, update: true, delete: true } as const

describe.each(CONNECTION_CASES)('$name', (engineCase) => {
  const { dialect } = engineCase
  describe.skipIf(!isAvailable(engineCase))('upserts', () => {
    let opened: Opened
    let server: TestServer
    /** Before-hooks wait until the next two requests have arrived in one: both have looked for the record before one of them writes. */
    let meeting: { left: number, readonly all: PromiseWithResolvers<void> } | undefined

    async function meet(): Promise<void> {
      if (!meeting || meeting.left === 0) return
      meeting.left--
      if (meeting.left === 0) meeting.all.resolve()
      await meeting.all.promise
    }

    /** In two of three rounds, the requests meet. */
    function together(round: number, requests: () => readonly Promise<Answered>[]): Promise<readonly Answered[]> {
      meeting = round % 3 < 2 ? { left: 2, all: Promise.withResolvers() } : undefined
      return Promise.all(requests())
    }

    beforeAll(async () => {
      opened = await engineCase.open()
      await opened.exec(entriesDdl(dialect))
      const { entries, names } = entriesTables(dialect)
      const hooks = { beforeCreate: meet, beforeUpdate: meet, beforeDelete: meet }
      const authorization = { permissions: PERMISSIONS }
      server = await createServer({
        db: opened.db,
        engine: engineCase.engine,
        modules: [{ entries, names }],
        config: { multiTenancy: DEFAULT_MULTI_TENANCY },
        registrations: [{ name: 'entries', schema: entries, hooks, authorization }, { name: 'names', schema: names, hooks, authorization }],
      })
    })
    beforeEach(async () => {
      meeting = undefined
      await opened.exec('delete from entries; delete from names')
    })
    afterAll(() => opened?.close())

    const send = (method: string, path: string, body?: unknown) => server.request(method, `/api/${path}`, { body, caller: CALLER })
    const upsert = (on: string, body: object, resource = 'entries') => send('POST', `${resource}?onConflict=${on}`, body)
    const upsertAll = (on: string, items: object[]) => send('POST', `entries/bulk?onConflict=${on}`, { items })
    const count = async (where: string) => Number((await opened.all(`select count(*) from ${where}`))[0]![0])
    const status = ({ status, text }: Answered) => status < 400 ? status : text
    const repetitions = isFull ? ROUNDS : Math.min(ROUNDS, engineCase.writeRuns ?? ROUNDS)
    const rounds = (run: (round: number) => Promise<void>, share = 1) => async () => {
      for (let round = 0; round < repetitions * share; round++) await run(round)
    }

    describe.each([
      ['slug', 'the tenant column'],
      ['code', 'no tenant column'],
    ])('at the same time, with a key in a constraint with %s (%s)', (on) => {
      it('make one row, and exactly one of the responses is a 201', rounds(async (round) => {
        const key = { [on]: `k${round}` }
        const answers = await together(round, () => ['a', 'b'].map(title => upsert(on, { ...key, title })))
        expect(answers.map(status).sort()).toEqual([200, 201])
        expect(await count(`entries where ${on} = 'k${round}'`)).toBe(1)
      }), 600_000)

      it('make one row per key in bulk, whatever the order of the items', rounds(async (round) => {
        const items = ['x', 'y'].map(name => ({ [on]: `${name}${round}`, title: name }))
        const own = (writer: string) => ({ [on]: `${writer}${round}`, title: writer })
        const answers = await together(round, () =>
          [upsertAll(on, [...items, own('a')]), upsertAll(on, [own('b'), ...items.toReversed()])])
        expect(answers.map(status)).toEqual([200, 200])
        const sum = (name: 'created' | 'updated') => answers.map(({ body }) => body.meta[name]).reduce((a, b) => a + b)
        expect([sum('created'), sum('updated')]).toEqual([4, 2])
        expect(await count(`entries where ${on} in ('x${round}', 'y${round}')`)).toBe(2)
      }, isFull ? 0.2 : 1), 600_000)
    })

    it('beside a delete update the record before it, or create it after it', rounds(async (round) => {
      const created = await upsert('slug', { slug: `k${round}`, title: 'first' })
      const [upserted, deleted] = await together(round, () => [
        upsert('slug', { slug: `k${round}`, title: 'second' }), send('DELETE', `entries/${created.body.id}`),
      ])
      expect(status(deleted!)).toBe(200)
      expect([200, 201]).toContain(status(upserted!))
      expect(await count(`entries where slug = 'k${round}'`)).toBe(upserted!.status - 200)
    }, isFull ? 0.2 : 1), 600_000)

    it('beside a move to the trash update the record before it, or are a conflict after it, as a create is', rounds(async (round) => {
      const created = await upsert('name', { name: `k${round}`, title: 'first' }, 'names')
      const [upserted, deleted] = await together(round, () => [
        upsert('name', { name: `k${round}`, title: 'second' }, 'names'), send('DELETE', `names/${created.body.id}`),
      ])
      expect(status(deleted!)).toBe(200)
      expect([200, 409]).toContain(upserted!.status)
      expect(await count('names where title = \'second\'')).toBe(upserted!.status === 200 ? 1 : 0)
      await opened.exec('delete from names')
    }, isFull ? 0.2 : 1), 600_000)

    it.each<[string, string, object]>([
      ['text', 'code', { code: 'Ä ß 😀' }],
      ['a text and the tenant', 'slug', { slug: '' }],
      ['an integer', 'number', { number: -7 }],
      ['a large integer', 'big', { big: '9007199254740993' }],
      ['a time in string mode', 'moment', { moment: '2026-03-01T12:30:45.678Z' }],
      ['a day in string mode', 'date', { date: '2026-02-28' }],
      ['a time and a boolean', 'day,isOpen', { day: '2026-03-01T12:30:45.678Z', isOpen: false }],
      ['a boolean and a time', 'isOpen,day', { day: '1969-12-31T23:59:59.999Z', isOpen: true }],
    ])('find a record by %s', async (_, on, key) => {
      const answers = [
        await upsert(on, { ...key, title: 'a' }), await upsert(on, { ...key, title: 'b' }), await upsertAll(on, [{ ...key, title: 'c' }]),
      ]
      expect(answers.map(status)).toEqual([201, 200, 200])
      expect([answers[1]!.body.id, answers[2]!.body.data[0]]).toEqual([answers[0]!.body.id, { ...answers[0]!.body, title: 'c' }])
      expect(await count('entries')).toBe(1)
    })

    it('find 100 records by a key of two columns at once', async () => {
      const items = Array.from({ length: 100 }, (_, index) =>
        ({ day: new Date(index * 60_000).toISOString(), isOpen: index % 2 === 0, title: `${index}` }))
      const answers = [await upsertAll('day,isOpen', items.slice(0, 60)), await upsertAll('isOpen,day', items)]
      expect(answers.map(({ body }) => [body.meta.created, body.meta.updated])).toEqual([[60, 0], [40, 60]])
      expect(answers[1]!.body.data.map(({ title }: { title: string }) => title)).toEqual(items.map(({ title }) => title))
    })

    it('create a record for each key with NULL', async () => {
      for (const key of [{ isOpen: true }, { day: null, isOpen: true }])
        expect(status(await upsert('day,isOpen', { ...key, title: 'x' }))).toBe(201)
      expect(await count('entries')).toBe(2)
    })

    it('answer for a record in the trash what a create answers', async () => {
      const { body: { id } } = await send('POST', 'names', { name: 'gone', title: 'x' })
      await send('DELETE', `names/${id}`)
      const body = { name: 'gone', title: 'y' }
      const answers = [await send('POST', 'names', body), await upsert('name', body, 'names')]
      const [created, upserted] = answers.map(({ status, body: { message, data } }) => ({ status, message, data }))
      expect(created!.status).toBe(409)
      expect(upserted).toEqual(created)
      expect(await count('names where title = \'x\'')).toBe(1)
    })

    if (hasPartialIndex(dialect)) {
      it('create the record if the constraint does not concern the record in the trash', async () => {
        const { body: { id } } = await send('POST', 'names', { handle: 'ada', title: 'old' })
        await send('DELETE', `names/${id}`)
        const answers = [
          await upsert('handle', { handle: 'ada', title: 'new' }, 'names'), await upsert('handle', { handle: 'ada', title: 'newer' }, 'names'),
        ]
        expect(answers.map(status)).toEqual([201, 200])
        expect(await count('names where title = \'old\'')).toBe(1)
      })
    }
  })
})
