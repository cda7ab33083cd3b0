/** A browser that opens pages of the built playground, and records their requests, errors and warnings. */
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import { CHROMIUM } from '../../support/services'

const QUIET = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync']

export const launch = (): Promise<Browser> => chromium.launch({ executablePath: CHROMIUM.path, args: QUIET })

export interface Visit {
  readonly page: Page
  /** `GET /api/posts?…`, in the order in which they were sent. */
  readonly requests: string[]
  /** Errors and warnings of the page. */
  readonly complaints: string[]
  readonly close: () => Promise<void>
}

/** Opens a page as a demo user, and waits until it is hydrated and the network is idle. */
export async function visit(browser: Browser, url: string, { as, ...options }: { readonly as?: number } & BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext(options)
  if (as !== undefined) await context.addCookies([{ name: 'newsroom-caller', value: String(as), url }])
  const page = await context.newPage()
  const [requests, complaints]: [string[], string[]] = [[], []]
  page.on('request', request => new URL(request.url()).pathname.startsWith('/api/') && requests.push(`${request.method()} ${request.url().slice(new URL(url).origin.length)}`))
  page.on('console', message => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()))
  page.on('pageerror', error => complaints.push(error.message))
  // Confirms every dialog.
  page.on('dialog', dialog => void dialog.accept())
  await page.goto(url)
  await settled(page)
  return { page, requests, complaints, close: () => context.close() }
}

/** Waits for hydration, and for half a second without requests. It works once per page. */
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => (window as unknown as { useNuxtApp?: () => { isHydrating?: boolean } }).useNuxtApp?.().isHydrating === false)
  await page.waitForLoadState('networkidle')
}
