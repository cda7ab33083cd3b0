/** Live queries of the playground in a browser: tabs that share a stream, hidden tabs, and a server that restarts. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { Browser, BrowserContext, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { isReachable, CHROMIUM } from '../support/services'
import { launch, load } from './newsroom/browser'
import { EDITOR } from './newsroom/callers'
import { startNewsroom, type LocalNewsroom } from './newsroom/server'

const folder = mkdtempSync(join(tmpdir(), 'live-'))
const there = await isReachable(CHROMIUM)
let newsroom: LocalNewsroom
let browser: Browser

interface Tab {
  readonly page: Page
  /** The streams that the page has open. */
  readonly streams: Set<Request>
  /** The requests for lists, without streams. */
  readonly lists: string[]
}

describe.runIf(there)('live queries in a browser', () => {
  beforeAll(async () => {
    newsroom = await startNewsroom(join(folder, 'live.sqlite'))
    browser = await launch()
  })

  afterAll(async () => {
    await browser?.close()
    await newsroom?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function openBrowser(): Promise<BrowserContext> {
    const context = await browser.newContext()
    await context.addCookies([{ name: 'newsroom-caller', value: String(EDITOR), url: newsroom.url }])
    return context
  }

  async function openTab(context: BrowserContext): Promise<Tab> {
    const page = await context.newPage()
    const streams = new Set<Request>()
    const lists: string[] = []
    page.on('request', (request) => {
      const { pathname, search } = new URL(request.url())
      if (pathname === '/api/_live') streams.add(request)
      else if (pathname === '/api/posts') lists.push(search)
    })
    const ended = (request: Request) => void streams.delete(request)
    page.on('requestfinished', ended)
    page.on('requestfailed', ended)
    await load(page, `${newsroom.url}/desk`)
    return { page, streams, lists }
  }

  const titles = (page: Page) => page.locator('.lines strong').allTextContents()
  const firstId = () => newsroom.rows<{ id: number }>(
    'select id from posts where organization_id = 1 and deleted_at is null order by created_at desc, id desc limit 1')[0]!.id
  async function rename(title: string): Promise<void> {
    const { status } = await newsroom.request(`/api/posts/${firstId()}`, {
      method: 'PATCH', body: { title }, as: EDITOR,
    })
    expect(status).toBe(200)
  }
  const open = (tabs: readonly Tab[]) => tabs.reduce((count, { streams }) => count + streams.size, 0)
  const shows = (title: string, tabs: readonly Tab[]) => vi.waitFor(async () => {
    for (const { page } of tabs) expect(await titles(page)).toContain(title)
  }, { timeout: 15_000 })

  it('three tabs have one stream, and each shows what others write, also after the leader has closed', async () => {
    const context = await openBrowser()
    const tabs = [await openTab(context), await openTab(context), await openTab(context)]
    await vi.waitFor(() => expect(open(tabs)).toBe(1), { timeout: 10_000 })
    await rename('Live in three tabs')
    await shows('Live in three tabs', tabs)
    expect(open(tabs)).toBe(1)

    const leader = tabs.find(({ streams }) => streams.size > 0)!
    const others = tabs.filter(tab => tab !== leader)
    await leader.page.close()
    await vi.waitFor(() => expect(open(others)).toBe(1), { timeout: 10_000 })
    await rename('Live in two tabs')
    await shows('Live in two tabs', others)
    await context.close()
  })

  it('a hidden tab refetches when the reader returns', async () => {
    const context = await openBrowser()
    const [hidden, shown] = [await openTab(context), await openTab(context)]
    await vi.waitFor(() => expect(open([hidden, shown])).toBe(1), { timeout: 10_000 })
    const setVisibility = (state: string) => hidden.page.evaluate((value) => {
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => value })
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
    }, state)
    await setVisibility('hidden')
    const before = hidden.lists.length
    await rename('While it was hidden')
    await shows('While it was hidden', [shown])
    expect(hidden.lists).toHaveLength(before)
    await setVisibility('visible')
    await shows('While it was hidden', [hidden])
    await context.close()
  })

  it('the list and the record of the admin show what others write, and a form keeps what is typed', async () => {
    const context = await openBrowser()
    const [list, record] = [await context.newPage(), await context.newPage()]
    const id = firstId()
    await load(list, `${newsroom.url}/admin/posts?sort=-createdAt`)
    await load(record, `${newsroom.url}/admin/posts/${id}`)
    const heading = record.getByRole('heading', { level: 1 })
    const typed = record.getByLabel('Excerpt')
    await typed.fill('Typed meanwhile')
    await rename('Live in the admin')
    await vi.waitFor(async () => {
      expect(await list.locator('tbody td.aa-title').allTextContents()).toEqual(expect.arrayContaining([expect.stringContaining('Live in the admin')]))
      expect(await heading.textContent()).toContain('Live in the admin')
    }, { timeout: 15_000 })
    expect(await typed.inputValue()).toBe('Typed meanwhile')
    await context.close()
  })

  it('a server that is killed and started again misses nothing', async () => {
    const context = await openBrowser()
    const tab = await openTab(context)
    await vi.waitFor(() => expect(open([tab])).toBe(1), { timeout: 10_000 })
    await newsroom.restart(() => {
      // Nobody reports this change.
      new Database(join(folder, 'live.sqlite')).prepare('update posts set title = ? where id = ?').run('Written without a server', firstId())
    })
    await shows('Written without a server', [tab])
    await rename('After the restart')
    await shows('After the restart', [tab])
    await context.close()
  })

  it('two browsers have a stream each', async () => {
    const contexts = [await openBrowser(), await openBrowser()]
    const tabs = [await openTab(contexts[0]!), await openTab(contexts[1]!)]
    await vi.waitFor(() => expect(tabs.map(tab => open([tab]))).toEqual([1, 1]), { timeout: 10_000 })
    await rename('In two browsers')
    await shows('In two browsers', tabs)
    for (const context of contexts) await context.close()
  })
})
