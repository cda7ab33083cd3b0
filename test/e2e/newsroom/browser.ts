/** A browser that opens pages of the built playground, and records their requests, errors and warnings. */
import { chromium, type Browser, type BrowserContextOptions, type Page, type Request, type Response } from 'playwright-core'
import { CHROMIUM } from '../../support/services'

const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const launch = (): Promise<Browser> => chromium.launch({ executablePath: CHROMIUM.path, args: QUIET })

export interface Visit {
  readonly page: Page
  /** `GET /api/posts?…`, in the order in which they were sent, without streams. */
  readonly requests: string[]
  /** Errors and warnings of the page. */
  readonly complaints: string[]
  /** @throws if Vue has warned, such as about a page that differs from that of the server */
  readonly close: () => Promise<void>
}

type VisitOptions = { readonly as?: number } & BrowserContextOptions

/** Opens a page as a demo user, and waits until it is hydrated and the network is idle. */
export async function visit(browser: Browser, url: string, options: VisitOptions = {}): Promise<Visit> {
  const opened = await openBlank(browser, url, options)
  await load(opened.page, url)
  return opened
}

/** Loads a document, and waits until it is hydrated and the network is idle. */
export async function load(page: Page, url: string): Promise<Response> {
  pendingOf(page)
  const response = await page.goto(url)
  await settled(page)
  return response!
}

/** Opens an empty page, which loads the pages of the site as a demo user. Its time zone is not that of the server. */
export async function openBlank(browser: Browser, url: string, { as, ...options }: VisitOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ timezoneId: 'Asia/Tokyo', ...options })
  // For every path: a browser limits a cookie of `/admin/posts` to the paths below `/admin`.
  if (as !== undefined) await context.addCookies([{ name: 'newsroom-caller', value: String(as), url: new URL(url).origin }])
  const page = await context.newPage()
  const [requests, complaints, warnings]: [string[], string[], string[]] = [[], [], []]
  page.on(
    'request',
    request =>
      new URL(request.url()).pathname.startsWith('/api/') && !isStream(request)
        && requests.push(`${request.method()} ${request.url().slice(new URL(url).origin.length)}`),
  )
  page.on('console', message => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()))
  page.on('console', message => /^\[Vue warn\]|[Hh]ydration/.test(message.text()) && warnings.push(`${page.url()}: ${message.text()}`))
  page.on('pageerror', error => complaints.push(error.message))
  return {
    page, requests, complaints,
    async close() {
      await context.close()
      if (warnings.length > 0) throw new Error(`Vue has warned:\n${warnings.join('\n')}`)
    },
  }
}

/** A stream stays open, so Playwright's `networkidle` never comes on a page with live queries. */
const isStream = (request: Request) => new URL(request.url()).pathname.endsWith('/_live')

const pending = new WeakMap<Page, Set<Request>>()

function pendingOf(page: Page): ReadonlySet<Request> {
  const known = pending.get(page)
  if (known) return known
  const requests = new Set<Request>()
  page.on('request', request => isStream(request) || requests.add(request))
  page.on('requestfinished', request => requests.delete(request))
  page.on('requestfailed', request => requests.delete(request))
  pending.set(page, requests)
  return requests
}

/** Waits for half a second without requests, except for streams. */
export async function quiet(page: Page): Promise<void> {
  const requests = pendingOf(page)
  for (let ticks = 0; ticks < 10; ticks = requests.size === 0 ? ticks + 1 : 0) await page.waitForTimeout(50)
}

/** Waits for hydration, and for half a second without requests. */
async function settled(page: Page): Promise<void> {
  await page.waitForFunction(
    () => (window as unknown as { useNuxtApp?: () => { isHydrating?: boolean } }).useNuxtApp?.().isHydrating === false,
  )
  await quiet(page)
}

/** Selects an option of a `USelect`, as a user does. */
export async function pick(page: Page, label: string, option: string | RegExp): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
  await page.getByRole('listbox').waitFor({ state: 'detached' })
}

/** Chooses an action of the menu of a post at the desk. */
export async function act(page: Page, id: number, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions of post ${id}`, exact: true }).click()
  await page.getByRole('menuitem', { name: action, exact: true }).click()
}

/** Opens a page of the menu of the header. */
export async function openDeveloperPage(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Developers' }).click()
  await page.getByRole('link', { name: new RegExp(`^${name} `) }).click()
}

/** Confirms the open dialog with the button of this name. */
export async function confirm(page: Page, name: string): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

/** The ids that several elements have. axe reports only those to which a label or another attribute refers. */
export const repeatedIds = (page: Page): Promise<string[]> => page.evaluate(() => {
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id)
  return [...new Set(ids.filter((id, index) => ids.indexOf(id) < index))]
})

/**
 * The ids that the browser's components have, but their elements have not. Vue does not correct attributes while it hydrates, so a label
 * then points to no element. @returns one line for each element
 */
export const wrongIds = (page: Page): Promise<string[]> => page.evaluate(() => {
  interface VNode {
    readonly el?: Element
    readonly props?: { readonly id?: unknown } | null
    readonly component?: { readonly subTree: VNode } | null
    readonly suspense?: { readonly activeBranch: VNode } | null
    readonly children?: unknown
  }
  const wrong: string[] = []
  const look = (node: VNode | null | undefined): void => {
    if (!node || typeof node !== 'object') return
    const id = node.props?.id
    if (!node.component && typeof id === 'string' && node.el?.id !== undefined && node.el.id !== id)
      wrong.push(`${node.el.outerHTML.slice(0, 80)}: ${id}`)
    look(node.component?.subTree)
    look(node.suspense?.activeBranch)
    if (Array.isArray(node.children)) node.children.forEach(child => look(child as VNode))
  }
  look((document.querySelector('#__nuxt') as unknown as { _vnode: VNode })._vnode)
  return wrong
})
