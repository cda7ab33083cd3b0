/** The widgets of a form, lists with cursors, and the texts of the app, in an app with the API and the admin under other prefixes. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isReachable, CHROMIUM } from '../../support/services'
import { launch, load, wrongIds } from '../newsroom/browser'
import { buildFixture } from '../support/build'
import { startServer, type Server } from '../support/server'
import { expectAccessible } from './admin-page'

const there = await isReachable(CHROMIUM)
const WRITER = JSON.stringify({ user: { id: 1 }, permissions: ['writer', 'payroll-clerk'] })
let server: Server
let browser: Browser

describe.runIf(there)('the admin of an app', () => {
  beforeAll(async () => {
    server = await startServer(await buildFixture('admin'))
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.stop()
  })

  async function on(path: string, test: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ extraHTTPHeaders: { 'x-caller': WRITER } })
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', message => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()))
    page.on('pageerror', error => complaints.push(error.message))
    await load(page, `${server.url}/back-office${path}`)
    await test(page)
    expect(complaints).toEqual([])
    await context.close()
  }
  /** Types a date part by part, in the order of the language. */
  async function typeDate(page: Page, label: string, keys: string): Promise<void> {
    await page.getByRole('group', { name: label, exact: true }).getByRole('spinbutton').first().focus()
    await page.keyboard.type(keys)
  }
  const sample = async (id: string) => (await server.request(`/service/v1/samples/${id}`, { headers: { 'x-caller': WRITER } })).body

  it('edits each kind of field with its widget', async () => {
    await on('/samples/new', async (page) => {
      expect(await wrongIds(page)).toEqual([])
      const types = Object.fromEntries(await page.locator('main form input').evaluateAll(inputs =>
        (inputs as HTMLInputElement[]).map(({ name, type }) => [name, type])))
      expect(types).toMatchObject({ day: 'date', at: 'datetime-local', color: 'color', site: 'url', contact: 'email' })
      await page.getByText('Shown in the shop.').waitFor()
      await page.getByLabel('Title of the sample').fill('Every widget')
      await page.getByLabel('Notes').fill('First line\nSecond line')
      await page.getByLabel('Price').fill('2.5')
      await page.getByLabel('Active').click()
      await page.getByLabel('Kind').click()
      await page.getByRole('option', { name: 'large' }).click()
      await typeDate(page, 'Day', '02282026')
      await typeDate(page, 'At', '022820261230PM')
      await page.getByText('No color').waitFor()
      await page.getByLabel('Color', { exact: true }).fill('#112233')
      await page.getByRole('button', { name: 'Remove the value of color' }).click()
      await page.getByText('No color').waitFor()
      await page.getByLabel('Color', { exact: true }).fill('#336699')
      await page.getByLabel('Site').fill('https://example.com')
      await page.getByLabel('Contact').fill('ada@example.com')
      await page.getByLabel('Data').fill('{ "a": [1 }')
      await page.getByText('This is not valid JSON. See line 1, column 11.').waitFor()
      await page.getByLabel('Data').fill('{ "a": [1] }')
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await page.getByRole('heading', { name: 'Every widget' }).waitFor()
      const id = new URL(page.url()).pathname.split('/').at(-1)!
      const expected = {
        name: 'Every widget',
        notes: 'First line\nSecond line',
        price: 2.5,
        active: true,
        kind: 'large',
        day: '2026-02-28',
        data: { a: [1] },
        at: await page.evaluate(() => new Date('2026-02-28T12:30:00').toISOString()),
        color: '#336699',
        site: 'https://example.com',
        contact: 'ada@example.com',
      }
      expect(await sample(id)).toMatchObject(expected)
      // The form shows what it has written, and changes nothing else.
      await page.getByLabel('Notes').fill('')
      await page.getByRole('button', { name: 'Save' }).click()
      await expect.poll(async () => (await sample(id)).notes).toBe(null)
      expect(await sample(id)).toMatchObject({ ...expected, notes: null })
    })
  })

  it('goes through a list with cursors', async () => {
    await on('/samples', async (page) => {
      const first = await page.locator('tbody .aa-title').allTextContents()
      expect(await page.getByRole('button', { name: 'First page' }).count()).toBe(0)
      await page.getByRole('button', { name: 'Next page' }).click()
      await expect.poll(() => new URL(page.url()).searchParams.has('cursor')).toBe(true)
      await expect.poll(() => page.locator('tbody .aa-title').allTextContents()).not.toEqual(first)
      const second = await page.locator('tbody .aa-title').allTextContents()
      expect(second.filter(name => first.includes(name))).toEqual([])
      // The address of a page shows the same page to the next reader.
      await page.reload()
      await expect.poll(() => page.locator('tbody .aa-title').allTextContents()).toEqual(second)
      await page.getByRole('button', { name: 'First page' }).click()
      await expect.poll(() => page.locator('tbody .aa-title').allTextContents()).toEqual(first)
    })
  })

  it('has the icons of its own pages, which it does not request', async () => {
    const context = await browser.newContext({ extraHTTPHeaders: { 'x-caller': WRITER } })
    const page = await context.newPage()
    const requested: string[] = []
    page.on('request', request => request.url().includes('/_icons/') && requested.push(request.url()))
    // After a navigation in the browser, the server has rendered none of them.
    await load(page, server.url)
    await page.evaluate(() =>
      (window as never as { useNuxtApp: () => { $router: { push: (path: string) => unknown } } })
        .useNuxtApp()
        .$router.push('/back-office/new'),
    )
    await page.getByRole('button', { name: 'Actions for A slash' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('listitem').first().waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByRole('option').first().waitFor()
    const empty = await page
      .locator('.iconify')
      .evaluateAll(icons => icons.filter(icon => getComputedStyle(icon).maskImage === 'none').map(icon => icon.className))
    expect([requested, empty]).toEqual([[], []])
    await context.close()
  })

  it('shows the texts of the app', async () => {
    await on('/trash', async (page) => {
      await page.getByRole('link', { name: 'Back to the newsroom' }).waitFor()
      await page.getByText('Nothing here yet').waitFor()
      expect(await page.getByText('There are no records yet').count()).toBe(0)
    })
  })
})
