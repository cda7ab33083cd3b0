/** Browsers whose server is killed and started again, many times: each tab shows exactly what the database has. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { isReachable, CHROMIUM } from '../support/services'
import { byTier } from '../support/tiers'
import { launch, load } from './newsroom/browser'
import { ADMIN } from './newsroom/callers'
import { countOpen, openBrowser, openTab, type Tab } from './newsroom/live'
import { startNewsroom, type LocalNewsroom } from './newsroom/server'

/** One takes about five seconds. */
const RUNS = Number(process.env.RUNS ?? byTier({ push: 2, full: 50, release: 50 }))

const folder = mkdtempSync(join(tmpdir(), 'live-restarts-'))
const file = join(folder, 'live.sqlite')
const SHOWN = 'organization_id = 1 and deleted_at is null'
let newsroom: LocalNewsroom
let browser: Browser
let database: Database.Database

/** A change of one of the first posts of the desk. */
interface Change {
  readonly kind: 'rename' | 'publish' | 'delete' | 'create'
  readonly at: number
}

const change = fc.record<Change>({ kind: fc.constantFrom('rename', 'rename', 'publish', 'delete', 'create'), at: fc.nat({ max: 9 }) })
const changes = fc.array(change, { maxLength: 6 })

const scenario = fc.record({
  signal: fc.constantFrom('SIGKILL', 'SIGKILL', 'SIGTERM'),
  /** Sent one after another, again and again until the server has ended. */
  before: fc.array(change, { minLength: 1, maxLength: 6 }),
  /** Written while there is no server. */
  without: changes,
  /** Sent at once, when there is a server again. */
  after: changes,
  /** Milliseconds from the first change to the end, and from the start of the next server to its first change. */
  untilEnd: fc.nat({ max: 300 }),
  untilNext: fc.nat({ max: 3_000 }),
})

let count = 0
const idAt = (at: number) => newsroom.rows<{ id: number }>(
  `select id from posts where ${SHOWN} order by created_at desc, id desc limit 1 offset ?`, at,
)[0]!.id

/** Changes a post through the API, unless the server ends meanwhile. */
async function send({ kind, at }: Change): Promise<void> {
  const title = `Sent ${++count}`
  const path = kind === 'create' ? '/api/posts' : `/api/posts/${idAt(at)}`
  const [method, body] = {
    rename: ['PATCH', { title }],
    publish: ['PATCH', { status: 'published', title }],
    delete: ['DELETE', undefined],
    create: ['POST', { title, slug: `sent-${count}`, body: 'Sent.' }],
  }[kind] as [string, object | undefined]
  const response = await newsroom.request(path, { method, body, as: ADMIN }).catch(() => undefined)
  if (response) expect([200, 201, 404, 503]).toContain(response.status)
}

/** Changes a post without the API: nobody reports it. */
function write({ kind, at }: Change): void {
  const title = `Written ${++count}`
  const id = idAt(at)
  if (kind === 'rename') database.prepare('update posts set title = ? where id = ?').run(title, id)
  else if (kind === 'publish') database.prepare('update posts set title = ?, status = \'published\' where id = ?').run(title, id)
  else if (kind === 'delete') database.prepare('update posts set deleted_at = ? where id = ?').run(Date.now(), id)
  else {
    database.prepare(
      `insert into posts (organization_id, title, slug, body, status, featured, views, created_at, updated_at)
        select 1, ?, ?, body, 'draft', 0, 0, max(created_at) over () + 1, updated_at from posts where id = ?`,
    ).run(title, `written-${count}`, id)
  }
}

/** Sends changes until the server has ended, so that it always ends within one. */
async function sendUntilEnd(all: readonly Change[], hasEnded: () => boolean): Promise<void> {
  for (let at = 0; !hasEnded(); at++) await send(all[at % all.length]!)
}

/** The lines of the desk and the numbers above it. */
const shownBy = ({ page }: Tab) => page.evaluate(() => ({
  lines: [...document.querySelectorAll('.lines > li')].map((line) => {
    const id = /#(\d+)/.exec(line.querySelector('small')!.textContent!)![1]
    return [Number(id), line.querySelector('strong')!.textContent, line.querySelector<HTMLElement>('[data-status]')!.dataset.status]
  }),
  counts: [...document.querySelectorAll<HTMLElement>('dl > [data-status]')]
    .map(figure => `${figure.querySelector('dd')!.textContent!.trim()} ${figure.dataset.status}, ${figure.querySelector<HTMLElement>('[title]')!.title}`).sort(),
}))

/** What the tab has to show, with as many pages as it has loaded. */
function stored(lines: number) {
  const rows = newsroom.rows<{ id: number, title: string, status: string }>(
    `select id, title, status from posts where ${SHOWN} order by created_at desc, id desc limit ?`, Math.max(1, Math.ceil(lines / 20)) * 20,
  )
  const counts = newsroom.rows<{ status: string, posts: number, views: number }>(
    `select status, count(*) posts, sum(views) views from posts where ${SHOWN} group by status`,
  )
  return {
    lines: rows.map(({ id, title, status }) => [id, title, status]),
    counts: counts.map(({ status, posts, views }) => `${posts} ${status}, ${views.toLocaleString('en')} views`).sort(),
  }
}

const assertShown = async (tabs: readonly Tab[]) => {
  for (const tab of tabs) {
    const shown = await shownBy(tab)
    expect(shown).toEqual(stored(shown.lines.length))
  }
}

describe.runIf(await isReachable(CHROMIUM))('a server that is killed and started again', () => {
  beforeAll(async () => {
    newsroom = await startNewsroom(file)
    database = new Database(file)
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    database?.close()
    await newsroom?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it(`is followed by each tab, which shows exactly what the database has: ${RUNS} runs`, async () => {
    const contexts = [await openBrowser(browser, newsroom), await openBrowser(browser, newsroom)] as const
    const own = [
      [await openTab(contexts[0], newsroom), await openTab(contexts[0], newsroom)],
      [await openTab(contexts[1], newsroom)],
    ] as const
    const tabs = own.flat()
    const times: number[] = []
    let runs = 0
    await fc.assert(fc.asyncProperty(scenario, async ({ signal, before, without, after, untilEnd, untilNext }) => {
      // A client waits longer after each failure, and forgets them only after half a minute with a stream.
      if (runs++ % 3 === 0) {
        await Promise.all(tabs.map(({ page }) => load(page, `${newsroom.url}/desk`)))
        await vi.waitFor(() => expect(own.map(countOpen)).toEqual([1, 1]), { timeout: 10_000 })
      }
      let hasEnded = false
      const sent = sendUntilEnd(before, () => hasEnded)
      await wait(untilEnd)
      await newsroom.restart(async () => {
        hasEnded = true
        await sent
        without.forEach(write)
      }, signal)
      const began = performance.now()
      await wait(untilNext)
      await Promise.all(after.map(send))
      await vi.waitFor(() => assertShown(tabs), { timeout: 60_000, interval: 50 })
      times.push(performance.now() - began)
      // No response that is still under way undoes it.
      await wait(300)
      await assertShown(tabs)
      expect(tabs.flatMap(({ errors }) => errors)).toEqual([])
    }), { numRuns: RUNS, endOnFailure: true, interruptAfterTimeLimit: RUNS * 60_000 })
    await vi.waitFor(() => expect(own.map(countOpen)).toEqual([1, 1]), { timeout: 60_000 })
    times.sort((a, b) => a - b)
    const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(1)
    const [median, most] = [times[times.length >> 1]!, times.at(-1)!].map(seconds)
    console.log(`${RUNS} restarts, ${count} changes: all tabs were right ${median} s after the start, at most ${most} s`)
  }, 60_000 + RUNS * 70_000)
})
