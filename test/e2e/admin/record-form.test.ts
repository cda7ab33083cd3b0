/** The form of a record in a browser: its bar, its inputs, files, copies, and what can be undone. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { isReachable, CHROMIUM } from '../../support/services'
import { launch, type Visit } from '../newsroom/browser'
import { ADMIN, EDITOR } from '../newsroom/callers'
import { startNewsroom, type Newsroom } from '../newsroom/server'
import { findViolations, overflowOf, screenshot, toast, withPage } from './admin-page'

const folder = mkdtempSync(join(tmpdir(), 'admin-form-'))
const there = await isReachable(CHROMIUM)
let newsroom: Newsroom
let browser: Browser
let count = 0

/** A picture of one pixel. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

describe.runIf(there)('the form of a record', { concurrent: true }, () => {
  beforeAll(async () => {
    newsroom = await startNewsroom(join(folder, 'form.sqlite'))
    browser = await launch()
  })

  afterAll(async () => {
    await browser?.close()
    await newsroom?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const on = (path: string, test: (visit: Visit) => Promise<void>, options = {}) =>
    withPage(browser, newsroom.url + path, { as: EDITOR, ...options }, test)
  const send = (method: string, path: string, body?: unknown, as = ADMIN) =>
    newsroom.request(`/api${path}`, { method, body, headers: { 'x-demo-user': String(as) } })
  const post = async (title: string, values = {}) => {
    const slug = `${title.toLowerCase().replaceAll(' ', '-')}-${++count}`
    const { body } = await send('POST', '/posts', { title, slug, body: 'Text.', ...values })
    return body.id as number
  }
  const valueOf = (id: number, column: string) => newsroom.rows<{ value: unknown }>(`select ${column} as value from posts where id = ?`, id)[0]!.value
  const bar = (page: Page) => page.getByRole('group', { name: 'Changes of the form' })
  const menu = async (page: Page, item: string) => {
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  const title = (page: Page) => page.locator('input[name=title]')

  it('has a bar in sight that counts the changes and covers no field, in both themes', async ({ expect }) => {
    const id = await post('With a bar', { publishedAt: '2026-02-28T12:30:00.000Z' })
    await on(`/admin/posts/${id}`, async ({ page }) => {
      expect(await bar(page).count()).toBe(0)
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 700 })
        await title(page).fill(`With a bar at ${width}`)
        await page.locator('textarea[name=excerpt]').fill('Short.')
        await bar(page).getByText('2 unsaved changes').waitFor()
        const box = (await bar(page).boundingBox())!
        expect(box.y + box.height).toBeLessThanOrEqual(700)
        expect(box.y).toBeGreaterThan(width === 390 ? 600 : 300)
        await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
        const bottoms = await page.locator('main form :is(input, textarea, dd):visible').evaluateAll(all =>
          all.map(element => element.getBoundingClientRect().bottom))
        expect(Math.max(...bottoms)).toBeLessThanOrEqual((await bar(page).boundingBox())!.y)
        expect(await overflowOf(page)).toBe(0)
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          expect(await findViolations(page)).toEqual([])
        }
      }
      await screenshot(page, 'form-dirty')
    })
  }, 60_000)

  it('is saved with the keyboard, and the save is undone', async ({ expect }) => {
    const id = await post('Before the save')
    await on(`/admin/posts/${id}`, async ({ page, requests }) => {
      await title(page).fill('After the save')
      await page.keyboard.press('Control+s')
      await toast(page, 'After the save is saved.')
      expect(valueOf(id, 'title')).toBe('After the save')
      await bar(page).waitFor({ state: 'detached' })
      requests.length = 0
      await page.getByRole('button', { name: 'Undo' }).first().click()
      await toast(page, 'The earlier values are saved again.')
      expect(valueOf(id, 'title')).toBe('Before the save')
      expect(requests.filter(request => !request.startsWith('GET'))).toEqual([`PATCH /api/posts/${id}`])
      await expect.poll(() => title(page).inputValue()).toBe('Before the save')
      await page.locator('textarea[name=excerpt]').fill('An excerpt')
      await page.keyboard.press('Control+Enter')
      await expect.poll(() => valueOf(id, 'excerpt')).toBe('An excerpt')
    })
  })

  it('does not undo a save over the changes of another user', async ({ expect }) => {
    const id = await post('Not undone')
    await on(`/admin/posts/${id}`, async ({ page }) => {
      await title(page).fill('Mine')
      await page.keyboard.press('Control+s')
      await toast(page, 'Mine is saved.')
      await send('PATCH', `/posts/${id}`, { title: 'Theirs' })
      await page.getByRole('button', { name: 'Undo' }).first().click()
      await toast(page, 'The earlier values are not saved')
      expect(valueOf(id, 'title')).toBe('Theirs')
    })
  })

  it('discards changes of fields and rows, and brings them back', async ({ expect }) => {
    const id = await post('Discarded', { comments: { create: [{ body: 'First' }, { body: 'Second' }] } })
    await on(`/admin/posts/${id}`, async ({ page }) => {
      const rows = page.getByRole('region', { name: 'Comments', exact: true })
      await title(page).fill('Changed')
      await rows.getByLabel('Body, row 1').fill('First, changed')
      await rows.getByRole('button', { name: 'Remove row 2 of comments' }).click()
      await bar(page).getByText('3 unsaved changes').waitFor()
      await bar(page).getByRole('button', { name: 'Discard' }).click()
      await toast(page, 'Your changes are discarded.')
      await bar(page).waitFor({ state: 'detached' })
      expect([await title(page).inputValue(), await rows.getByLabel('Body, row 1').inputValue()]).toEqual(['Discarded', 'First'])
      // The focus is still in the form, not at the beginning of the page.
      expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('FORM')
      await page.getByRole('button', { name: 'Undo' }).first().click()
      await bar(page).getByText('3 unsaved changes').waitFor()
      expect([await title(page).inputValue(), await rows.getByLabel('Body, row 1').inputValue()]).toEqual(['Changed', 'First, changed'])
    })
  })

  it('begins with the values of another record', async ({ expect }) => {
    const id = await post('Original', { excerpt: 'Copied', status: 'published', featured: true })
    await on(`/admin/posts/${id}`, async ({ page }) => {
      await menu(page, 'Duplicate')
      await page.getByText('A copy of Original. It is not saved yet.').waitFor()
      expect([await title(page).inputValue(), await page.inputValue('textarea[name=excerpt]')]).toEqual(['Original', 'Copied'])
      expect(await page.getByRole('switch', { name: 'Featured' }).isChecked()).toBe(true)
      expect(await findViolations(page)).toEqual([])
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      // The slug is that of the original.
      await page.locator('main').getByRole('alert').first().waitFor()
      await page.locator('input[name=slug]').fill('original-2')
      await page.getByRole('button', { name: 'Create', exact: true }).click()
      await page.waitForURL(url => /\/posts\/\d+$/.test(url.pathname) && !url.pathname.endsWith(`/${id}`))
      const copy = Number(new URL(page.url()).pathname.split('/').at(-1))
      expect(newsroom.rows('select title, excerpt, status, featured, cover from posts where id = ?', copy)).toEqual([
        { title: 'Original', excerpt: 'Copied', status: 'published', featured: 1, cover: null },
      ])
    })
  })

  it('takes a date that is typed part by part or chosen, and removes it', async ({ expect }) => {
    const id = await post('Dated')
    await on(`/admin/posts/${id}`, async ({ page }) => {
      const parts = page.getByRole('group', { name: 'Published at', exact: true }).getByRole('spinbutton')
      await parts.first().focus()
      // The clock of the language has twelve hours.
      await page.keyboard.type('030120260345PM')
      await page.keyboard.press('Control+s')
      await toast(page, 'Dated is saved.')
      const time = (text: string) => page.evaluate(text => new Date(text).getTime(), text)
      const stored = new Date(Number(valueOf(id, 'published_at')))
      expect(stored.getTime()).toBe(await time('2026-03-01T15:45:00'))
      await page.getByRole('button', { name: 'Open the calendar of published at' }).click()
      expect(await findViolations(page)).toEqual([])
      await page.getByRole('button', { name: /March 17, 2026/ }).click()
      await page.keyboard.press('Control+s')
      await expect.poll(() => Number(valueOf(id, 'published_at'))).toBe(await time('2026-03-17T15:45:00'))
      await page.getByRole('button', { name: 'Remove the value of published at' }).click()
      await page.keyboard.press('Control+s')
      await expect.poll(() => valueOf(id, 'published_at')).toBeNull()
    })
  })

  it('takes a picture that is pasted or dropped, and asks before it removes it', async ({ expect }) => {
    const id = await post('With pictures')
    const cover = () => valueOf(id, 'cover') as string | null
    await on(`/admin/posts/${id}`, async ({ page }) => {
      const give = (selector: string, kind: 'paste' | 'drop', name: string, type = 'image/png') => page.locator(selector).evaluate((element, [kind, name, type, data]) => {
        const bytes = Uint8Array.from(atob(data!), character => character.charCodeAt(0))
        const files = new DataTransfer()
        files.items.add(new File([bytes], name!, { type: type! }))
        ;(element as HTMLElement).focus()
        element.dispatchEvent(kind === 'paste'
          ? new ClipboardEvent('paste', { clipboardData: files, bubbles: true, cancelable: true })
          : new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true }))
      }, [kind, name, type, PNG])
      const zone = '.zone button.empty'
      await give(zone, 'paste', 'notes.txt', 'text/plain')
      await page.getByText('notes.txt has a type that this field does not take.').waitFor()
      await give(zone, 'paste', 'pasted.png')
      await toast(page, 'The file is saved.')
      await expect.poll(() => cover() ?? '').toContain('pasted.png')
      await page.getByRole('link', { name: 'pasted.png' }).first().waitFor()
      await give('button[aria-label="Replace pasted.png"]', 'drop', 'dropped.png')
      await expect.poll(() => cover() ?? '').toContain('dropped.png')
      expect(await findViolations(page)).toEqual([])
      await screenshot(page, 'form-file')
      const remove = page.getByRole('button', { name: 'Remove dropped.png' })
      await remove.click()
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      expect(cover()).toContain('dropped.png')
      await remove.click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
      await toast(page, 'The file is removed.')
      expect(cover()).toBeNull()
      await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe('empty')
    })
  })

  it('writes Markdown with buttons, and shows it without the HTML of the text', async ({ expect }) => {
    const id = await post('In Markdown')
    await on(`/admin/posts/${id}`, async ({ page }) => {
      const body = page.locator('textarea[name=body]').first()
      await body.fill('A word\n\n<b id=injected>no</b>')
      await body.evaluate((area: HTMLTextAreaElement) => area.setSelectionRange(2, 6))
      await page.getByRole('button', { name: 'Bold' }).click()
      expect(await body.inputValue()).toBe('A **word**\n\n<b id=injected>no</b>')
      await page.getByRole('button', { name: 'Preview' }).click()
      const preview = page.getByRole('region', { name: 'Preview of body' })
      expect(await preview.locator('strong').textContent()).toBe('word')
      expect(await preview.getByText('<b id=injected>no</b>').count()).toBe(1)
      expect(await page.locator('#injected').count()).toBe(0)
      expect(await findViolations(page)).toEqual([])
    })
  })

  it('is beside its key, the numbers of related records and its history', async ({ expect }) => {
    const id = await post('Numbers and words', { comments: { create: [{ body: 'One' }, { body: 'Two' }] } })
    await send('PATCH', `/posts/${id}`, { title: 'Numbers and more words', status: 'published' })
    await on(`/admin/posts/${id}`, async ({ page }) => {
      await page.getByRole('button', { name: `Copy the ID ${id}` }).waitFor()
      await expect.poll(() => page.getByRole('link', { name: /^Comments/ }).last().textContent()).toMatch(/Comments\s*2/)
      await page.getByRole('link', { name: 'History' }).click()
      await page.locator('ins').first().waitFor()
      const words = page.locator('dd.words').first()
      expect((await words.textContent())!.replaceAll(/\s+/g, ' ').trim()).toBe('Numbers and Added: more words')
      await page.locator('ins').getByText('Published', { exact: true }).waitFor()
      expect(await findViolations(page)).toEqual([])
    })
  })
})
