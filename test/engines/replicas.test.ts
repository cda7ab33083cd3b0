/** Read replicas: a server of Postgres or MariaDB and its replica, which the tests hold back, cut off and bring back. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMarker } from '../../src/runtime/server/core/replicas/marker'
import { hasMariadbReplica, openMariadb } from './support/mariadb-replica'
import { hasReplica, openReplicated, type Replicated } from './support/replica'
import {
  createBrowser,
  createScript,
  MARIADB_POSTS_SQL,
  OURS,
  POSTS_SQL,
  SECRET,
  startServer,
  THEIRS,
  type Client,
} from './support/replicated-posts'

/** Milliseconds for which the test waits for the file of the other version of Drizzle. */
const TURN = 240_000

const SERVERS = [
  { name: 'Postgres', isAvailable: hasReplica, open: () => openReplicated(POSTS_SQL) },
  { name: 'MariaDB', isAvailable: hasMariadbReplica, open: () => openMariadb(MARIADB_POSTS_SQL) },
]

describe.each(SERVERS)('$name', ({ isAvailable, open }) => {
  describe.skipIf(!isAvailable)('read replicas', () => {
    let opened: Replicated
    let warn: ReturnType<typeof vi.spyOn>, info: ReturnType<typeof vi.spyOn>, error: ReturnType<typeof vi.spyOn>

    beforeAll(async () => {
      opened = await open()
    }, TURN)
    afterAll(() => opened?.close())

    beforeEach(async () => {
      warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
      info = vi.spyOn(console, 'info').mockImplementation(() => {})
      error = vi.spyOn(console, 'error').mockImplementation(() => {})
      await opened.catchUp()
      opened.everything()
    })
    afterEach(async () => {
      await opened.resume()
      await opened.link.start()
      await opened.catchUp()
      vi.restoreAllMocks()
      vi.useRealTimers()
    })

    /** Which server has answered. */
    const source = async ({ send }: Client, path = '/seen?limit=1') => {
      const { body } = await send('GET', path)
      return body.data[0].fromReplica ? 'replica' : 'primary'
    }
    /** A server that has already compared the replica with the primary. */
    const startUsed = async (...args: Parameters<typeof startServer>) => {
      const server = await startServer(...args)
      await expect.poll(() => source(createScript(server)), { timeout: 10_000 }).toBe('replica')
      opened.everything()
      return server
    }
    const logged = (spy: typeof warn) => spy.mock.calls.map(([message]: unknown[]) => String(message))

    describe.each([
      ['one replica', () => opened, {}],
      ['another driver', () => opened.other, {}],
      ['two replicas', () => ({ primary: opened.primary, replica: [opened.replica, opened.other.replica] }), {}],
      ['withReplicas() of Drizzle', () => ({ primary: opened.withReplicas(), replica: undefined! }), {}],
    ])('%s', (_, databases) => {
      it.each([
        '/posts',
        '/posts/1',
        '/posts?filter={"comments":{"body":"a comment"}}',
        '/posts?include=comments',
        '/posts/1/relations/comments',
        '/posts/aggregate?aggregate=count',
        '/posts?groupBy=title&aggregate=count',
        '/posts?total=true',
        '/comments?include=post',
      ])('GET and HEAD of %s read from the replica only', async (path) => {
        const client = createBrowser(await startUsed(databases()))
        const { status, text, headers } = await client.send('GET', path)
        expect([status, text, headers.get('consistency-token'), headers.getSetCookie()]).toEqual([
          200,
          expect.stringMatching(/ours|a comment|1/),
          null,
          [],
        ])
        expect((await client.send('HEAD', path)).status).toBe(200)
        const { primary, replica } = opened.sent()
        expect(primary).toEqual([])
        expect(replica.length).toBeGreaterThanOrEqual(2)
      })

      it('writes, and everything that they read and check, use the primary only', async () => {
        const { send } = createBrowser(await startServer(databases()))
        await send('GET', '/posts')
        opened.sent()
        const { id } = (await send('POST', '/posts', { title: 'new' })).body
        const tag = (await send('PATCH', `/posts/${id}?include=comments`, { title: 'newer' })).headers.get('etag')!
        const statuses = [
          await send('PATCH', `/posts/${id}`, { title: 'newest' }, { 'if-match': tag }),
          await send('POST', '/comments', { postId: id, body: 'a reference' }),
          await send('POST', '/comments', { postId: 2, body: 'a reference to a row of others' }),
          await send('DELETE', `/posts/2`),
          await send('POST', '/posts/bulk', { items: [{ title: 'one' }, { title: 'two' }] }),
          await send('DELETE', `/posts/${id}`),
          await send('DELETE', `/posts/${id}?dryRun=true`),
        ].map(({ status }) => status)
        expect(statuses).toEqual([200, 201, 400, 404, 200, 409, 409])
        const { primary, replica } = opened.sent()
        expect(primary.length).toBeGreaterThan(10)
        expect(replica).toEqual([])
        await opened.exec('delete from comments where id > 1; delete from posts where id > 2')
      })
    })

    describe('a caller', () => {
      it.each([
        ['with cookies', createBrowser],
        ['with the header', createScript],
      ])('%s reads what they have written, although the replica does not have it', async (_, create) => {
        const server = await startUsed(opened)
        const [writer, other] = [create(server), create(server)]
        expect([await source(writer), await source(other)]).toEqual(['replica', 'replica'])
        await opened.pause()
        const { id } = (await writer.send('POST', '/posts', { title: 'new' })).body
        expect((await writer.send('GET', `/seen/${id}`)).body).toMatchObject({ title: 'new', fromReplica: false })
        expect((await writer.send('GET', '/posts?sort=-id&limit=1')).body.data).toMatchObject([{ title: 'new' }])
        await writer.send('PATCH', `/posts/${id}`, { title: 'newer' })
        expect((await writer.send('GET', `/posts/${id}`)).body.title).toBe('newer')
        // The replica is not too far behind for everybody else.
        expect([(await other.send('GET', `/posts/${id}`)).status, await source(other)]).toEqual([404, 'replica'])
        await opened.resume()
        await opened.catchUp()
        await expect
          .poll(async () => (await writer.send('GET', `/seen/${id}`)).body, { timeout: 10_000 })
          .toMatchObject({ title: 'newer', fromReplica: true })
        await writer.send('DELETE', `/posts/${id}`)
      })

      it('reads their writes on another server with the same secret', async () => {
        const [one, two] = [await startUsed(opened), await startUsed(opened)]
        const browser = createBrowser(one)
        await opened.pause()
        const { id } = (await browser.send('POST', '/posts', { title: 'elsewhere' })).body
        const headers = { 'consistency-token': browser.token()! }
        expect((await createScript(two).send('GET', `/posts/${id}`, undefined, headers)).status).toBe(200)
        expect((await createScript(two).send('GET', `/posts/${id}`)).status).toBe(404)
        await browser.send('DELETE', `/posts/${id}`)
      })

      it('reads what the write of another caller has changed, after a write that failed because of it', async () => {
        const server = await startUsed(opened)
        const [first, second] = [createBrowser(server), createBrowser(server)]
        const tag = (await second.send('GET', '/posts/1')).headers.get('etag')!
        await opened.pause()
        await first.send('PATCH', '/posts/1', { version: 1 })
        expect((await second.send('GET', '/posts/1')).headers.get('etag')).toBe(tag)
        expect((await second.send('PATCH', '/posts/1', { version: 2 }, { 'if-match': tag })).status).toBe(412)
        const fresh = await second.send('GET', '/posts/1')
        expect(fresh.body.version).toBe(1)
        expect((await second.send('PATCH', '/posts/1', { version: 2 }, { 'if-match': fresh.headers.get('etag')! })).status).toBe(200)
        await first.send('PATCH', '/posts/1', { version: 0 })
      })

      it('gets a cookie that scripts of a page cannot read, for the time in which it has an effect', async () => {
        const server = await startServer(opened, { maxLag: 45_000 })
        const write = (headers: Record<string, string>) => createScript(server).send('PATCH', '/posts/1', { version: 0 }, headers)
        const [cookie] = (await write({})).headers.getSetCookie()
        expect(cookie).toMatch(/^auto-api-consistency=[\w-]{123}; Path=\/; Max-Age=90; HttpOnly; SameSite=Lax$/)
        expect((await write({ 'origin': 'https://localhost', 'sec-fetch-site': 'same-origin' })).headers.getSetCookie()[0]).toMatch(
          /; Secure$/,
        )
        expect((await createScript(server).send('PATCH', '/posts/1?dryRun=true', { version: 0 })).headers.getSetCookie()).toEqual([])
        expect((await createScript(server).send('PATCH', '/posts/1', { unknown: 0 })).headers.getSetCookie()).toEqual([])
      })
    })

    describe('a marker', () => {
      const highest = () => createMarker([SECRET], new Map([[0, 1n << 60n]]), 10_000, false).then(({ token }) => token)
      const answers = async (headers: Record<string, string>) => {
        const { send } = createScript(await startUsed(opened, { maxLag: 10_000 }))
        const { status, body } = await send('GET', '/seen?limit=1', undefined, headers)
        return status === 200 && body.data[0].fromReplica ? 'replica' : 'primary'
      }

      it('has an effect by header and by cookie, also beside other cookies and markers', async () => {
        const token = await highest()
        const old = (await createMarker([SECRET], new Map([[0, 1n]]), 10_000, false)).token
        expect(await answers({ 'consistency-token': token })).toBe('primary')
        expect(await answers({ cookie: `a=b; auto-api-consistency=${token}; c=d` })).toBe('primary')
        expect(await answers({ 'consistency-token': old, 'cookie': `auto-api-consistency=${old}; auto-api-consistency=${token}` })).toBe(
          'primary',
        )
        expect(await answers({ 'consistency-token': old })).toBe('replica')
      })

      it('is ignored if it is forged, foreign, changed, too long or too old', async () => {
        const token = await highest()
        const foreign = (await createMarker(['another secret'], new Map([[0, 1n << 60n]]), 10_000, false)).token
        const flipped = token.slice(0, 60) + (token[60] === 'A' ? 'B' : 'A') + token.slice(61)
        vi.useFakeTimers({ toFake: ['Date'] })
        vi.setSystemTime(Date.now() - 61_000)
        const expired = await highest()
        vi.setSystemTime(Date.now() + 200_000)
        const early = await highest()
        vi.useRealTimers()
        for (const sent of [
          '',
          'x',
          '1000000000000000',
          foreign,
          flipped,
          token + token,
          'A'.repeat(8_000),
          expired,
          early,
          `${token}\u00E9`,
          '-'.repeat(123),
        ]) {
          expect(await answers({ 'consistency-token': sent }), sent).toBe('replica')
          expect(await answers({ cookie: `auto-api-consistency=${encodeURIComponent(sent)}` }), sent).toBe('replica')
        }
        // Only the first ones are decrypted.
        expect(await answers({ cookie: `${`auto-api-consistency=${foreign}; `.repeat(50)}auto-api-consistency=${token}` })).toBe('replica')
      })

      it('does not disclose how much others write', async () => {
        const { send, token } = createScript(await startUsed(opened))
        const tokens: string[] = []
        for (let count = 0; count < 3; count++) {
          await send('PATCH', '/posts/1', { version: 0 })
          tokens.push(token()!)
        }
        expect(new Set(tokens.map(({ length }) => length))).toEqual(new Set([123]))
        // Nothing but the first bytes, which are random, would differ otherwise.
        expect(new Set(tokens.map(text => text.slice(40))).size).toBe(3)
      })

      it('does not let a caller read rows of others', async () => {
        const server = await startUsed(opened)
        const { send, token } = createScript(server)
        await send('PATCH', '/posts/1', { version: 0 })
        const { body } = await createScript(server, THEIRS).send('GET', '/seen', undefined, { 'consistency-token': token()! })
        expect(body.data.map(({ title }: { title: string }) => title)).toEqual(['theirs'])
      })
    })

    describe('an outage', () => {
      it('moves reads to the primary and back, and is logged once', async () => {
        const browser = createBrowser(await startUsed(opened, { maxLag: 4_000 }))
        expect(await source(browser)).toBe('replica')
        await opened.link.stop()
        for (let count = 0; count < 20; count++) {
          expect(await source(browser)).toBe('primary')
          await new Promise(resolve => setTimeout(resolve, 30))
        }
        expect(logged(warn)).toEqual([expect.stringMatching(/^\[auto-api\] Replica 1 does not respond\. .*ECONNREFUSED/s)])
        await opened.link.start()
        await expect.poll(() => source(browser), { timeout: 10_000 }).toBe('replica')
        expect([logged(info), warn.mock.calls.length, error.mock.calls]).toEqual([['[auto-api] Replica 1 is used again.'], 1, []])
      })

      it('during a read is not noticed by the client', async () => {
        const { send } = createBrowser(await startUsed(opened))
        expect((await send('GET', '/slow/1')).body).toMatchObject({ title: 'ours', fromReplica: true })
        const reading = send('GET', '/slow/1')
        await new Promise(resolve => setTimeout(resolve, 400))
        await opened.link.stop()
        expect(await reading).toMatchObject({ status: 200, body: { title: 'ours', fromReplica: false } })
      })

      it('without a closed connection does not hold up reads', async () => {
        const browser = createBrowser(await startUsed(opened, { maxLag: 4_000 }))
        expect(await source(browser)).toBe('replica')
        opened.link.freeze()
        const start = performance.now()
        const reading = [source(browser), source(browser)]
        await new Promise(resolve => setTimeout(resolve, 1_100))
        // The check of a further request notices it.
        reading.push(source(browser))
        expect(await Promise.all(reading)).toEqual(['primary', 'primary', 'primary'])
        expect(performance.now() - start).toBeLessThan(10_000)
        expect(await source(browser)).toBe('primary')
        await opened.link.stop()
      })

      it('of one replica moves reads to the other one', async () => {
        const browser = createBrowser(
          await startUsed({ primary: opened.primary, replica: [opened.replica, opened.other.primary] }, { maxLag: 4_000 }),
        )
        // The second one is no replica.
        for (let count = 0; count < 4; count++) expect(await source(browser)).toBe('replica')
        expect(logged(warn)).toEqual([expect.stringContaining('Replica 2 does not respond. Error: This database is not a replica')])
      })

      it('that leaves the replica too far behind moves reads to the primary, until it has caught up', async () => {
        const browser = createBrowser(await startUsed(opened, { maxLag: 2_000 }))
        expect(await source(browser)).toBe('replica')
        await opened.pause()
        await opened.exec('update posts set version = 5 where id = 1')
        await expect.poll(() => source(browser), { timeout: 10_000 }).toBe('primary')
        await expect
          .poll(() => source(browser).then(() => logged(warn)), { timeout: 10_000 })
          .toEqual(['[auto-api] Replica 1 is more than 2000 ms behind. Reads use the primary until it is back.'])
        expect((await browser.send('GET', '/posts/1')).body.version).toBe(5)
        await opened.resume()
        await expect.poll(() => source(browser), { timeout: 10_000 }).toBe('replica')
        expect(logged(info)).toEqual(['[auto-api] Replica 1 is used again.'])
        await opened.exec('update posts set version = 0 where id = 1')
      })

      // On a busy machine, a check can take longer than a read waits for it.
      it('does not count as one after a long time without reads and writes', { retry: 2 }, async () => {
        const browser = createBrowser(await startUsed(opened, { maxLag: 3_000 }))
        for (let count = 0; count < 2; count++) {
          await new Promise(resolve => setTimeout(resolve, 3_200))
          expect(await source(browser)).toBe('replica')
        }
        // An idle server starts a new file of its log, whose header nothing replays.
        await opened.rotateLog()
        await expect.poll(() => source(browser), { timeout: 10_000 }).toBe('replica')
        expect(logged(warn)).toEqual([])
      })
    })

    it('asks for positions once per second at most, whatever the number of requests', async () => {
      const { send } = createBrowser(await startUsed(opened))
      const start = performance.now()
      for (let count = 0; count < 50; count++) await Promise.all([send('GET', '/posts/1'), send('GET', '/posts')])
      const seconds = Math.ceil((performance.now() - start) / 1000)
      const { primary, replica } = opened.everything()
      expect(primary.length).toBeLessThanOrEqual(seconds)
      expect(replica.filter(opened.isPosition).length).toBeLessThanOrEqual(seconds)
      expect(replica.filter(text => !opened.isPosition(text))).toHaveLength(150)
    })

    it('adds no statement, header or cookie if there is no replica', async () => {
      const run = async (replica: object | undefined) => {
        const { send } = createScript(await startServer({ primary: opened.primary, replica: replica! }), OURS, false)
        opened.everything()
        const { headers } = await send('PATCH', '/posts/1', { version: 0 })
        await send('GET', '/posts')
        return { ...opened.everything(), names: [...headers.keys()] }
      }
      const [without, withReplica] = [await run(undefined), await run(opened.replica)]
      expect(without.primary.filter(opened.isPosition)).toEqual([])
      expect([without.replica, without.names.filter(name => /consistency|cookie/.test(name))]).toEqual([[], []])
      expect(withReplica.names).toEqual(expect.arrayContaining(['consistency-token', 'set-cookie']))
    })

    it('are not used without a secret, which is logged once', async () => {
      const browser = createBrowser(await startServer(opened, {}, { secret: '' }))
      expect([await source(browser), await source(browser)]).toEqual(['primary', 'primary'])
      expect((await browser.send('PATCH', '/posts/1', { version: 0 })).headers.get('consistency-token')).toBeNull()
      expect(logged(error)).toEqual([expect.stringContaining('NUXT_AUTO_API_SECRET')])
    })
  })
})
