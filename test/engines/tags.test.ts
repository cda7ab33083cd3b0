/** On every engine a tag covers every column type, and of two writes with the same tag exactly one succeeds. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createServer, type Answered, type Caller, type TestServer } from '../support/server'
import { tableText, WORLDS } from './fuzz/tables'
import { openBlog, type Blog } from './support/blog'
import { ENGINE_CASES, isAvailable, sampleFor, type Opened } from './support/databases'
import { reset, WRITER } from './support/scene'
import { byTier } from '../support/tiers'

const RACES = byTier({ push: 50, full: 200, release: 1000 })
const UUIDS = ['11111111-1111-4111-8111-111111111111', 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa']
const CALLER: Caller = { user: { id: 1 } }
const told = ({ status, body }: Answered) => status < 400 ? String(status) : `${status} ${body.data.code}`

describe.each(ENGINE_CASES)('$name', (engineCase) => {
  const { dialect, engine, open } = engineCase

  describe.skipIf(!isAvailable(engineCase))('the tag of a record with every column type', () => {
    const { things, samples, before } = WORLDS[dialect]()
    const columns = Object.entries(samples)
    /** Every column with each of its values. */
    const changes = sampleFor(
      engineCase,
      columns.flatMap(([name, values]) => [...values, ...(name === 'title' ? [] : [null])].map(value => [name, value] as const)),
    )
    let opened: Opened
    let server: TestServer
    let duringUpdate: (() => Promise<unknown>) | undefined

    beforeAll(async () => {
      opened = await open()
      for (const text of [before, tableText(dialect, things)]) if (text) await opened.exec(text)
      const beforeUpdate = async () => {
        const run = duringUpdate
        duringUpdate = undefined
        await run?.()
      }
      server = await createServer({
        db: opened.db, engine,
        registrations: [{
          name: 'things', schema: things, hiddenFields: ['secret'], hooks: { beforeUpdate },
          authorization: { permissions: { read: true, create: true, update: true }, fields: { deletionId: { read: 'chief' } } as never },
        }],
      })
      const first = Object.fromEntries(columns.map(([name, values]) => [name, values[0]]))
      for (const row of [first, { title: 'empty' }]) expect(told(await send('POST', 'things', { ...row, organizationId: 1 }))).toBe('201')
    })
    afterAll(() => opened?.close())

    const send = (method: string, path: string, body?: unknown, ifMatch?: string) =>
      server.request(method, `/api/${path}`, { body, caller: CALLER, headers: ifMatch === undefined ? {} : { 'if-match': ifMatch } })
    const tagOf = ({ headers }: Answered) => headers.get('etag')!

    it('is the same in a get, a HEAD and the response of a write, and changes exactly with the record', async () => {
      const tags = new Map<string, string>()
      for (const [name, value] of changes) {
        const read = await send('GET', 'things/1')
        const written = await send('PATCH', 'things/1', { [name]: value }, tagOf(read))
        expect([name, value, told(written)]).toEqual([name, value, '200'])
        const after = await send('GET', 'things/1')
        expect([name, value, tagOf(written), tagOf(await send('HEAD', 'things/1'))]).toEqual([name, value, tagOf(after), tagOf(after)])
        expect(after.text).toBe(written.text)
        expect([name, value, tagOf(after) === tagOf(read)]).toEqual([name, value, after.text === read.text])
        expect(tags.get(after.text) ?? tagOf(after)).toBe(tagOf(after))
        tags.set(after.text, tagOf(after))
      }
      expect(new Set(tags.values()).size).toBe(tags.size)
    }, 120_000)

    it('is accepted again as long as nothing changes', async () => {
      const all = Object.fromEntries(columns.map(([name, values]) => [name, values.at(-1)]))
      expect(told(await send('PATCH', 'things/1', all))).toBe('200')
      for (const id of [1, 2]) {
        const tag = tagOf(await send('GET', `things/${id}`))
        for (let attempt = 0; attempt < 2; attempt++) expect(told(await send('PATCH', `things/${id}`, {}, tag))).toBe('200')
        expect(tagOf(await send('GET', `things/${id}`))).toBe(tag)
      }
    })

    it('does not change with columns that the caller cannot read', async () => {
      const tag = tagOf(await send('GET', 'things/1'))
      await opened.exec(`update things set secret = 'changed', deletion_id = '${UUIDS[0]}' where id = 1`)
      expect(tagOf(await send('GET', 'things/1'))).toBe(tag)
      duringUpdate = () => opened.exec(`update things set secret = 'again', deletion_id = '${UUIDS[1]}' where id = 1`)
      expect(told(await send('PATCH', 'things/1', {}, tag))).toBe('200')
    })

    it('does not match any more if one column changes after the check and before the write', async () => {
      let lost = 0
      for (const [name, value] of changes) {
        for (const from of [samples[name]![0], null].filter(from => from !== null || name !== 'title')) {
          await send('PATCH', 'things/1', { [name]: from })
          const [read, title] = [await send('GET', 'things/1'), `${lost} of ${name}`]
          let changed: Answered | undefined
          duringUpdate = async () => void (changed = await send('PATCH', 'things/1', { [name]: value }))
          const status = told(await send('PATCH', 'things/1', { title }, tagOf(read)))
          if (changed!.text === read.text) continue
          expect([name, value, status]).toEqual([name, value, '412 PRECONDITION_FAILED'])
          expect((await send('GET', 'things/1')).text).toBe(changed!.text)
          lost++
        }
      }
      expect(lost).toBeGreaterThan(changes.length / 2)
    }, 120_000)
  })

  describe.skipIf(!isAvailable(engineCase))('writes with the same tag', () => {
    let blog: Blog
    let wait: () => Promise<void>

    beforeAll(async () => {
      blog = await openBlog(engineCase, {
        hooks: {
          posts: { beforeUpdate: () => wait(), beforeDelete: () => wait(), beforePurge: () => wait(), beforeRestore: () => wait() },
        },
      })
    })
    beforeEach(() => reset(blog, dialect))
    afterAll(() => blog?.opened.close())

    const send = (method: string, path: string, body?: unknown, ifMatch?: string) =>
      blog.request(method, `/api/${path}`, { body, caller: WRITER, headers: ifMatch === undefined ? {} : { 'if-match': ifMatch } })
    const tagOf = async (path: string) => (await send('GET', path)).headers.get('etag')!

    /** In every second race both requests have compared the tag before one of them writes. */
    function startRace(race: number, hooks = 2) {
      let arrived = 0
      let release = () => {}
      const all = new Promise<void>((resolve) => {
        release = resolve
      })
      wait = race % 2 === 0
        ? async () => {}
        : async () => {
          if (++arrived >= hooks) release()
          await Promise.race([all, new Promise(resolve => setTimeout(resolve, 100))])
        }
    }

    it(`let exactly one of two updates succeed, ${RACES} times`, async () => {
      for (let race = 0; race < RACES; race++) {
        startRace(race)
        const tag = await tagOf('posts/1')
        const both = await Promise.all(['a', 'b'].map(name => send('PATCH', 'posts/1', { title: `${name} ${race}` }, tag)))
        expect(both.map(told).sort()).toEqual(['200', '412 PRECONDITION_FAILED'])
        const { body, headers } = both.find(({ status }) => status === 200)!
        const current = await send('GET', 'posts/1')
        expect([current.body.title, current.headers.get('etag')]).toEqual([body.title, headers.get('etag')])
      }
    }, 600_000)

    it(`let exactly one of an update and a delete succeed, ${RACES / 5} times`, async () => {
      for (let race = 0; race < RACES / 5; race++) {
        startRace(race)
        await reset(blog, dialect)
        const tag = await tagOf('posts/1')
        const force = race % 4 < 2 ? '' : '?force=true'
        const [update, removal] = await Promise.all([
          send('PATCH', 'posts/1', { title: `new ${race}` }, tag),
          send('DELETE', `posts/1${force}`, undefined, tag),
        ])
        expect([['200', '412 PRECONDITION_FAILED'], ['404 NOT_FOUND', '200']]).toContainEqual([update, removal].map(told))
      }
    }, 600_000)

    it(`let exactly one of two batches succeed, ${RACES / 5} times`, async () => {
      for (let race = 0; race < RACES / 5; race++) {
        startRace(race, 4)
        const tags = [await tagOf('posts/1'), await tagOf('posts/2')]
        const both = await Promise.all(
          ['a', 'b'].map(name =>
            send('PATCH', 'posts/bulk', {
              items: [1, 2].map(id => ({ id, data: { title: `${name} ${id} ${race}` }, ifMatch: tags[id - 1] })),
            }),
          ),
        )
        expect(both.map(told).sort()).toEqual(['200', '412 BULK_FAILED'])
        const titles = [await send('GET', 'posts/1'), await send('GET', 'posts/2')].map(({ body }) => body.title[0])
        expect(titles[0]).toBe(titles[1])
      }
    }, 600_000)

    it('let exactly one of two restores, and of two purges, succeed', async () => {
      startRace(0)
      for (const [method, path, read] of [
        ['POST', 'posts/4/restore', 'posts/4?onlyDeleted=true'],
        ['DELETE', 'posts/2?force=true', 'posts/2'],
      ] as const) {
        const tag = await tagOf(read)
        const both = await Promise.all([1, 2].map(() => send(method, path, undefined, tag)))
        expect([
          ['200', '404 NOT_FOUND'],
          ['200', '412 PRECONDITION_FAILED'],
        ]).toContainEqual(both.map(told).sort())
      }
    })
  })
})
