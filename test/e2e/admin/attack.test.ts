/**
 * Ways around the admin's checks, sent byte for byte: other spellings of a path, other methods, headers of proxies and of Nuxt itself, and
 * values of records that a page could run as code. No response may contain what the caller cannot see.
 */
import { request as send, type IncomingHttpHeaders } from 'node:http'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isReachable, CHROMIUM } from '../../support/services'
import { launch, load } from '../newsroom/browser'
import { buildFixture } from '../support/build'
import { startServer, type Server } from '../support/server'

const there = await isReachable(CHROMIUM)

let server: Server
beforeAll(async () => {
  server = await startServer(await buildFixture('admin'))
})
afterAll(() => server?.stop())

interface Answer { readonly status: number, readonly headers: IncomingHttpHeaders, readonly body: string }

/** Sends a path as it is. `fetch` would clean it first. */
function raw(path: string, headers: Record<string, string> = {}, method = 'GET', url = server.url): Promise<Answer> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const sent = send({ hostname, port, path, method, headers: { accept: 'text/html', ...headers } }, (response) => {
      let body = ''
      response
        .setEncoding('utf8')
        .on('data', chunk => (body += chunk))
        .on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body }))
    })
    sent.on('error', reject).end()
  })
}

const caller = (...permissions: string[]) => ({ 'x-caller': JSON.stringify({ user: { id: 1 }, permissions }) })
const HOLDER = caller('editor', 'payroll-clerk')
const REFUSED = { 'a caller who lacks one permission': caller('editor'), 'an anonymous caller': {} }

/** What only the holder of the page's permissions can receive. */
async function findSecrets(): Promise<string[]> {
  const { body } = await server.request('/service/v1/_admin', { headers: HOLDER })
  const { chunk } = body.pages.find(({ path }: { path: string }) => path === '/payroll-plan')
  return ['Plan of salaries', 'i-lucide-banknote', 'payroll-clerk', 'payroll-marker', 'admin:update', chunk.script, ...chunk.styles]
}

/** Spellings of one path. `ADMIN` is the prefix of the admin, and `PAGE` the last segment. */
const SPELLINGS = [
  '/ADMIN/PAGE',
  '/ADMIN/PAGE/',
  '/ADMIN/PAGE//',
  '//ADMIN/PAGE',
  '/ADMIN//PAGE',
  '///ADMIN///PAGE',
  '/./ADMIN/PAGE',
  '/ADMIN/./PAGE',
  '/x/../ADMIN/PAGE',
  '/ADMIN/open/../PAGE',
  '/%2e/ADMIN/PAGE',
  '/ADMIN/%2e%2e/ADMIN/PAGE',
  '/_nuxt/../ADMIN/PAGE',
  '/ADMIN%2FPAGE',
  '/ADMIN/PAGE%2F',
  '/ADMIN/PAGE%00',
  '/ADMIN/PAGE;x',
  '/ADMIN/PAGE?x=1',
  '/ADMIN/PAGE?',
  '/ADMIN/PAGE#x',
  '/ADMIN\\PAGE',
  '/ADMIN/PAGE.html',
  '/ADMIN/PAGE.json',
  '/ADMIN/PAGE/_payload.json',
  '/ADMIN/PAGE/_payload.js',
  '/ADMIN/_payload.json',
  '/ADMIN/PAGE?_payload.json',
  '/ADMIN/PAGE/__nuxt_island',
  '/__nuxt_error?url=/ADMIN/PAGE&statusCode=200',
  '/__nuxt_island/PAGE.json',
  '/_nuxt/builds/latest.json',
  '/_nuxt/builds/meta/x.json',
  'http://ADMIN/PAGE',
  'http://example.com/ADMIN/PAGE',
  '/service/v1/_admin',
  '/service/v1/_admin?as=1',
  '/service/v1/../v1/_admin',
  '/service/v1//_admin',
]
const spell = (text: string, [prefix, page]: readonly [string, string]) => text.replaceAll('ADMIN', prefix).replaceAll('PAGE', page)

const NAMES: readonly (readonly [prefix: string, page: string])[] = [
  ['back-office', 'payroll-plan'], ['BACK-OFFICE', 'payroll-plan'], ['back-office', 'PAYROLL-PLAN'], ['back%2Doffice', 'payroll-plan'],
  ['back-office', '%70ayroll-plan'], ['back-office', 'payroll%2dplan'], ['b%61ck-office', 'p%61yroll-plan'],
]

const HEADERS: Readonly<Record<string, Record<string, string>>> = {
  'no header': {},
  'the header that turns server rendering off': { 'x-nuxt-no-ssr': '1' },
  'the headers of a prefetch': { 'sec-purpose': 'prefetch', 'purpose': 'prefetch', 'accept': '*/*' },
  'the headers of a prerenderer': { 'x-nitro-prerender': '/back-office/payroll-plan', 'x-nitro-prerender-id': '1' },
  'the headers of a proxy': {
    'x-original-url': '/back-office/payroll-plan',
    'x-rewrite-url': '/back-office/payroll-plan',
    'x-forwarded-prefix': '/back-office',
    'x-forwarded-host': 'example.com',
  },
  'the headers of an error page': { 'x-nuxt-error': 'true', 'accept': 'application/json' },
}

describe('a custom page of the admin', () => {
  it('is found by these requests, if the caller has its permissions', async () => {
    const [page, payload] = await Promise.all(['/back-office/payroll-plan', '/service/v1/_admin'].map(path => raw(path, HOLDER)))
    expect(page!.body).toContain('payroll-marker')
    expect(payload!.body).toContain('Plan of salaries')
  })

  describe.each(Object.entries(REFUSED))('for %s', (_who, as) => {
    it.each(Object.entries(HEADERS))('is in no response to any spelling of its path, with %s', async (_name, headers) => {
      const secrets = await findSecrets()
      const found: string[] = []
      for (const names of NAMES) {
        const paths = [...new Set(SPELLINGS.map(text => spell(text, names)))]
        const answers = await Promise.all(paths.map(async path => [path, await raw(path, { ...headers, ...as })] as const))
        for (const [path, { status, body, headers }] of answers) {
          const text = body + JSON.stringify(headers)
          found.push(...secrets.filter(secret => text.includes(secret)).map(secret => `${path}: ${secret}`))
          if (status >= 500) found.push(`${path}: ${status}`)
          // A redirect stays on this server.
          const to = headers.location
          if (to !== undefined && new URL(to, server.url).origin !== server.url) found.push(`${path}: redirects to ${to}`)
        }
      }
      expect(found).toEqual([])
    })

    it('is in no response to another method', async () => {
      const secrets = await findSecrets()
      for (const method of ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
        const { body, headers } = await raw('/back-office/payroll-plan', as, method)
        expect([method, secrets.filter(secret => (body + JSON.stringify(headers)).includes(secret))]).toEqual([method, []])
      }
    })
  })

  it('is in no response that another caller has asked for at the same time', async () => {
    const secrets = (await findSecrets()).filter(secret => secret !== 'payroll-clerk')
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) =>
      raw(index % 4 === 0 ? '/back-office' : '/back-office/payroll-plan', index % 2 === 0 ? HOLDER : caller('editor'))))
    const leaked = answers.filter((_, index) => index % 2 === 1).flatMap(({ body }) => secrets.filter(secret => body.includes(secret)))
    expect([leaked, answers[2]!.body.includes('payroll-marker')]).toEqual([[], true])
  })
})

describe('the middleware of the app', () => {
  it('decides about every spelling of a path', async () => {
    const found: string[] = []
    for (const names of NAMES.map(([prefix]) => [prefix, 'open'] as const)) {
      for (const text of SPELLINGS.filter(text => text.includes('ADMIN') && !text.includes('?') && !text.includes('#'))) {
        const path = `${spell(text, names)}?as=banned`
        const { status, body } = await raw(path, HOLDER)
        // A path without the admin is a 404, or the home page.
        if (/open-marker|Ben &amp;|Plan of salaries/.test(body)) found.push(`${path}: ${status}`)
      }
    }
    expect(found).toEqual([])
  })
})

describe('below another base URL', () => {
  let moved: Server
  beforeAll(async () => {
    moved = await startServer(await buildFixture('admin'), { env: { NUXT_APP_BASE_URL: '/base/' } })
  })
  afterAll(() => moved?.stop())

  it('opens for callers with the permissions, and for no other', async () => {
    const secrets = await findSecrets()
    const open = (path: string, headers: Record<string, string>) => raw(path, headers, 'GET', moved.url)
    expect((await open('/base/back-office/payroll-plan', HOLDER)).body).toContain('payroll-marker')
    for (const path of [
      '/base/back-office/payroll-plan',
      '/back-office/payroll-plan',
      '/base//back-office/payroll-plan',
      '/base/base/back-office/payroll-plan',
    ]) {
      const { body } = await open(path, caller('editor'))
      expect([path, secrets.filter(secret => body.includes(secret))]).toEqual([path, []])
    }
  })
})

describe.runIf(there)('the value of a record', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launch()
  })
  afterAll(() => browser?.close())

  const CODE
    = '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script>{{constructor.constructor("window.hacked=1")()}}'
  const WRITER = { 'x-caller': JSON.stringify({ user: { id: 1 }, permissions: ['writer', 'payroll-clerk'] }) }

  it('is shown as text on every page, and is no link that runs code', async () => {
    const { body } = await server.request('/service/v1/samples', {
      method: 'POST',
      headers: WRITER,
      body: {
        name: CODE,
        notes: CODE,
        site: 'javascript:window.hacked=1',
        contact: `"${CODE}"@example.com`,
        color: 'red;}</style><script>window.hacked=1</script>',
        data: { [CODE]: CODE },
      },
    })
    const context = await browser.newContext({ extraHTTPHeaders: WRITER })
    const page = await context.newPage()
    const columns = JSON.stringify(['name', 'notes', 'site', 'contact', 'color', 'data'])
    await page.addInitScript(columns => localStorage.setItem('auto-admin:samples:columns', columns), columns)
    for (const path of [
      '/samples?sort=-id',
      `/samples/${body.id}`,
      `/samples?open=${body.id}`,
      `/samples?q=${encodeURIComponent(CODE)}`,
      `/samples?filter=${encodeURIComponent(`name:$eq:${CODE}`)}`,
      `/samples/${encodeURIComponent(CODE)}`,
    ]) {
      await load(page, `${server.url}/back-office${path}`)
      await page.waitForTimeout(100)
      const found = await page.evaluate(() => [
        (window as { hacked?: unknown }).hacked,
        ...[...document.querySelectorAll('[href^="javascript:" i], [src="x"]')].map(element => element.outerHTML),
      ])
      expect([path, found]).toEqual([path, [undefined]])
    }
    // The widget of a URL holds the text, and nothing opens it.
    await load(page, `${server.url}/back-office/samples/${body.id}`)
    expect(await page.getByLabel('Site').inputValue()).toBe('javascript:window.hacked=1')
    await context.close()
  })

  it('of the browser\'s storage that is no view and no column is ignored', async () => {
    const context = await browser.newContext({ extraHTTPHeaders: WRITER })
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('pageerror', error => complaints.push(error.message))
    for (const text of [
      '{"a":1}',
      '[1,2]',
      '["__proto__","constructor","name"]',
      '[{"name":1,"query":null,"columns":[]}]',
      'not JSON',
      '"text"',
      '[{"name":"x","query":{"open":{}},"columns":["y"]}]',
    ]) {
      await page.addInitScript((text) => {
        for (const key of ['columns', 'views']) localStorage.setItem(`auto-admin:samples:${key}`, text)
      }, text)
      await load(page, `${server.url}/back-office/samples`)
      await page.getByRole('row').nth(3).waitFor()
    }
    expect(complaints).toEqual([])
    await context.close()
  })
})
