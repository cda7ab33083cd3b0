/** Tabs of the desk, whose list is live, and the streams that they have open. */
import { expect, vi } from 'vitest'
import type { Browser, BrowserContext, Page, Request } from 'playwright-core'
import { load } from './browser'
import { EDITOR } from './callers'
import type { LocalNewsroom } from './server'

export interface Tab {
  readonly page: Page
  /** The streams that the page has open. */
  readonly streams: ReadonlySet<Request>
  /** The number of streams that the page has opened so far. */
  readonly opened: () => number
  /** The requests for lists, without streams. */
  readonly lists: readonly string[]
  /** The errors of the page. */
  readonly errors: readonly string[]
}

/** @param as a demo user */
export async function openBrowser(browser: Browser, { url }: Pick<LocalNewsroom, 'url'>, as = EDITOR): Promise<BrowserContext> {
  const context = await browser.newContext()
  await context.addCookies([{ name: 'newsroom-caller', value: String(as), url }])
  return context
}

export async function openTab(context: BrowserContext, { url }: Pick<LocalNewsroom, 'url'>): Promise<Tab> {
  const page = await context.newPage()
  const streams = new Set<Request>()
  const [lists, errors]: [string[], string[]] = [[], []]
  let opened = 0
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname === '/api/_live') {
      streams.add(request)
      opened++
    }
    else if (pathname === '/api/posts') lists.push(search)
  })
  const ended = (request: Request) => void streams.delete(request)
  page.on('requestfinished', ended)
  page.on('requestfailed', ended)
  page.on('pageerror', error => errors.push(error.message))
  await load(page, `${url}/desk`)
  return { page, streams, opened: () => opened, lists, errors }
}

export const titles = (page: Page): Promise<string[]> => page.locator('.lines strong').allTextContents()

export const countOpen = (tabs: readonly Tab[]): number => tabs.reduce((count, { streams }) => count + streams.size, 0)

/** Waits until the tabs of a browser have one stream. */
export const untilOpen = (tabs: readonly Tab[], timeout = 10_000) => vi.waitFor(() => expect(countOpen(tabs)).toBe(1), { timeout })

export const untilShown = (title: string, tabs: readonly Tab[]) => vi.waitFor(async () => {
  for (const { page } of tabs) expect(await titles(page)).toContain(title)
}, { timeout: 15_000 })

/** The first post of the desk. */
export const firstId = ({ rows }: Pick<LocalNewsroom, 'rows'>): number => rows<{ id: number }>(
  'select id from posts where organization_id = 1 and deleted_at is null order by created_at desc, id desc limit 1',
)[0]!.id
