/**
 * An upgrade without downtime: an earlier version and this one serve one database at once. What one has written, the other reads and
 * changes; cursors and ETags of one are valid for the other; and the OpenAPI document loses nothing.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { byTier } from '../support/tiers'
import { createFolder, installPackedPackage, packEarlier, run, startBuiltApp, type RunningServer } from './tarball'

/** No version is released yet. This commit is from the week before. Once there are releases, it is the tag of the last one. */
const EARLIER = '09c6427c'
const SECONDS = byTier({ push: 5, full: 20, release: 60 })

interface Answer { readonly status: number, readonly etag: string | null, readonly body: Body }
interface Body { readonly id: number, readonly title: string, readonly copies: number, readonly data: readonly Body[], readonly meta: Meta }
interface Meta { readonly nextCursor: string | null }
type Ask = (path: string, init?: { method?: string, body?: object, match?: string }) => Promise<Answer>

const folder = createFolder()
const servers: RunningServer[] = []
/** The earlier version, and this one. */
let versions: [Ask, Ask]
const count = { writes: 0, reads: 0, conflicts: 0 }

const askOf = (url: string): Ask => async (path, { method = 'GET', body, match } = {}) => {
  const headers = { 'x-user': 'ada', ...body && { 'content-type': 'application/json' }, ...match !== undefined && { 'if-match': match } }
  const response = await fetch(`${url}/api${path}`, { method, headers, ...body && { body: JSON.stringify(body) } })
  const text = await response.text()
  return { status: response.status, etag: response.headers.get('etag'), body: (text === '' ? undefined : JSON.parse(text)) as Body }
}

beforeAll(async () => {
  const env = { DATABASE_FILE: join(folder, 'books.sqlite'), NUXT_AUTO_API_SECRET: 'a secret that both versions have, of 32 bytes' }
  for (const tarball of [await packEarlier(EARLIER), undefined]) {
    const app = join(folder, tarball === undefined ? 'now' : 'earlier')
    mkdirSync(app)
    await installPackedPackage(app, { files: 'upgrade', ...tarball !== undefined && { tarball } })
    run(app, 'nuxi', 'build')
    servers.push(await startBuiltApp(app, env))
  }
  versions = servers.map(({ url }) => askOf(url)) as [Ask, Ask]
})

afterAll(async () => {
  await Promise.all(servers.map(server => server.stop()))
  rmSync(folder, { recursive: true, force: true })
})

describe('two versions on one database', () => {
  it('read and change what the other has written, under load', { timeout: 120_000 }, async () => {
    const until = Date.now() + SECONDS * 1000
    await Promise.all([0, 1, 2, 3].map(async (client) => {
      for (let turn = client; Date.now() < until; turn++) await exchange(versions[turn % 2]!, versions[1 - turn % 2]!, `book ${client}-${turn}`)
    }))
    console.info(`two versions on one database: ${JSON.stringify(count)}`)
    expect(Math.min(count.writes, count.reads, count.conflicts)).toBeGreaterThan(SECONDS)
    // Every write that was acknowledged is there, for both.
    const [before, now] = await Promise.all(versions.map(ask => ask('/books/aggregate?count=true')))
    expect(before!.status).toBe(200)
    expect(now!.body).toEqual(before!.body)
  })

  it('continue the pages of the other', async () => {
    for (const [first, second] of [versions, [...versions].reverse() as [Ask, Ask]]) {
      const ids: number[] = []
      const all = (await first('/books?limit=100&sort=-title,id')).body.data.map(({ id }) => id)
      let cursor: string | null = ''
      for (let page = 0; cursor !== null && ids.length < all.length; page++) {
        const { status, body } = await [first, second][page % 2]!(`/books?limit=7&sort=-title,id&cursor=${encodeURIComponent(cursor)}`)
        expect([page, status, body]).toEqual([page, 200, expect.objectContaining({ data: expect.anything() })])
        ids.push(...body.data.map(({ id }) => id))
        cursor = body.meta.nextCursor
      }
      expect(ids.slice(0, all.length)).toEqual(all)
    }
  })

  it('have OpenAPI documents that lose nothing', async () => {
    const [before, now] = await Promise.all(servers.map(async ({ url }) => outline(await (await fetch(`${url}/api/_openapi.json`)).json())))
    const [lost, added] = [[...before!].filter(line => !now!.has(line)), [...now!].filter(line => !before!.has(line))]
    console.info(`OpenAPI: ${before!.size} parts before, ${lost.length} lost, ${added.length} added, such as ${added.slice(0, 5).join(', ')}`)
    expect(before!.size).toBeGreaterThan(100)
    // A part that a version removes on purpose is named in the changelog, and left out here.
    expect(lost).toEqual([])
  })
})

/** One version writes, the other reads, changes and deletes. */
async function exchange(first: Ask, second: Ask, title: string): Promise<void> {
  const created = await first('/books', { method: 'POST', body: { title, copies: 1 } })
  expect([created.status, created.body]).toEqual([201, expect.objectContaining({ title, copies: 1 })])
  const path = `/books/${created.body.id}`
  const read = await second(path)
  expect([read.status, read.body]).toEqual([200, created.body])
  const [mine, theirs] = await Promise.all([first, second].map((ask, index) =>
    ask(path, { method: 'PATCH', body: { copies: 2 + index }, match: read.etag! })))
  // One of both has changed the record that the other one has read.
  expect([mine!.status, theirs!.status].sort()).toEqual([200, 412])
  const changed = await first(path)
  expect(changed.body.copies).toBe(mine!.status === 200 ? 2 : 3)
  const review = await second('/reviews', { method: 'POST', body: { bookId: created.body.id, text: 'Good.' } })
  expect(review.status).toBe(201)
  const found = await first(`/reviews?filter[bookId]=${created.body.id}`)
  expect(found.body.data).toEqual([review.body])
  expect((await second('/books', { method: 'POST', body: { title: 7 } })).status).toBe(400)
  const gone = await first('/books', { method: 'POST', body: { title: `${title}, withdrawn` } })
  expect((await second(`/books/${gone.body.id}`, { method: 'DELETE' })).status).toBe(200)
  expect((await first(`/books/${gone.body.id}`)).status).toBe(404)
  count.writes += 5
  count.reads += 4
  count.conflicts++
}

/** Returns the paths, operations, parameters, responses and properties of a document, a line each. */
function outline(document: unknown): Set<string> {
  const lines = new Set<string>()
  const look = (value: unknown, path: string): void => {
    if (Array.isArray(value)) value.forEach(one => look(one, `${path}[${nameOf(one)}]`))
    else if (typeof value === 'object' && value !== null) for (const [name, part] of Object.entries(value)) look(part, `${path}.${name}`)
    else if (!/\.(?:description|summary|example|version|operationId)$/.test(path)) lines.add(`${path} = ${String(value)}`)
  }
  look(document, '')
  return lines
}

const nameOf = (part: unknown) => (part as { name?: string, $ref?: string } | null)?.name ?? (part as { $ref?: string } | null)?.$ref ?? ''
