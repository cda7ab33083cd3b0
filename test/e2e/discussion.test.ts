/** A post with its comments in a browser: on a page of the playground and in the admin, saved in one request. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isReachable, CHROMIUM } from '../support/services'
import { expectAccessible, overflowOf, screenshot, withPage } from './admin/admin-page'
import { launch, pick } from './newsroom/browser'
import { EDITOR, WRITER } from './newsroom/callers'
import { startNewsroom, type Newsroom } from './newsroom/server'

const folder = mkdtempSync(join(tmpdir(), 'newsroom-'))
const there = await isReachable(CHROMIUM)
let newsroom: Newsroom
let browser: Browser
let id: number
let count = 0

describe.runIf(there)('a post with its comments', () => {
  beforeAll(async () => {
    newsroom = await startNewsroom(join(folder, 'discussion.sqlite'))
    browser = await launch()
  })

  afterAll(async () => {
    await browser?.close()
    await newsroom?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  beforeEach(async () => {
    const comments = { create: ['First', 'Second', 'Third'].map(body => ({ body })) }
    const post = { title: `Harbour ${++count}`, slug: `harbour-${count}`, body: 'Text', status: 'published', comments }
    const { body } = await newsroom.request('/api/posts', { as: EDITOR, method: 'POST', body: post })
    id = body.id as number
  })

  const stored = (post = id) => newsroom.rows<{ body: string }>(
    'select body from comments where post_id = ? and deleted_at is null order by id', post).map(({ body }) => body)
  const on = (path: string, as: number, test: (page: Page, requests: string[]) => Promise<void>) =>
    withPage(browser, newsroom.url + path, { as }, ({ page, requests }) => test(page, requests))
  const writesOf = (requests: string[]) => requests.filter(request => !request.startsWith('GET'))
  /** The message of the field with this label. */
  const problemOf = async (page: Page, label: string) => {
    const ids = await page.getByLabel(label, { exact: true }).getAttribute('aria-describedby') ?? ''
    return page.evaluate(ids => ids.split(' ').flatMap(id => document.getElementById(id)?.textContent.trim() || []), ids)
  }
  const expectFits = async (page: Page, name: string) => {
    await page.mouse.move(0, 0)
    await screenshot(page, name)
    await expectAccessible(page)
    await page.setViewportSize({ width: 390, height: 800 })
    expect(await overflowOf(page)).toBe(0)
    await expectAccessible(page)
    await page.setViewportSize({ width: 1440, height: 900 })
  }

  describe('on its page', () => {
    const open = (as: number, test: (page: Page, requests: string[]) => Promise<void>) => on(`/discussion?post=${id}`, as, test)

    it('adds, changes and removes comments with one request', async () => {
      await open(EDITOR, async (page, requests) => {
        expect(await page.getByRole('button', { name: 'Save everything' }).isDisabled()).toBe(true)
        await page.getByLabel('Title').fill('The new harbour')
        await page.getByLabel('Comment 1', { exact: true }).fill('First, changed')
        await pick(page, 'Status 3', 'Approved')
        await page.getByRole('button', { name: 'Remove comment 2' }).click()
        await page.getByRole('button', { name: 'Add a comment' }).click()
        await page.keyboard.type('Fourth')
        await expectFits(page, 'discussion')
        requests.length = 0
        await page.getByRole('button', { name: 'Save everything' }).click()
        await page.getByText('“The new harbour” and its comments are saved.').first().waitFor()
        expect(writesOf(requests)).toEqual([`PATCH /api/posts/${id}`])
        expect(stored()).toEqual(['First, changed', 'Third', 'Fourth'])
        expect(await page.getByRole('textbox', { name: /^Comment/ }).evaluateAll(inputs =>
          inputs.map(input => (input as HTMLTextAreaElement).value))).toEqual(['First, changed', 'Third', 'Fourth'])
        expect(newsroom.rows('select status from comments where post_id = ? and body = ?', id, 'Third')).toEqual([{ status: 'approved' }])
        expect(await page.getByRole('button', { name: 'Save everything' }).isDisabled()).toBe(true)
      })
    })

    it('restores a comment that is marked for removal, and keeps the focus', async () => {
      await open(EDITOR, async (page) => {
        await page.getByRole('button', { name: 'Remove comment 1' }).press('Enter')
        const undo = page.getByRole('button', { name: 'Undo the removal of comment 1' })
        expect(await undo.evaluate(button => button === document.activeElement)).toBe(true)
        await undo.press('Enter')
        expect(await page.getByRole('button', { name: 'Remove comment 1' }).evaluate(button => button === document.activeElement)).toBe(true)
        expect(await page.getByRole('button', { name: 'Save everything' }).isDisabled()).toBe(true)
      })
    })

    it('shows an error at the field of the comment, and saves nothing', async () => {
      await open(EDITOR, async (page, requests) => {
        await page.getByLabel('Comment 1', { exact: true }).fill('Changed')
        await page.getByRole('button', { name: 'Add a comment' }).click()
        requests.length = 0
        await page.getByRole('button', { name: 'Save everything' }).click()
        await page.getByText('Required').waitFor()
        expect([await problemOf(page, 'Comment 1'), await problemOf(page, 'Comment 4')]).toEqual([[], ['Required']])
        expect([writesOf(requests), stored()]).toEqual([[], ['First', 'Second', 'Third']])
        await expectFits(page, 'discussion-error')
        await page.getByLabel('Comment 4', { exact: true }).fill('Fourth')
        expect(await page.getByText('Required').count()).toBe(0)
      })
    })

    it('adds a comment again that another user has deleted, if the user keeps its changes', async () => {
      await open(EDITOR, async (page) => {
        const [{ id: second }] = newsroom.rows<{ id: number }>('select id from comments where post_id = ? and body = ?', id, 'Second') as [{ id: number }]
        await newsroom.request(`/api/comments/${second}`, { as: EDITOR, method: 'DELETE' })
        await page.getByLabel('Comment 2', { exact: true }).fill('Second, changed')
        await page.getByRole('button', { name: 'Save everything' }).click()
        await page.getByRole('alert').getByText('Somebody else has changed the post').waitFor()
        expect(stored()).toEqual(['First', 'Third'])
        await page.getByRole('button', { name: 'Keep my changes' }).click()
        await page.getByText('and its comments are saved.').first().waitFor()
        expect(stored()).toEqual(['First', 'Third', 'Second, changed'])
      })
    })

    it('is linked from the post, for callers who can change it', async () => {
      await on(`/articles/${id}`, EDITOR, async (page) => {
        await page.getByRole('link', { name: 'Edit with its comments' }).click()
        await page.getByLabel('Title').waitFor()
        expect(await page.getByLabel('Comment 3', { exact: true }).inputValue()).toBe('Third')
      })
      await open(WRITER, page => page.getByText('This caller cannot change the post').waitFor())
    })
  })

  describe('in the admin', () => {
    const open = (test: (page: Page, requests: string[]) => Promise<void>) => on(`/admin/posts/${id}`, EDITOR, test)
    const section = (page: Page) => page.getByRole('region', { name: 'Comments', exact: true })

    it('is saved with one request', async () => {
      await open(async (page, requests) => {
        await section(page).getByLabel('Body, row 1').fill('First, changed')
        await section(page).getByRole('button', { name: 'Remove row 2 of comments' }).click()
        await section(page).getByRole('button', { name: 'Add a row to comments' }).click()
        await section(page).getByLabel('Body, row 4').fill('Fourth')
        await expectFits(page, 'admin-children')
        requests.length = 0
        await page.getByRole('button', { name: 'Save', exact: true }).click()
        await page.getByText('is saved.').first().waitFor()
        expect(writesOf(requests)).toEqual([`PATCH /api/posts/${id}`])
        expect(stored()).toEqual(['First, changed', 'Third', 'Fourth'])
      })
    })

    it('keeps the focus when a row is removed, restored and added', async () => {
      await open(async (page) => {
        const isFocused = (name: string) => section(page).getByRole('button', { name }).evaluate(button => button === document.activeElement)
        await section(page).getByRole('button', { name: 'Remove row 1 of comments' }).press('Enter')
        expect(await isFocused('Undo the removal of row 1 of comments')).toBe(true)
        await page.keyboard.press('Enter')
        expect(await isFocused('Remove row 1 of comments')).toBe(true)
        await section(page).getByRole('button', { name: 'Add a row to comments' }).press('Enter')
        await section(page).getByRole('button', { name: 'Remove row 4 of comments' }).press('Enter')
        expect(await isFocused('Add a row to comments')).toBe(true)
        expect(await page.getByRole('button', { name: 'Save', exact: true }).count()).toBe(0)
      })
    })

    it('shows an error at the cell', async () => {
      await open(async (page) => {
        await section(page).getByRole('button', { name: 'Add a row to comments' }).click()
        await page.getByRole('button', { name: 'Save', exact: true }).click()
        await page.getByText('1 field has a problem.').waitFor()
        expect(await problemOf(page, 'Body, row 4')).toEqual(['Required'])
        expect(await section(page).getByLabel('Body, row 4').evaluate(input => input === document.activeElement)).toBe(true)
        await expectFits(page, 'admin-children-error')
      })
    })

    it('can be created with comments', async () => {
      await on('/admin/posts/new', EDITOR, async (page, requests) => {
        await page.locator('input[name=title]').fill('With comments')
        await page.locator('input[name=slug]').fill(`with-comments-${count}`)
        await page.locator('[name=body]').first().fill('Text')
        await section(page).getByRole('button', { name: 'Add a row to comments' }).click()
        await section(page).getByLabel('Body, row 1').fill('The first one')
        await expectFits(page, 'admin-children-new')
        requests.length = 0
        await page.getByRole('button', { name: 'Create', exact: true }).click()
        await page.waitForURL(/\/admin\/posts\/\d+$/)
        expect(writesOf(requests)).toEqual(['POST /api/posts'])
        expect(stored(Number(page.url().split('/').at(-1)))).toEqual(['The first one'])
      })
    })

    it('offers a writer only the comments that the writer can change', async () => {
      const own = await newsroom.request('/api/posts', {
        as: WRITER, method: 'POST', body: { title: 'Mine', slug: `mine-${count}`, body: 'Text', comments: { create: [{ body: 'My own' }] } },
      })
      await newsroom.request('/api/comments', { as: EDITOR, method: 'POST', body: { postId: own.body.id, body: 'Theirs', status: 'approved' } })
      await on(`/admin/posts/${own.body.id}`, WRITER, async (page) => {
        await section(page).getByLabel('Body, row 1').waitFor()
        expect(await section(page).getByRole('button', { name: /^Remove row/ }).evaluateAll(buttons =>
          buttons.map(button => button.getAttribute('aria-label')))).toEqual(['Remove row 1 of comments'])
        expect([await section(page).getByText('Theirs').count(), await section(page).getByLabel('Body, row 2').count()]).toEqual([1, 0])
      })
    })
  })
})
