/** Lists of the admin in a browser, on the built playground: numbers of related records, and filters with alternatives. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { isReachable, CHROMIUM } from '../../support/services'
import { launch, pick, type Visit } from '../newsroom/browser'
import { ADMIN, EDITOR } from '../newsroom/callers'
import { startNewsroom, type Newsroom } from '../newsroom/server'
import { expectAccessible, overflowOf, screenshot, toast, withPage } from './admin-page'

const folder = mkdtempSync(join(tmpdir(), 'admin-lists-'))
const there = await isReachable(CHROMIUM)
let newsroom: Newsroom
let browser: Browser

describe.runIf(there)('a list of the admin', { concurrent: true }, () => {
  beforeAll(async () => {
    newsroom = await startNewsroom(join(folder, 'lists.sqlite'))
    browser = await launch()
  })

  afterAll(async () => {
    await browser?.close()
    await newsroom?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const on = (path: string, test: (visit: Visit) => Promise<void>) => withPage(browser, newsroom.url + path, { as: EDITOR }, test)
  const create = async (resource: string, body: object): Promise<number> =>
    (await newsroom.request(`/api/${resource}`, { method: 'POST', as: ADMIN, body })).body.id
  const post = (title: string, values = {}) =>
    create('posts', { title, slug: title.toLowerCase().replaceAll(' ', '-'), body: 'Text.', ...values })

  const titles = (page: Page) => page.locator('tbody td.aa-title').allTextContents().then(texts => texts.map(text => text.trim()))
  const headers = async (page: Page) => (await page.getByRole('columnheader').allTextContents()).map(text => text.trim())
  const searchOf = (page: Page) => new URL(page.url()).searchParams

  it('names the records that a related record points to, with one request', async ({ expect }) => {
    const id = await post('Related once')
    await create('comments', { postId: id, body: 'By a user', status: 'approved', authorId: EDITOR })
    const [editor] = newsroom.rows<{ name: string }>('select name from users where id = ?', EDITOR)
    await on(`/admin/posts/${id}`, async ({ page, requests }) => {
      requests.length = 0
      await page.getByRole('link', { name: /^Comments/ }).last().click()
      await page.getByRole('cell', { name: editor!.name, exact: true }).waitFor()
      expect(new Set(requests.filter(request => /comments|users/.test(request))).size).toBe(1)
    })
  })

  describe('with numbers of related records', () => {
    /** The texts of the last column with comments. The one before it has a field of the playground. */
    async function numbers(page: Page) {
      const index = (await headers(page)).findLastIndex(text => text.startsWith('Comments'))
      return page.locator(`tbody td:nth-child(${index + 1})`).allTextContents().then(texts => texts.map(text => text.trim()))
    }
    const toggle = async (page: Page, column: string, look = () => Promise.resolve()) => {
      await page.getByRole('button', { name: 'Display' }).click()
      await page.getByRole('menuitemcheckbox', { name: column, exact: true }).click()
      await look()
      await page.keyboard.press('Escape')
      await page.getByRole('menu').waitFor({ state: 'detached' })
    }

    it('requests, shows and sorts them once a person has chosen their column', async ({ expect }) => {
      const ids = [await post('Counted twice'), await post('Counted never'), await post('Counted once')]
      for (const postId of [ids[0], ids[0], ids[2]]) await create('comments', { postId, body: 'A comment', status: 'approved' })
      await on('/admin/posts?q=counted&sort=id', async ({ page, requests }) => {
        const lists = () => requests.filter(request => request.startsWith('GET /api/posts?'))
        await toggle(page, 'Number of comments', () => screenshot(page, 'count-menu'))
        await expect.poll(() => numbers(page)).toEqual(['2', '0', '1'])
        const counted = lists().map(request => new URLSearchParams(request.split('?')[1]).get('counts'))
        // A live update can request the list once more.
        expect([counted.at(-1), new Set(counted.slice(counted.indexOf('comments'))).size]).toEqual(['comments', 1])
        const header = page.getByRole('columnheader', { name: 'Comments' }).last()
        expect(await header.evaluate(element => getComputedStyle(element).textAlign)).toBe('right')

        await header.getByRole('button').press('Enter')
        await expect.poll(() => titles(page)).toEqual(['Counted never', 'Counted once', 'Counted twice'])
        expect([searchOf(page).get('sort'), await header.getAttribute('aria-sort')]).toEqual(['comments.$count', 'ascending'])
        await header.getByRole('button').press('Enter')
        await expect.poll(() => numbers(page)).toEqual(['2', '1', '0'])
        expect([searchOf(page).get('sort'), await header.getAttribute('aria-sort')]).toEqual(['-comments.$count', 'descending'])
        await expectAccessible(page)
        await screenshot(page, 'count-column')

        // The server renders the same table.
        await page.reload()
        expect([await numbers(page), await titles(page)]).toEqual([['2', '1', '0'], ['Counted twice', 'Counted once', 'Counted never']])
        await toggle(page, 'Number of comments')
        await expect.poll(() => headers(page)).not.toContain('Comments ↓')
        await expect.poll(() => lists().at(-1)).not.toContain('counts')
        expect(await titles(page)).toEqual(['Counted twice', 'Counted once', 'Counted never'])
      })
    })

    it('leads to the related records from their number', async ({ expect }) => {
      const id = await post('Linked number')
      for (const body of ['First of two', 'Second of two']) await create('comments', { postId: id, body, status: 'approved' })
      await post('Linked nothing')
      await on('/admin/posts?q=linked+n', async ({ page }) => {
        await toggle(page, 'Number of comments')
        await toggle(page, 'Number of tags')
        await page.getByRole('columnheader', { name: 'Tags' }).waitFor()
        expect(await page.getByRole('link', { name: /^(?:Comments|Tags): / }).count()).toBe(1)
        await page.getByRole('link', { name: 'Comments: 2', exact: true }).press('Enter')
        await page.getByRole('button', { name: 'Remove the filter Post is Linked number' }).waitFor()
        expect(searchOf(page).getAll('filter')).toEqual([`postId:$eq:${id}`])
        await expect.poll(() => titles(page)).toHaveLength(2)
      })
    })

    it('keeps them in a saved view', async ({ expect }) => {
      await on('/admin/posts?sort=-comments.$count', async ({ page }) => {
        await toggle(page, 'Number of comments')
        await expect.poll(() => headers(page)).toContain('Comments ↓')
        await page.getByRole('button', { name: 'Save view' }).click()
        await page.getByLabel('Name of the view').fill('Most discussed')
        await page.keyboard.press('Enter')
        await toast(page, 'The view “Most discussed” is saved in this browser.')
        await page.getByRole('button', { name: 'Display' }).click()
        await page.getByRole('menuitem', { name: 'Show the default columns' }).click()
        await expect.poll(() => headers(page)).not.toContain('Comments ↓')
        await page.goto(`${newsroom.url}/admin/posts`)
        await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Most discussed' }).click()
        await expect.poll(() => headers(page)).toContain('Comments ↓')
        expect(searchOf(page).get('sort')).toBe('-comments.$count')
      })
    })
  })

  describe('with alternatives in its filter', () => {
    it('shows the records that meet one of them, until the group is removed', async ({ expect }) => {
      await post('Union draft')
      await post('Union featured', { status: 'published', featured: true })
      await post('Union archived', { status: 'archived' })
      await on('/admin/posts?q=union&sort=title', async ({ page }) => {
        const form = page.getByRole('dialog')
        const fill = async (field: string, value: string) => {
          await pick(page, 'Field', field)
          await pick(page, 'Value', value)
          await form.getByRole('button', { name: 'Apply' }).click()
        }
        const chip = (label: string) => page.getByRole('button', { name: `Remove the filter ${label}`, exact: true })
        await page.getByRole('button', { name: 'Add filter' }).click()
        await fill('Status', 'Draft')
        await expect.poll(() => titles(page)).toEqual(['Union draft'])
        await page.getByRole('button', { name: 'or Add an alternative' }).press('Enter')
        await pick(page, 'Field', 'Featured')
        await screenshot(page, 'alternative-form')
        await expectAccessible(page)
        await fill('Featured', 'Yes')
        await expect.poll(() => titles(page)).toEqual(['Union draft', 'Union featured'])
        expect(searchOf(page).getAll('filter')).toEqual(['status:$eq:draft', 'or:featured:$eq:true'])
        // Another condition is one beside the group.
        await page.getByRole('button', { name: 'Add filter' }).click()
        await fill('Status', 'Published')
        await expect.poll(() => titles(page)).toEqual(['Union featured'])
        // The menu of the field shows it, so it has no chip.
        expect(await chip('Status is Published').count()).toBe(0)
        await expectAccessible(page)
        await screenshot(page, 'alternatives')
        expect(await overflowOf(page)).toBe(0)
        await page.getByRole('button', { name: 'Status: Published' }).click()
        await page.getByRole('menuitem', { name: 'Remove this filter' }).click()

        await chip('Status is Draft').click()
        await expect.poll(() => titles(page)).toEqual(['Union featured'])
        expect(searchOf(page).getAll('filter')).toEqual(['featured:$eq:true'])
        await page.getByRole('button', { name: 'Featured: Yes' }).click()
        await page.getByRole('menuitemcheckbox', { name: 'Yes' }).click()
        await expect.poll(() => titles(page)).toEqual(['Union archived', 'Union draft', 'Union featured'])
        expect(await page.getByRole('button', { name: 'or Add an alternative' }).count()).toBe(0)
      })
    })
  })
})
