/** A caller who loses a right while its stream is open. The clock of this server is fast: it resolves callers again after some seconds. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isReachable, CHROMIUM } from '../support/services'
import { launch } from './newsroom/browser'
import { ADMIN, EDITOR } from './newsroom/callers'
import { firstId, openBrowser, openTab, titles, untilOpen, untilShown } from './newsroom/live'
import { startNewsroom, type LocalNewsroom } from './newsroom/server'

/** How fast the clock of the server is. */
const SPEED = 20
const CLOCK = `const { now } = Date; const start = now(); Date.now = () => Math.floor(start + (now() - start) * ${SPEED})`

const folder = mkdtempSync(join(tmpdir(), 'live-callers-'))
const file = join(folder, 'live.sqlite')
let newsroom: LocalNewsroom
let database: Database.Database
const open: AbortController[] = []

beforeAll(async () => {
  newsroom = await startNewsroom(file, [`--import=data:text/javascript,${encodeURIComponent(CLOCK)}`])
  database = new Database(file)
})
afterEach(() => {
  for (const stream of open.splice(0)) stream.abort()
  database.prepare('update users set active = 1, role = \'editor\' where id = ?').run(EDITOR)
})
afterAll(async () => {
  database?.close()
  await newsroom?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** A post that editors can read, and writers and readers cannot. */
const draft = () => firstOf(`status = 'draft' and author_id <> ${EDITOR} and coalesce(created_by, 0) <> ${EDITOR}`)
const published = () => firstOf('status = \'published\'')
const firstOf = (condition: string) =>
  newsroom.rows<{ id: number }>(`select id from posts where organization_id = 1 and deleted_at is null and ${condition} limit 1`)[0]!.id

async function rename(id: number, title: string): Promise<void> {
  expect((await newsroom.request(`/api/posts/${id}`, { method: 'PATCH', body: { title }, as: ADMIN })).status).toBe(200)
}

async function follow(headers: Record<string, string>) {
  const leave = new AbortController()
  open.push(leave)
  const response = await fetch(`${newsroom.url}/api/_live?resources=posts`, { headers, signal: leave.signal })
  expect(response.status).toBe(200)
  const stream = {
    ended: false,
    text: '',
    events: (): string[] => [...stream.text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, name, data]) => `${name} ${data}`),
  }
  const read = async () => {
    for await (const chunk of response.body! as unknown as AsyncIterable<Uint8Array>) stream.text += Buffer.from(chunk).toString()
    stream.ended = true
  }
  void read().catch(() => {})
  await expect.poll(stream.events).toHaveLength(1)
  return stream
}

async function createToken() {
  const { status, body } = await newsroom.request('/api/apiTokens', {
    method: 'POST', as: EDITOR, body: { name: 'follower', scopes: ['posts:read'] },
  })
  expect(status, JSON.stringify(body)).toBe(201)
  return body as { readonly id: string, readonly token: string }
}

const asSession = async () => ({ cookie: `newsroom-caller=${EDITOR}` })
const signal = (event: string, id: number) => `${event} {"resource":"posts","id":"${id}"}`
const longest = { timeout: 20_000, interval: 50 }

describe('a stream ends, and says nothing more', () => {
  let token: Awaited<ReturnType<typeof createToken>>

  it.each([
    ['the session of its caller ends', asSession, () => database.prepare('update users set active = 0 where id = ?').run(EDITOR)],
    [
      'its API token is revoked',
      async () => {
        token = await createToken()
        return { authorization: `Bearer ${token.token}` }
      },
      () => newsroom.request(`/api/apiTokens/${token.id}`, { method: 'DELETE', as: EDITOR }),
    ],
    [
      'the owner of its API token is no user any more',
      async () => ({ authorization: `Bearer ${(await createToken()).token}` }),
      () => database.prepare('update users set active = 0 where id = ?').run(EDITOR),
    ],
  ])('after %s', async (what, credentials, lose) => {
    const stream = await follow(await credentials())
    await rename(published(), `Before ${what}`)
    await expect.poll(stream.events).toContain(signal('changed', published()))
    await lose()
    const began = performance.now()
    await expect.poll(() => stream.ended, longest).toBe(true)
    console.log(`${what}: the stream ended after ${((performance.now() - began) * SPEED / 1000).toFixed(0)} seconds of the server`)
    const events = stream.events()
    expect(events.at(-1)).toBe('end {"reason":"unauthorized"}')
    await rename(published(), `After ${what}`)
    await wait(300)
    expect(stream.events()).toEqual(events)
  })
})

it('a caller who can read fewer rows is reset, and hears only of these', async () => {
  const stream = await follow(await asSession())
  await rename(draft(), 'For an editor')
  await expect.poll(stream.events).toContain(signal('changed', draft()))
  database.prepare('update users set role = \'reader\' where id = ?').run(EDITOR)
  await expect.poll(stream.events, longest).toContain('reset {}')
  const events = stream.events()
  await rename(draft(), 'Not for a reader')
  await rename(published(), 'For everyone')
  await expect.poll(stream.events).toEqual([...events, signal('changed', published())])
  expect(stream.ended).toBe(false)
})

describe.runIf(await isReachable(CHROMIUM))('a page whose session ends', () => {
  it('closes its stream, opens no other one, and shows nothing of what others write', async () => {
    const browser = await launch()
    try {
      const tab = await openTab(await openBrowser(browser, newsroom), newsroom)
      await untilOpen([tab])
      await rename(firstId(newsroom), 'While signed in')
      await untilShown('While signed in', [tab])
      database.prepare('update users set active = 0 where id = ?').run(EDITOR)
      await expect.poll(() => tab.streams.size, longest).toBe(0)
      const [before, streams] = [tab.lists.length, tab.opened()]
      await rename(firstId(newsroom), 'After the session')
      // Longer than the client waits before it connects again.
      await wait(3_000)
      expect([tab.streams.size, tab.opened(), tab.lists.length]).toEqual([0, streams, before])
      expect(await titles(tab.page)).not.toContain('After the session')
    }
    finally {
      await browser.close()
    }
  })
})
