/** Forms and tables in a browser: with the inputs of the browser, and with Nuxt UI. */
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHROMIUM, isReachable } from '../support/services'
import { launch, visit, type Visit } from './newsroom/browser'
import { buildFixture } from './support/build'
import { startServer, type Server } from './support/server'

const there = await isReachable(CHROMIUM)
let server: Server
let browser: Browser

describe.runIf(there)('in a browser', () => {
  beforeAll(async () => {
    server = await startServer(await buildFixture('forms'))
    browser = await launch()
  })

  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  /** Opens a page, closes it after the test and expects no error or warning of the page. */
  async function on(path: string, test: (visit: Visit) => Promise<void>): Promise<void> {
    const opened = await visit(browser, server.url + path)
    try {
      await test(opened)
      // The fixture has no icons, because they would come from the internet. Refused writes are logged.
      expect(opened.complaints.filter(text => !/status of 4\d\d|^\[Icon\]/.test(text))).toEqual([])
    }
    finally {
      await opened.close()
    }
  }

  /** To look at a page: SHOTS names a folder. */
  async function screenshot(page: Page, name: string) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1280, 390]) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 800 })
        // Nothing is wider than the page.
        expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true)
        if (process.env.SHOTS)
          await page.screenshot({ path: join(process.env.SHOTS, `${name}-${colorScheme}-${width}.png`), animations: 'disabled' })
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 })
  }

  const create = async (title: string) => (await server.request('/api/articles', { method: 'POST', body: { title } })).body.id as number
  const titleOf = async (id: number) => (await server.request(`/api/articles/${id}`)).body.title as string
  const rename = (id: number, title: string) => server.request(`/api/articles/${id}`, { method: 'PATCH', body: { title } })

  describe('a plain form', () => {
    it('is rendered with the values of the record, which the browser does not request again', async () => {
      const id = await create('Rendered on the server')
      expect((await server.request(`/plain-form?id=${id}`)).body).toContain('value="Rendered on the server"')
      await on(`/plain-form?id=${id}`, async ({ requests, page }) => {
        expect(await page.inputValue('[name=title]')).toBe('Rendered on the server')
        expect(requests).toEqual([])
      })
    })

    it('shows the issues of the browser and of the server, and sends what has changed', async () => {
      const id = await create('A quiet title')
      await on(`/plain-form?id=${id}`, async ({ page, requests }) => {
        const save = page.getByRole('button', { name: 'Save' })
        expect(await save.isDisabled()).toBe(true)
        await page.fill('[name=title]', 'x')
        await page.fill('[name=words]', '-1')
        await save.click()
        expect(await page.locator('em').allTextContents()).toEqual(['At least 3 characters', 'At least 0'])
        expect(requests).toEqual([])
        await page.fill('[name=words]', '7')
        await page.fill('[name=title]', 'A LOUD TITLE')
        await save.click()
        await page.getByText('Do not shout').waitFor()
        await page.fill('[name=title]', 'A new title')
        const sent = page.waitForRequest(request => request.method() === 'PATCH')
        await save.click()
        expect((await sent).postDataJSON()).toEqual({ title: 'A new title', words: 7 })
        await expect.poll(() => save.isDisabled()).toBe(true)
        expect(await page.locator('em').count()).toBe(0)
      })
      expect(await titleOf(id)).toBe('A new title')
    })

    it.each([['Keep my changes', 'Mine'], ['Take theirs', 'Theirs']])('shows a conflict, and solves it: %s', async (button, title) => {
      const id = await create('Before')
      await on(`/plain-form?id=${id}`, async ({ page }) => {
        await page.fill('[name=title]', 'Mine')
        await rename(id, 'Theirs')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Somebody else has saved: Theirs').waitFor()
        await page.getByRole('button', { name: button }).click()
        await expect.poll(() => page.locator('[role=alert]').count()).toBe(0)
        await expect.poll(() => page.inputValue('[name=title]')).toBe(title)
        await expect.poll(() => titleOf(id)).toBe(title)
      })
    })
  })

  describe('a page with Nuxt UI', () => {
    const titles = (page: Page) => page.locator('tbody tr td:first-child').allTextContents()

    it('renders the table on the server, and sorts it there', async () => {
      expect((await server.request('/news-desk')).body).toContain('Tram line 4 reopens')
      await on('/news-desk', async ({ page, requests }) => {
        expect(requests).toEqual([])
        await page.getByRole('button', { name: 'Sort by Words' }).click()
        await expect.poll(() => requests).toEqual([expect.stringMatching(/^GET \/api\/articles\?.*sort=words/)])
        const [first] = (await server.request('/api/articles?sort=words&limit=10')).body.data as { title: string }[]
        await expect.poll(async () => (await titles(page))[0]?.trim()).toBe(first!.title)
        await screenshot(page, 'table')
      })
    })

    it('turns the pages of a list, and begins again with another order and another filter', async () => {
      for (let at = 0; at < 12; at++) await create(`Page ${at}`)
      await on('/article-list', async ({ page }) => {
        const titles = () => page.locator('main li, ul[aria-busy] li').allTextContents()
        const first = await titles()
        expect(first).toHaveLength(10)
        await page.getByRole('button', { name: 'Page 2' }).click()
        await expect.poll(titles).not.toEqual(first)
        await page.getByRole('combobox', { name: 'Sort' }).click()
        await page.getByRole('option', { name: 'By title' }).click()
        const sorted = (await server.request('/api/articles?sort=title&limit=10')).body.data as { title: string }[]
        await expect.poll(async () => (await titles()).map(text => text.trim())).toEqual(sorted.map(({ title }) => title))
        await page.getByRole('combobox', { name: 'Status' }).click()
        await page.getByRole('option', { name: 'archived' }).click()
        await expect.poll(async () => (await titles()).map(text => text.trim())).toEqual(['Old harbour crane sold'])
        await screenshot(page, 'articles')
      })
    })

    it('creates a record after the form has found what is missing', async () => {
      await on('/news-desk', async ({ page, requests }) => {
        await page.getByRole('button', { name: 'New article' }).click()
        await page.locator('input[name=words]').fill('12')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Required').waitFor()
        await screenshot(page, 'form')
        const title = page.locator('input[name=title]')
        await title.fill('THE HARBOUR')
        await title.press('Enter')
        await page.getByText('Do not shout').waitFor()
        await title.fill('The harbour')
        requests.length = 0
        await title.press('Enter')
        await page.getByText('“The harbour” is saved.').first().waitFor()
        await expect.poll(() => titles(page).then(all => all.map(text => text.trim()))).toContain('The harbour')
        // One refetch of the list, and none of the permissions and of the description.
        expect(requests.map(request => request.replace(/\?.*/, '')).sort()).toEqual(['GET /api/articles', 'POST /api/articles'])
      })
    })

    it('shows a conflict in the form', async () => {
      const id = await create('Contested')
      await on('/news-desk', async ({ page }) => {
        await page.getByRole('button', { name: 'Edit Contested' }).first().click()
        await page.locator('input[name=title]').fill('Mine now')
        await rename(id, 'Theirs first')
        await page.getByRole('button', { name: 'Save' }).click()
        await page.getByText('Somebody else has changed the article').waitFor()
        await screenshot(page, 'conflict')
        await page.getByRole('button', { name: 'Keep my changes' }).click()
        await page.getByText('“Mine now” is saved.').first().waitFor()
      })
      expect(await titleOf(id)).toBe('Mine now')
    })
  })
})
