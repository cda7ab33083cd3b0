/** Lists of the admin with the keyboard, their menus and what they remember, in a browser on the built playground. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { isReachable, CHROMIUM } from '../../support/services'
import { launch, load, type Visit } from '../newsroom/browser'
import { ADMIN, EDITOR } from '../newsroom/callers'
import { startNewsroom, type Newsroom } from '../newsroom/server'
import { expectAccessible, overflowOf, screenshot, toast, withPage } from './admin-page'

const folder = mkdtempSync(join(tmpdir(), 'admin-keyboard-'))
const there = await isReachable(CHROMIUM)
let newsroom: Newsroom
let browser: Browser

describe.runIf(there)('a list of the admin', { concurrent: true }, () => {
  beforeAll(async () => {
    newsroom = await startNewsroom(join(folder, 'keyboard.sqlite'))
    browser = await launch()
  })

  afterAll(async () => {
    await browser?.close()
    await newsroom?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const on = (path: string, test: (visit: Visit) => Promise<void>, options = {}) =>
    withPage(browser, newsroom.url + path, { as: EDITOR, ...options }, test)
  const post = async (title: string, values = {}): Promise<number> => (await newsroom.request('/api/posts', {
    method: 'POST', as: ADMIN, body: { title, slug: title.toLowerCase().replaceAll(' ', '-'), body: 'Text.', ...values },
  })).body.id

  const focused = (page: Page) =>
    page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent?.trim())
  const titles = (page: Page) => page.locator('tbody td.aa-title').allTextContents().then(texts => texts.map(text => text.trim()))
  const locationOf = (page: Page) => new URL(page.url())
  const views = (page: Page) => page.getByRole('navigation', { name: 'Views' })
  const names = async (page: Page) =>
    (await views(page).getByRole('link').allTextContents()).map(text => text.trim().replace(/\s.?\d.*$/, ''))
  const press = async (page: Page, ...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }

  it('moves, selects and opens with the keyboard', async ({ expect }) => {
    const ids = [await post('Keys one'), await post('Keys two'), await post('Keys three')]
    await on('/admin/posts?q=keys&sort=id', async ({ page }) => {
      await press(page, 'j')
      expect(await focused(page)).toBe('Keys one')
      await press(page, 'j', 'j', 'j')
      expect(await focused(page)).toBe('Keys three')
      await press(page, 'k')
      expect(await focused(page)).toBe('Keys two')
      await expectAccessible(page)
      await screenshot(page, 'cursor')
      await press(page, 'ArrowUp')
      expect(await focused(page)).toBe('Keys one')
      await press(page, 'x', 'j', 'x')
      await page.getByText('2 selected').waitFor()
      expect(await focused(page)).toBe('Keys two')
      await expectAccessible(page)
      await screenshot(page, 'selected')
      await press(page, 'x')
      await page.getByText('1 selected').waitFor()
      await press(page, 'Escape')
      await expect.poll(() => page.getByText('1 selected').count()).toBe(0)

      await press(page, 'Enter')
      await page.getByRole('dialog').getByLabel('Title').waitFor()
      expect(locationOf(page).searchParams.get('open')).toBe(String(ids[1]))
      // The keys of the list are off while something lies over it.
      await press(page, 'n', 'e', 'j')
      expect(locationOf(page).pathname).toBe('/admin/posts')
      await press(page, 'Escape')
      await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
      await expect.poll(() => focused(page)).toBe('Keys two')
      expect(locationOf(page).searchParams.has('open')).toBe(false)

      await press(page, 'e')
      await page.waitForURL(`**/admin/posts/${ids[1]}`)
      await page.goBack()
      await expect.poll(() => titles(page)).toHaveLength(3)
    })
  })

  it('has keys for the search, a new record and the help, but not while a person types', async ({ expect }) => {
    await on('/admin/posts', async ({ page }) => {
      await press(page, '/')
      expect(await focused(page)).toBe('Search posts')
      await page.keyboard.type('nex?')
      expect(await page.getByRole('searchbox').inputValue()).toBe('nex?')
      await expect.poll(() => locationOf(page).searchParams.get('q')).toBe('nex?')
      expect([locationOf(page).pathname, await page.getByRole('dialog').count()]).toEqual(['/admin/posts', 0])
      await page.getByRole('heading', { level: 1 }).focus()

      await press(page, '?')
      const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
      await help.getByText('Next row').waitFor()
      await expectAccessible(page)
      await screenshot(page, 'keys')
      await press(page, 'Escape')
      await help.waitFor({ state: 'detached' })
      await expect.poll(() => focused(page)).toBe('Posts')

      await press(page, 'Control+n', 'Alt+n')
      expect(locationOf(page).pathname).toBe('/admin/posts')
      await press(page, 'n')
      await page.waitForURL('**/admin/posts/new')
    })
  })

  it('does nothing on single keys once a person has turned them off', async ({ expect }) => {
    await on('/admin/posts', async ({ page }) => {
      await page.getByRole('button', { name: 'Keyboard shortcuts' }).click()
      await page.getByRole('switch', { name: 'Use keys without a modifier' }).click()
      await press(page, 'Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await page.getByRole('heading', { level: 1 }).focus()
      await press(page, 'n', '?', 'j')
      await page.waitForTimeout(200)
      expect([locationOf(page).pathname, await page.getByRole('dialog').count(), await focused(page)]).toEqual(['/admin/posts', 0, 'Posts'])
    })
  })

  it('has one menu with the actions of each row', async ({ expect }) => {
    const id = await post('Menu of a row')
    await on('/admin/posts?q=menu+of+a+row', async ({ page }) => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      const button = page.getByRole('button', { name: 'Actions for Menu of a row' })
      const entries = page.getByRole('menuitem')
      await button.press('Enter')
      await expect.poll(() => entries.allTextContents()).toEqual(['Open as a page', 'Copy link', 'Duplicate', 'Delete'])
      // An open menu hides the rest of the page from screen readers.
      expect(await page.locator('[aria-label="Actions for Menu of a row"]').getAttribute('aria-expanded')).toBe('true')
      await screenshot(page, 'row-menu')
      await press(page, 'Escape')
      await expect.poll(() => focused(page)).toBe('Actions for Menu of a row')

      await button.press('Enter')
      await entries.filter({ hasText: 'Copy link' }).press('Enter')
      await toast(page, 'The link is copied.')
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${newsroom.url}/admin/posts/${id}`)

      await button.press('Enter')
      await entries.filter({ hasText: 'Delete' }).click()
      await page.getByRole('dialog', { name: 'Delete Menu of a row?' }).waitFor()
      await press(page, 'Escape')
      await expect.poll(() => focused(page)).toBe('Actions for Menu of a row')

      await button.press('Enter')
      await entries.filter({ hasText: 'Duplicate' }).click()
      await page.waitForURL(`**/admin/posts/new?from=${id}`)
    })
  })

  it('filters by several values of a field from its menu', async ({ expect }) => {
    await post('Quick draft')
    await post('Quick archived', { status: 'archived' })
    await post('Quick published', { status: 'published', featured: true })
    await on('/admin/posts?q=quick&sort=id', async ({ page }) => {
      const filters = () => locationOf(page).searchParams.getAll('filter')
      await page.getByRole('button', { name: 'Status', exact: true }).first().click()
      await page.getByRole('menuitemcheckbox', { name: 'Archived' }).click()
      await expect.poll(() => titles(page)).toEqual(['Quick archived'])
      await page.getByRole('menuitemcheckbox', { name: 'Draft' }).click()
      await expect.poll(() => titles(page)).toEqual(['Quick draft', 'Quick archived'])
      expect(filters()).toEqual(['status:$in:draft,archived'])
      await screenshot(page, 'quick-filter')
      await press(page, 'Escape')
      await expect.poll(() => focused(page)).toBe('Status: Draft, Archived')
      expect(await page.getByRole('button', { name: /^Remove the filter/ }).count()).toBe(0)

      await page.getByRole('button', { name: 'Featured', exact: true }).first().click()
      await page.getByRole('menuitemcheckbox', { name: 'Yes' }).click()
      await expect.poll(filters).toEqual(['status:$in:draft,archived', 'featured:$eq:true'])
      await page.getByText('No record matches').waitFor()
      await screenshot(page, 'no-match')
      await page.reload()
      await page.getByRole('button', { name: 'Featured: Yes' }).waitFor()
      await page.getByRole('button', { name: 'Remove all filters' }).click()
      await expect.poll(() => titles(page)).toHaveLength(3)
    })
  })

  it('shows saved views as tabs, which move, have numbers, and return after their removal', { timeout: 120_000 }, async ({ expect }) => {
    await on('/admin/comments', async ({ page }) => {
      const save = async (status: string, name: string) => {
        await page.goto(`${newsroom.url}/admin/comments?filter=status:$in:${status}`)
        await page.getByRole('button', { name: 'Save view' }).click()
        await page.getByLabel('Name of the view').fill(name)
        await press(page, 'Enter')
        await views(page).getByRole('link', { name }).waitFor()
        await page.getByRole('dialog').waitFor({ state: 'detached' })
      }
      expect(await views(page).count()).toBe(0)
      await save('pending', 'To check')
      await save('rejected', 'Refused')
      expect(await names(page)).toEqual(['All', 'To check', 'Refused'])
      expect(await page.getByRole('button', { name: 'Save view' }).count()).toBe(0)
      const { total } = newsroom.rows<{ total: number }>(
        'select count(*) as total from comments where organization_id = 1 and status = \'rejected\' and deleted_at is null',
      )[0]!
      await expect.poll(() => views(page).getByRole('link', { name: 'Refused' }).textContent()).toMatch(new RegExp(`Refused\\s+${total}$`))
      await expectAccessible(page)
      await screenshot(page, 'tabs')

      const menu = page.getByRole('button', { name: 'Actions for the view Refused' })
      await menu.press('Enter')
      await page.getByRole('menuitem', { name: 'Move left' }).press('Enter')
      await expect.poll(() => names(page)).toEqual(['All', 'Refused', 'To check'])
      await expect.poll(() => focused(page)).toBe('Actions for the view Refused')
      await page.getByText('Refused is now at place 1 of 2.').waitFor({ state: 'attached' })
      await views(page).getByRole('link', { name: 'Refused' }).dragTo(views(page).getByRole('link', { name: 'To check' }))
      await expect.poll(() => names(page)).toEqual(['All', 'To check', 'Refused'])
      await page.reload()
      expect(await views(page).count()).toBe(1)
      await expect.poll(() => names(page)).toEqual(['All', 'To check', 'Refused'])

      await menu.click()
      await page.getByRole('menuitem', { name: 'Rename' }).click()
      await page.getByLabel('Name of the view').fill('Rejected')
      await press(page, 'Enter')
      await expect.poll(() => names(page)).toEqual(['All', 'To check', 'Rejected'])
      await page.getByRole('button', { name: 'Actions for the view Rejected' }).click()
      await page.getByRole('menuitem', { name: 'Remove' }).click()
      await toast(page, 'The view “Rejected” is removed.')
      await expect.poll(() => names(page)).toEqual(['All', 'To check'])
      await page.getByRole('button', { name: 'Undo' }).first().click()
      await expect.poll(() => names(page)).toEqual(['All', 'To check', 'Rejected'])
      await views(page).getByRole('link', { name: 'All' }).click()
      await expect.poll(() => locationOf(page).search).toBe('')
    })
  })

  it('remembers its density and the widths of its columns, and its head stays', async ({ expect }) => {
    await on('/admin/posts', async ({ page }) => {
      const height = () => page.locator('tbody tr').first().evaluate(row => row.getBoundingClientRect().height)
      const header = page.getByRole('columnheader', { name: 'Status' })
      const width = () => header.evaluate(cell => Math.round(cell.getBoundingClientRect().width))
      const before = await height()
      await page.getByRole('button', { name: 'Display' }).click()
      await page.getByRole('menuitemcheckbox', { name: 'Compact' }).click()
      await screenshot(page, 'display')
      await press(page, 'Escape')
      await page.getByRole('menu').waitFor({ state: 'detached' })
      await expect.poll(height).toBeLessThan(before)
      const wide = await width()
      const handle = page.getByRole('separator', { name: 'Width of the column Status' })
      await handle.press('ArrowRight')
      await press(page, 'ArrowRight')
      await expect.poll(width).toBe(wide + 32)
      await load(page, page.url())
      expect([await height() < before, await width()]).toEqual([true, wide + 32])
      expect(await overflowOf(page)).toBe(0)

      const box = (await handle.boundingBox())!
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
      await page.mouse.down()
      await page.mouse.move(box.x + box.width / 2 + 50, box.y + 4, { steps: 4 })
      await page.mouse.up()
      await expect.poll(width).toBe(wide + 82)
      await handle.press('Enter')
      await expect.poll(width).toBe(wide)

      await page.setViewportSize({ width: 1440, height: 500 })
      await page.mouse.move(700, 300)
      await page.mouse.wheel(0, 400)
      await expect.poll(() => page.evaluate(() => scrollY)).toBeGreaterThan(200)
      expect(await header.evaluate(cell => cell.getBoundingClientRect().top)).toBe(0)
      await screenshot(page, 'head')
    })
  })

  it('is a list of cards on a phone, with the actions of the selection below', async ({ expect }) => {
    await on('/admin/posts', async ({ page }) => {
      await page.getByRole('checkbox', { name: /^Select / }).nth(1).click()
      const bar = page.getByRole('group', { name: '1 selected' })
      const box = (await bar.boundingBox())!
      expect(box.y + box.height).toBeGreaterThan(740)
      await bar.getByRole('button', { name: 'Select all on this page' }).click()
      await page.getByText('20 selected').waitFor()
      expect(await page.locator('tbody td.aa-empty:visible').count()).toBe(0)
      await page.getByRole('button', { name: /^Actions for / }).first().click()
      await page.getByRole('menuitem', { name: 'Duplicate' }).waitFor()
      await press(page, 'Escape')
      await page.getByRole('button', { name: 'Add filter' }).click()
      await page.getByRole('dialog', { name: 'Add filter' }).getByLabel('Field').waitFor()
      await expectAccessible(page)
      expect(await overflowOf(page)).toBe(0)
    }, { viewport: { width: 390, height: 844 } })
  })

  it('finds records from the command menu', async ({ expect }) => {
    const id = await post('Palette of a painter')
    await on('/admin', async ({ page, requests }) => {
      await press(page, 'Control+k')
      await page.getByPlaceholder('Type the name of a page, a resource or a record').waitFor()
      requests.length = 0
      await page.keyboard.type('palette of')
      await page.getByRole('group', { name: 'Posts' }).getByRole('option', { name: 'Palette of a painter' }).waitFor()
      await expectAccessible(page)
      await screenshot(page, 'palette')
      const lists = requests.filter(request => request.includes('palette'))
      const paths = new Set(lists.map(request => request.split('?')[0]))
      expect([paths.has('GET /api/posts'), lists.length <= 4, paths.size]).toEqual([true, true, lists.length])
      await press(page, 'Enter')
      await page.waitForURL(`**/admin/posts/${id}`)

      await press(page, 'Control+k')
      await page.getByRole('option').first().waitFor()
      await page.keyboard.type('shortcuts')
      await press(page, 'Enter')
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    })
  })
})
