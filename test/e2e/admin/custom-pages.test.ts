/**
 * Custom pages of the admin, in an app with the API under another prefix. A browser is never told the path, the label, the permissions or
 * the file of a page that the caller cannot open: every response of every way to the page is searched.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch } from '../newsroom/browser'
import { buildFixture } from '../support/build'
import { startServer, type Server } from '../support/server'

let output: string
let server: Server
let browser: Browser

beforeAll(async () => {
  output = await buildFixture('admin')
  server = await startServer(output)
  browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  await server?.stop()
})

const user = (...permissions: string[]) => ({ user: { id: 1 }, permissions })
const PAYROLL = '/back-office/payroll-plan'

const CALLERS = {
  'a caller with all permissions': user('editor', 'payroll-clerk'),
  'a caller who lacks one permission': user('editor'),
  'a caller who lacks the other permission': user('payroll-clerk'),
  'a caller without permissions': user(),
  'an anonymous caller': undefined,
} as const
type Caller = keyof typeof CALLERS
const HOLDER: Caller = 'a caller with all permissions'
const REFUSED = (Object.keys(CALLERS) as Caller[]).filter(name => name !== HOLDER)

const headersOf = (caller: Caller) => ({ accept: 'text/html', ...CALLERS[caller] && { 'x-caller': JSON.stringify(CALLERS[caller]) } })
const access = async (caller: Caller) => (await server.request('/service/v1/_admin', { headers: headersOf(caller) })).body

/** What a caller without the permissions must not find, apart from the path that the request itself names. */
async function findSecrets() {
  const { pages } = await access(HOLDER)
  const { chunk } = pages.find(({ path }: { path: string }) => path === '/payroll-plan')
  return {
    path: 'payroll-plan',
    others: [
      'Plan of salaries',
      'i-lucide-banknote',
      'payroll-clerk',
      'payroll-marker',
      'admin:update',
      chunk.script,
      ...chunk.styles,
    ] as string[],
  }
}

const foundIn = (text: string, secrets: readonly string[]) => secrets.filter(secret => text.includes(secret))

/** Opens a page and records the body of every response. */
async function record(caller: Caller, run: (page: Page) => Promise<void>) {
  const context = await browser.newContext({ extraHTTPHeaders: CALLERS[caller] ? { 'x-caller': JSON.stringify(CALLERS[caller]) } : {} })
  const page = await context.newPage()
  const [bodies, complaints]: [Promise<string>[], string[]] = [[], []]
  page.on('response', response => bodies.push(response.text().then(text => `${response.url()}\n${text}`, () => response.url())))
  page.on('console', message => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()))
  page.on('pageerror', error => complaints.push(error.message))
  await run(page)
  await page.waitForLoadState('networkidle')
  const text = (await Promise.all(bodies)).join('\n') + await page.content()
  await context.close()
  return { text, complaints }
}

async function open(page: Page, path: string): Promise<number> {
  const response = await page.goto(server.url + path)
  await page.waitForFunction(
    () => (window as unknown as { useNuxtApp?: () => { isHydrating?: boolean } }).useNuxtApp?.().isHydrating === false,
  )
  return response!.status()
}

/** Navigates in the browser, as a link does. */
const navigate = (page: Page, path: string) =>
  page.evaluate(
    to =>
      (window as never as { useNuxtApp: () => { $router: { push: (path: string) => Promise<unknown> } } })
        .useNuxtApp()
        .$router.push(to)
        .then(
          () => {},
          () => {},
        ),
    path,
  )

const heading = (page: Page) => page.locator('h1').first().textContent()

describe('a custom page', () => {
  it('is shown to a caller with all permissions, on a direct URL, with its styles', async () => {
    const { text, complaints } = await record(HOLDER, async (page) => {
      expect(await open(page, PAYROLL)).toBe(200)
      await page.locator('h1[data-mounted=true]').waitFor()
      expect(await page.locator('h1.payroll').evaluate(element => getComputedStyle(element).outlineColor)).toBe('rgb(1, 2, 3)')
    })
    expect(complaints).toEqual([])
    const { path, others } = await findSecrets()
    // The search for other callers would find them.
    expect(foundIn(text, [path, ...others])).toEqual(
      expect.arrayContaining([path, 'Plan of salaries', 'i-lucide-banknote', 'payroll-marker']),
    )
    expect(foundIn(text, others).filter(name => name.endsWith('.js'))).toHaveLength(1)
  })

  it('is shown after a navigation in the browser, with its styles', async () => {
    const { complaints } = await record(HOLDER, async (page) => {
      await open(page, '/back-office')
      await page.getByRole('link', { name: 'Plan of salaries' }).click()
      await page.locator('h1[data-mounted=true]').waitFor()
      expect(await page.locator('h1.payroll').evaluate(element => getComputedStyle(element).outlineColor)).toBe('rgb(1, 2, 3)')
      await navigate(page, '/back-office/open')
      await page.getByText('open-marker').waitFor()
    })
    expect(complaints).toEqual([])
  })

  it('has a file that only this response names', async () => {
    const { others } = await findSecrets()
    const [file] = others.filter(name => name.endsWith('.js'))
    const folder = join(output, 'public')
    const naming = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(name => /\.(?:js|map|json|html|css)$/.test(name))
      .filter(
        name =>
          !name.includes(file!) && [...others, 'payroll-plan'].some(secret => readFileSync(join(folder, name), 'utf8').includes(secret)),
      )
    expect(naming).toEqual([])
  })

  describe.each(REFUSED)('for %s', (caller) => {
    it('is not in the list of the API', async () => {
      const { path, others } = await findSecrets()
      const text = JSON.stringify(await access(caller))
      expect(foundIn(text, [path, ...others])).toEqual([])
      expect(text).toContain('/open')
    })

    it('has the response of a path that does not exist', async () => {
      const [refused, unknown] = await Promise.all(
        [PAYROLL, '/back-office/payroll-plam'].map(path => server.request(path, { headers: headersOf(caller) })),
      )
      expect(refused!.status).toBe(404)
      const comparable = ({ body, headers }: typeof refused & {}) => [
        String(body)
          .replaceAll('payroll-plam', 'payroll-plan')
          .replace(/"[\w-]{36}"/g, ''),
        headers.get('cache-control'),
        headers.get('content-type'),
      ]
      expect(comparable(refused!)).toEqual(comparable(unknown!))
    })

    it('is not named by any response of a direct URL, a navigation or a prefetch', async () => {
      const { path, others } = await findSecrets()
      const before = await record(caller, async (page) => {
        await open(page, '/')
        await open(page, '/back-office')
      })
      expect(foundIn(before.text, [path, ...others])).toEqual([])

      const { text } = await record(caller, async (page) => {
        expect(await open(page, PAYROLL)).toBe(404)
        // The link is on the page because the URL contains it. It prefetches what it can.
        await open(page, `/?to=${PAYROLL}`)
        await page.getByRole('link', { name: 'Link' }).hover()
        await page.getByRole('link', { name: 'Link' }).click()
        await page.getByText('404').first().waitFor()
        await open(page, '/back-office')
        await navigate(page, PAYROLL)
        await page.getByText('404').first().waitFor()
      })
      expect(foundIn(text, others)).toEqual([])
    })
  })
})

describe('the middleware of the app', () => {
  it.each([['banned', 451], ['guest', 302]])('decides before the admin does: %s', async (as, status) => {
    const { status: answered, headers, body } = await server.request(`/back-office?as=${as}`, { headers: headersOf(HOLDER) })
    expect([answered, headers.get('location')]).toEqual([status, status === 302 ? '/' : null])
    expect(String(body)).not.toMatch(/weekly|Plan of salaries/)
  })

  it('decides in the browser too', async () => {
    await record(HOLDER, async (page) => {
      await open(page, '/')
      await navigate(page, '/back-office?as=guest')
      expect(await heading(page)).toBe('Home')
      await navigate(page, '/back-office?as=banned')
      await page.getByText('451').first().waitFor()
    })
  })
})

describe('a middleware that does not exist', () => {
  let broken: Server
  beforeAll(async () => {
    broken = await startServer(output, { env: { NUXT_PUBLIC_STAFF: 'off' } })
  })
  afterAll(() => broken?.stop())

  it('refuses every caller with a 500, and writes one line to the log', async () => {
    const { status, body } = await broken.request('/back-office', { headers: headersOf(HOLDER) })
    expect(status).toBe(500)
    expect(String(body)).not.toMatch(/Plan of salaries|Ben &/)
    expect(broken.printed()).toContain('[auto-api] The middleware `staff` of `autoAdmin.middleware` does not exist')
  })

  it('shows nothing after a navigation in the browser', async () => {
    const context = await browser.newContext({ extraHTTPHeaders: { 'x-caller': JSON.stringify(CALLERS[HOLDER]) } })
    const page = await context.newPage()
    const requests: string[] = []
    page.on('request', request => requests.push(new URL(request.url()).pathname))
    await page.goto(broken.url)
    await page.waitForLoadState('networkidle')
    await navigate(page, PAYROLL)
    await page.getByText('500').first().waitFor()
    expect(requests.filter(path => path.startsWith('/service/'))).toEqual([])
    await context.close()
  })
})

describe('names that are hard to keep apart', () => {
  it.each([
    ['/new', 200],
    ['/new/new', 200],
    ['/new/trash', 404],
    ['/admin/new', 404],
    ['/new/~new', 200],
    ['/new/~..', 200],
    ['/new/a%2Fb', 200],
    ['/new/a/b', 404],
    ['/admin', 200],
    ['/admin/1', 200],
    ['/constructor', 404],
    ['/trash', 404],
    ['/toString', 404],
    ['/__proto__', 404],
    ['/-/permissions', 200],
    ['/-/audit', 404],
    ['/-/tokens', 404],
    ['/open', 200],
    ['/open/', 200],
    ['/OPEN', 404],
    ['/reports', 404],
    ['/reports/weekly', 200],
    ['/reports/weekly/x', 404],
  ])('%s is a %s for an editor', async (path, status) => {
    const { status: answered } = await server.request(`/back-office${path}`, {
      headers: { 'accept': 'text/html', 'x-caller': JSON.stringify(user('editor', 'writer')) },
    })
    expect(answered).toBe(status)
  })

  it('are escaped in the page', async () => {
    const { body } = await server.request('/back-office', { headers: headersOf(HOLDER) })
    expect(String(body)).not.toMatch(/<b>page<\/b>|Jerry" <\/script>/)
    expect(String(body)).toContain('Open &lt;b&gt;page&lt;/b&gt;')
  })

  it('keep responses out of shared caches', async () => {
    for (const path of ['/back-office', '/service/v1/_admin', '/back-office/nothing'])
      expect((await server.request(path, { headers: headersOf(HOLDER) })).headers.get('cache-control')).toMatch(/no-store|no-cache/)
  })
})
