/** The page in Nuxt DevTools: an app in development, in a browser. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, isReachable } from '../support/services'
import { findViolations, overflowOf } from './admin/admin-page'
import { launch, openBlank, type Visit } from './newsroom/browser'
import { startDevelopment, type Server } from './support/server'

const there = await isReachable(CHROMIUM)
const EDITOR = 'user:1,role:editor,permission:posts:delete,tenant:1'
let server: Server
let browser: Browser

/** For a look at the page: SHOTS names a folder. */
async function screenshot(page: Page, name: string): Promise<void> {
  if (!process.env.SHOTS) return
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: join(process.env.SHOTS, `${name}-${colorScheme}-${width}.png`), fullPage: true })
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 1280, height: 900 })
}

/** Opens a tab of the page, and closes the page after the test. The status of a refused request is no complaint. */
async function on(path: string, test: (page: Page, visit: Visit) => Promise<void>, url = server.url): Promise<void> {
  const visit = await openBlank(browser, url, { viewport: { width: 1280, height: 900 } })
  try {
    await visit.page.goto(`${url}/_auto-api/devtools${path}`)
    await visit.page.getByRole('heading', { name: 'Auto API' }).waitFor()
    await test(visit.page, visit)
    expect(visit.complaints.filter(text => !/status of 4\d\d/.test(text))).toEqual([])
  }
  finally {
    await visit.close()
  }
}

async function choose(page: Page, caller: string): Promise<void> {
  await page.getByLabel('as', { exact: true }).fill(caller)
  await page.getByLabel('as', { exact: true }).press('Enter')
}

/** What is visible of an element. */
const textOf = async (locator: Locator) => (await locator.allInnerTexts()).join(' ')

/** The texts of a row of a table. */
const cells = (page: Page, name: string | RegExp) => page.getByRole('row', { name }).getByRole('cell').allInnerTexts()

const resource = (page: Page, name: string) =>
  page.locator('details').filter({ has: page.getByRole('heading', { name, exact: true }) })

async function explain(page: Page, method: string, path: string, body?: object): Promise<void> {
  await page.getByLabel('Method').selectOption(method)
  await page.getByLabel('Path').fill(path)
  if (body) await page.getByLabel('Body (JSON)').fill(JSON.stringify(body))
  await page.getByRole('button', { name: 'Explain' }).click()
}

describe.runIf(there)('the page in Nuxt DevTools', () => {
  beforeAll(async () => {
    server = await startDevelopment('devtools')
    browser = await launch()
  })

  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  it('shows the columns, relations, rules and missing indexes of each resource', () => on('', async (page) => {
    await resource(page, 'comments').locator('summary').click()
    expect(await textOf(resource(page, 'comments'))).toMatch(/Missing indexes\s+\(postId\) foreign key: an include or a cascade/)
    await resource(page, 'posts').locator('summary').click()
    const posts = await textOf(resource(page, 'posts'))
    expect(posts).toMatch(/id\s+integer\s+key/)
    expect(posts).toMatch(/notes\s+\S+\s+hidden/)
    expect(posts).toMatch(/organizationId\s+\S+\s+tenant/)
    expect(posts).toMatch(/deletedAt\s+\S+\s+trash/)
    expect(posts).toMatch(/permissions\.create\s+'editor'\s+server\/resources\/posts\.ts:9/)
    expect(posts).toMatch(/comments\s+many →\s+comments/)
    expect(await textOf(resource(page, 'authors'))).toContain('read-only')
    await screenshot(page, 'resources')
    await page.getByLabel('Find a resource').fill('peop')
    expect(await page.locator('details').count()).toBe(1)
  }))

  it('opens the file of a rule in the editor', () => on('', async (page) => {
    const opened: string[] = []
    await page.route('**/__open-in-editor**', (route) => {
      opened.push(new URL(route.request().url()).searchParams.get('file')!)
      return route.fulfill({ status: 200 })
    })
    await resource(page, 'posts').locator('summary').click()
    await page.getByRole('button', { name: 'server/resources/posts.ts:9' }).click()
    await expect.poll(() => opened).toEqual([expect.stringMatching(/^\/.*\/server\/resources\/posts\.ts:9$/)])
    expect(existsSync(opened[0]!.replace(/:9$/, ''))).toBe(true)
  }))

  it('shows what the chosen caller can do, and the rule behind each cell', () => on('#access', async (page) => {
    const update = page.getByRole('button', { name: /^posts update/ })
    await expect.poll(() => textOf(update)).toContain('refused')
    await choose(page, EDITOR)
    await expect.poll(() => textOf(update)).toContain('allowed')
    await update.click()
    const details = page.locator('section', { has: page.getByRole('heading', { name: 'update of posts' }) })
    const text = await textOf(details)
    expect(text).toContain('posts.authorization.permissions.update')
    expect(text).toMatch(/server\/resources\/posts\.ts:10/)
    expect(text).toMatch(/Requires\s+'editor'/)
    expect(text).toMatch(/Has\s+user 1, roles editor, permissions posts:delete, tenant 1/)
    await screenshot(page, 'access')
    // The caller is that of every tab, and stays after a reload.
    await page.reload()
    await expect.poll(() => textOf(update)).toContain('allowed')
  }))

  it('says what is wrong with a caller, and keeps the one before', () => on('#access', async (page) => {
    await page.getByRole('button', { name: /^posts update/ }).waitFor()
    await choose(page, 'editor')
    expect(await textOf(page.getByRole('alert'))).toContain('editor is none of user:…, role:…')
    expect(await page.getByText('What an anonymous caller').isVisible()).toBe(true)
  }))

  it('shows the requests of the app with their statements, and clears them', () => on('#requests', async (page) => {
    await server.request('/api/posts?limit=3')
    await server.request('/api/posts/7', { method: 'PATCH', body: { title: 'New' } })
    await expect.poll(() => cells(page, /\/api\/posts\/7/), { timeout: 10_000 }).toContain('401')
    await page.getByRole('button', { name: '/api/posts?limit=3', exact: true }).click()
    expect(await textOf(page.locator('pre').first())).toMatch(/select .+ from "posts"/)
    await screenshot(page, 'requests')
    await page.getByLabel('Errors only').check()
    expect(await page.getByRole('button', { name: '/api/posts?limit=3', exact: true }).count()).toBe(0)
    expect(await page.getByText(/^\d+ of \d+ requests$/).isVisible()).toBe(true)
    await page.getByRole('button', { name: 'Clear', exact: true }).click()
    await page.getByText('No requests yet.').waitFor()
  }))

  it('explains a request of the list', () => on('#requests', async (page) => {
    await server.request('/api/posts?sort=id')
    await page.getByRole('button', { name: 'Explain GET /api/posts?sort=id' }).click()
    await page.getByRole('heading', { name: 'GET /api/posts?sort=id' }).waitFor()
    expect(new URL(page.url()).hash).toBe('#console')
    // 60 posts: 20 of another organization, 4 in the trash, and 10 drafts.
    expect(await cells(page, /^tenant/)).toEqual(expect.arrayContaining(['20', '40']))
    expect(await cells(page, /^trash/)).toEqual(expect.arrayContaining(['4', '36']))
    expect(await cells(page, /^listFilter/)).toEqual(expect.arrayContaining(['10', '26']))
    expect(await cells(page, /^visible/)).toContain('26')
    expect(await textOf(page.locator('pre').first())).toMatch(/select .+ from "posts"/)
    await screenshot(page, 'console')
  }))

  it('explains a refusal, and what a write would do without doing it', () => on('#console', async (page) => {
    await explain(page, 'DELETE', '/api/posts/2')
    const article = page.getByRole('article')
    await expect.poll(() => textOf(article)).toMatch(/401\s+UNAUTHENTICATED/)
    expect(await textOf(article)).toContain('posts.authorization.permissions.delete')
    await choose(page, EDITOR)
    await explain(page, 'POST', '/api/posts', { title: 'Planned', authorId: 1 })
    await expect.poll(() => textOf(article)).toMatch(/POST \/api\/posts\s+201/)
    expect(await textOf(article)).toContain('dry run: nothing has changed')
    await screenshot(page, 'write')
    const { body } = await server.request('/api/posts?filter[title]=Planned')
    expect(body.data).toEqual([])
  }))

  it('shows the message of an error', () => on('#console', async (page) => {
    await explain(page, 'GET', '/nowhere')
    await expect.poll(() => textOf(page.getByRole('alert'))).toContain('The path has to begin with /api/.')
    await screenshot(page, 'error')
    await page.getByLabel('Method').selectOption('POST')
    await page.getByLabel('Body (JSON)').fill('{')
    await page.getByRole('button', { name: 'Explain' }).click()
    expect(await page.getByText('The body is not JSON.').isVisible()).toBe(true)
  }))

  describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
    it.each(['#resources', '#access', '#requests', '#console'])('has nothing that axe finds wrong, and fits a phone: %s', hash =>
      on(hash, async (page) => {
        await page.emulateMedia({ colorScheme })
        await server.request('/api/people')
        await server.request('/api/posts')
        await choose(page, EDITOR)
        if (hash === '#resources') for (const summary of await page.locator('summary').all()) await summary.click()
        if (hash === '#access') await page.getByRole('button', { name: /^people delete/ }).click()
        if (hash === '#requests') await page.getByRole('button', { name: '/api/posts', exact: true }).first().click()
        if (hash === '#console') {
          await explain(page, 'PATCH', '/api/posts/2', { title: 'New' })
          await page.getByRole('article').waitFor()
        }
        const background = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
        expect(background).toBe(colorScheme === 'dark' ? 'rgb(21, 21, 21)' : 'rgb(255, 255, 255)')
        expect(await findViolations(page)).toEqual([])
        await page.setViewportSize({ width: 390, height: 800 })
        expect(await overflowOf(page)).toBe(0)
        expect(await findViolations(page)).toEqual([])
      }))
  })

  it('follows the theme of Nuxt DevTools in its frame', () => on('', async (page) => {
    await page.emulateMedia({ colorScheme: 'dark' })
    const url = page.url()
    await page.goto(`${server.url}/api/posts`)
    await page.setContent(`<iframe src="${url}"></iframe>`)
    const frame = page.frameLocator('iframe')
    await frame.getByRole('heading', { name: 'Auto API' }).waitFor()
    const background = () => frame.locator('html').evaluate(html => getComputedStyle(html).backgroundColor)
    expect(await background()).toBe('rgb(255, 255, 255)')
    await frame.locator('html').evaluate(html => html.classList.add('dark', 'light'))
    expect(await background()).toBe('rgb(21, 21, 21)')
  }))
})
