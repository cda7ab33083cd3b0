/** The views of the admin in a browser, on the built playground. Concurrent tests have an `expect` of their own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { isReachable, CHROMIUM } from '../../support/services'
import { launch, type Visit } from '../newsroom/browser'
import { ADMIN, EDITOR, WRITER } from '../newsroom/callers'
import { startNewsroom, type Newsroom } from '../newsroom/server'
import { expectAccessible, overflowOf, screenshot, toast, withPage } from './admin-page'

const folder = mkdtempSync(join(tmpdir(), 'admin-'))
const there = await isReachable(CHROMIUM)
let newsroom: Newsroom
let browser: Browser

/** A picture of one pixel. */
const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

describe.runIf(there)('the admin', { concurrent: true }, () => {
  beforeAll(async () => {
    newsroom = await startNewsroom(join(folder, 'admin.sqlite'))
    browser = await launch()
  })

  afterAll(async () => {
    await browser?.close()
    await newsroom?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const on = (path: string, as: number | undefined, test: (visit: Visit) => Promise<void>, options = {}) =>
    withPage(browser, newsroom.url + path, { as, ...options }, test)
  const send = (method: string, path: string, body?: unknown, as = ADMIN) =>
    newsroom.request(`/api${path}`, { method, body, headers: { 'x-demo-user': String(as) } })
  const post = (title: string, values = {}) =>
    send('POST', '/posts', { title, slug: title.toLowerCase().replaceAll(' ', '-'), body: 'Text.', ...values }).then(
      ({ body }) => body.id as number,
    )
  const titleOf = (id: number) => newsroom.rows<{ title: string }>('select title from posts where id = ?', id)[0]!.title
  const isDeleted = (table: string, id: number) =>
    newsroom.rows<{ at: number | null }>(`select deleted_at as at from ${table} where id = ?`, id)[0]!.at !== null
  const focused = (page: Page) =>
    page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent?.trim())
  const dialog = (page: Page) => page.getByRole('dialog')
  /** How many URLs were requested of each path. Other tests write at the same time, and the pages follow them. */
  const countPaths = (requests: readonly string[]) => {
    const paths = [...new Set(requests)].map(request => request.replace(/^GET /, '').split('?')[0]!)
    return Object.fromEntries(paths.map(path => [path, paths.filter(other => other === path).length]))
  }
  /** Expects that a page is accessible in both themes, and as wide as the window, on a screen and on a phone. */
  async function expectEverywhere(page: Page, expect: (value: unknown) => { toBe: (value: unknown) => void }) {
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 })
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme })
        await expectAccessible(page)
      }
      expect(await overflowOf(page)).toBe(0)
    }
    await page.setViewportSize({ width: 1440, height: 900 })
  }

  describe('a reader', () => {
    const READER = () =>
      newsroom.rows<{ id: number }>('select id from users where organization_id = 1 and role = \'reader\' and active = 1')[0]!.id
    const anyPost = () =>
      newsroom.rows<{ id: number }>(
        'select id from posts where organization_id = 1 and status = \'published\' and deleted_at is null limit 1',
      )[0]!.id

    it('is not offered what the API refuses', async ({ expect }) => {
      await on('/admin/posts', READER(), async ({ page }) => {
        for (const name of ['New post', 'Trash']) expect(await page.getByRole('link', { name, exact: true }).count()).toBe(0)
        expect(await page.getByRole('checkbox').count()).toBe(0)
        expect(await page.getByRole('button', { name: /^Delete/ }).count()).toBe(0)
      })
      await on(`/admin/posts/${anyPost()}`, READER(), async ({ page }) => {
        await page.getByText('You can read this record, but not change it.').waitFor()
        expect(await page.locator('main input, main textarea').count()).toBe(0)
      })
    })
  })

  describe('a list', () => {
    it('keeps its order, filters and search in the URL', async ({ expect }) => {
      await post('Lighthouse keeper retires', { status: 'draft' })
      await on('/admin/posts', EDITOR, async ({ page }) => {
        await page.getByRole('searchbox', { name: 'Search posts' }).fill('lighthouse keeper')
        await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
        await page.getByRole('button', { name: 'Title', exact: true }).click()
        await expect.poll(() => new URL(page.url()).search).toContain('sort=title')
        await page.getByRole('button', { name: 'Add filter' }).click()
        await page.getByLabel('Value').click()
        await page.getByRole('option', { name: 'Draft' }).click()
        await expectAccessible(page)
        await page.getByRole('button', { name: 'Apply' }).click()
        await page.getByRole('button', { name: 'Status: Draft' }).waitFor()
        expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
          q: 'lighthouse keeper',
          sort: 'title',
          filter: 'status:$eq:draft',
        })
        await page.goBack()
        await expect.poll(() => page.getByRole('button', { name: 'Status: Draft' }).count()).toBe(0)
      })
    })

    it('can be read while the next rows load', async ({ expect }) => {
      await on('/admin/posts', EDITOR, async ({ page }) => {
        let load = () => {}
        const loading = new Promise<void>(resolve => load = resolve)
        await page.route('**/api/posts?*', async (route) => {
          await loading
          await route.continue()
        })
        await page.getByRole('button', { name: 'Title', exact: true }).click()
        await expect.poll(() => page.getByRole('table').getAttribute('aria-busy')).toBe('true')
        await expectAccessible(page)
        load()
        await expect.poll(() => page.getByRole('table').getAttribute('aria-busy')).toBe('false')
      })
    })

    it('keeps the chosen columns and saved views in the browser', async ({ expect }) => {
      await on('/admin/tags?q=a', EDITOR, async ({ page }) => {
        await page.getByRole('button', { name: 'Display' }).click()
        await page.getByRole('menuitemcheckbox', { name: 'Slug' }).click()
        await page.keyboard.press('Escape')
        await expect.poll(() => page.getByRole('columnheader', { name: 'Slug' }).count()).toBe(0)
        await page.getByRole('button', { name: 'Save view' }).click()
        await page.getByLabel('Name of the view').fill('With an a')
        await page.keyboard.press('Enter')
        await toast(page, 'The view “With an a” is saved in this browser.')
        // The button is gone, because the list is saved.
        await expect.poll(() => focused(page)).toBe('Tags')
        await page.goto(`${newsroom.url}/admin/tags`)
        await expect.poll(() => page.getByRole('columnheader', { name: 'Slug' }).count()).toBe(0)
        await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'With an a' }).click()
        await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('a')
      })
    })

    it('opens a record beside it, and returns the focus to its row', async ({ expect }) => {
      const id = await post('Ferry timetable changes')
      await on('/admin/posts?q=ferry+timetable', EDITOR, async ({ page }) => {
        await page.getByRole('link', { name: 'Ferry timetable changes' }).press('Enter')
        await dialog(page).getByLabel('Title').waitFor()
        await expectAccessible(page)
        await screenshot(page, 'panel')
        expect(new URL(page.url()).searchParams.get('open')).toBe(String(id))
        await page.keyboard.press('Escape')
        await expect.poll(() => dialog(page).count()).toBe(0)
        await expect.poll(() => focused(page)).toBe('Ferry timetable changes')
      })
    })

    it('changes several records, or none if one of them fails', async ({ expect }) => {
      const ids = [await post('Bulk one'), await post('Bulk two'), await post('Bulk three')]
      await on('/admin/posts?q=bulk&sort=id', EDITOR, async ({ page }) => {
        await page.getByRole('checkbox', { name: 'Select all on this page' }).click()
        await page.getByText('3 selected').waitFor()
        await page.getByRole('button', { name: 'Edit', exact: true }).click()
        await dialog(page).getByLabel('Field to change').click()
        await page.getByRole('option', { name: 'Status' }).click()
        await dialog(page).getByLabel('Status').click()
        await page.getByRole('option', { name: 'archived' }).click()
        await send('DELETE', `/posts/${ids[1]}`)
        await dialog(page).getByRole('button', { name: 'Save' }).click()
        await dialog(page).getByText('Nothing was changed. 1 record failed:').waitFor()
        await expectAccessible(page)
        await screenshot(page, 'bulk-failed')
        expect(await dialog(page).getByRole('link', { name: 'Bulk two' }).count()).toBe(1)
        expect(newsroom.rows('select status from posts where id in (?, ?)', ids[0], ids[2])).toEqual([
          { status: 'draft' },
          { status: 'draft' },
        ])
        await dialog(page).getByRole('button', { name: 'Leave it out and try again' }).click()
        await toast(page, '2 records changed.')
        expect(newsroom.rows('select status from posts where id in (?, ?)', ids[0], ids[2])).toEqual([
          { status: 'archived' },
          { status: 'archived' },
        ])
      })
    })

    it('shows what a delete includes, and undoes it', async ({ expect }) => {
      const id = await post('Delete me', { status: 'published' })
      const { body: comment } = await send('POST', '/comments', { postId: id, body: 'A comment', status: 'approved' })
      await on('/admin/posts?q=delete+me', EDITOR, async ({ page }) => {
        await page.getByRole('button', { name: 'Actions for Delete me' }).click()
        await page.getByRole('menuitem', { name: 'Delete', exact: true }).click()
        await dialog(page).getByText('Comments', { exact: true }).waitFor()
        expect(await dialog(page).getByRole('listitem').allTextContents()).toEqual(['Posts1', 'Comments1'])
        await expectAccessible(page)
        await screenshot(page, 'delete')
        await dialog(page).getByRole('button', { name: 'Delete', exact: true }).click()
        await toast(page, 'Delete me is in the trash.')
        expect([isDeleted('posts', id), isDeleted('comments', comment.id)]).toEqual([true, true])
        await expect.poll(() => focused(page)).toBe('Posts')
        await page.getByRole('button', { name: 'Undo' }).first().click()
        await toast(page, '1 record is restored.')
        expect([isDeleted('posts', id), isDeleted('comments', comment.id)]).toEqual([false, false])
        await page.getByRole('link', { name: 'Delete me' }).waitFor()
      })
    })
  })

  describe('a record', () => {
    it('is created, linked, changed, deleted and restored by keyboard alone', async ({ expect }) => {
      await on('/admin', EDITOR, async ({ page, requests }) => {
        const { keyboard } = page
        const tabTo = async (test: () => Promise<unknown>) => {
          for (let presses = 0; presses < 90; presses++) {
            if (await test()) return
            await keyboard.press('Tab')
          }
          throw new Error(`The focus is on ${await focused(page)}.`)
        }
        const isOn = (selector: string) => () => page.evaluate(one => document.activeElement?.matches(one), selector)
        const isNamed = (name: string) => async () => (await focused(page)) === name

        await keyboard.press('Control+k')
        await page.getByPlaceholder('Type the name of a page, a resource or a record').waitFor()
        await keyboard.type('New post')
        await expectAccessible(page)
        await keyboard.press('Enter')
        await page.getByRole('heading', { name: 'New post' }).waitFor()
        await tabTo(isOn('input[name=title]'))
        await keyboard.type('By keyboard')
        await tabTo(isOn('textarea[name=body]'))
        await keyboard.type('Nobody used a mouse.')
        await tabTo(isNamed('Create'))
        await keyboard.press('Enter')
        // The slug is missing, and the focus is on it.
        await expect.poll(isOn('input[name=slug]')).toBe(true)
        await expectAccessible(page)
        await keyboard.type('by-keyboard')
        await keyboard.press('Enter')
        await page.getByRole('heading', { name: 'By keyboard' }).waitFor()
        const id = Number(new URL(page.url()).pathname.split('/').at(-1))

        await tabTo(isOn('a[href$="tab=relation:tags"]'))
        await keyboard.press('Enter')
        await page.getByText('No record is linked.').waitFor()
        await tabTo(isOn('[aria-haspopup=listbox]'))
        await keyboard.press('Enter')
        await page.getByRole('option').first().waitFor()
        const [name] = await page.getByRole('option').allTextContents()
        await keyboard.press('ArrowDown')
        await keyboard.press('Enter')
        await toast(page, / is added\.$/)
        expect(newsroom.rows('select * from posts_tags where post_id = ?', id)).toHaveLength(1)
        expect(name).not.toBe('')
        await expectAccessible(page)
        expect(requests.filter(request => request.includes('/_m2m/'))).toEqual(['GET /api/_m2m/junctions', 'GET /api/_m2m/detect/posts'])

        await tabTo(isNamed('Details'))
        await keyboard.press('Enter')
        await page.locator('input[name=title]').waitFor()
        await tabTo(isOn('input[name=title]'))
        await keyboard.press('End')
        await keyboard.type(' only')
        await keyboard.press('Enter')
        await toast(page, 'By keyboard only is saved.')
        expect(titleOf(id)).toBe('By keyboard only')

        await tabTo(isNamed('More actions'))
        await keyboard.press('Enter')
        await page.getByRole('menuitem', { name: 'Delete' }).press('Enter')
        await dialog(page).getByRole('listitem').first().waitFor()
        await tabTo(
          async () =>
            (await focused(page)) === 'Delete' && (await page.evaluate(() => document.activeElement?.closest('[role=dialog]') !== null)),
        )
        await keyboard.press('Enter')
        await page.waitForURL('**/admin/posts')
        expect(isDeleted('posts', id)).toBe(true)

        await tabTo(isNamed('Trash'))
        await keyboard.press('Enter')
        await tabTo(isNamed('Restore By keyboard only'))
        await keyboard.press('Enter')
        await dialog(page).getByRole('listitem').first().waitFor()
        await expectAccessible(page)
        await tabTo(async () => (await focused(page)) === 'Restore')
        await keyboard.press('Enter')
        await toast(page, '1 record is restored.')
        expect(isDeleted('posts', id)).toBe(false)
      })
    }, 180_000)

    it('shows both versions after another user has changed it, and keeps what a person chooses', async ({ expect }) => {
      const id = await post('Contested')
      await on(`/admin/posts/${id}`, EDITOR, async ({ page }) => {
        await page.locator('input[name=title]').fill('Mine')
        await page.locator('textarea[name=excerpt]').fill('My excerpt')
        await send('PATCH', `/posts/${id}`, { title: 'Theirs', body: 'Their text.' })
        await page.getByRole('button', { name: 'Save' }).click()
        await dialog(page).getByText('Another user has changed this record').waitFor()
        await expectAccessible(page)
        await screenshot(page, 'conflict')
        await dialog(page).getByRole('radio', { name: /Title to keep: Theirs$/ }).check()
        await dialog(page).getByRole('button', { name: 'Keep my changes' }).click()
        await toast(page, 'Theirs is saved.')
        expect(newsroom.rows('select title, excerpt, body from posts where id = ?', id)).toEqual([
          { title: 'Theirs', excerpt: 'My excerpt', body: 'Their text.' },
        ])
      })
    })

    it('uploads a file in its form, and removes it', async ({ expect }) => {
      const id = await post('With a cover')
      const cover = () => newsroom.rows<{ cover: string | null }>('select cover from posts where id = ?', id)[0]!.cover
      await on(`/admin/posts/${id}`, EDITOR, async ({ page }) => {
        const input = page.locator('main input[type=file]')
        await page.locator('input[name=title]').fill('Changed')
        expect(await input.isDisabled()).toBe(true)
        await page.getByRole('button', { name: 'Discard' }).click()
        await input.setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('No picture.') })
        await page.locator('main').getByRole('alert').waitFor()
        expect(cover()).toBeNull()
        await input.setInputFiles({ name: 'cover.png', mimeType: 'image/png', buffer: PNG })
        await toast(page, 'The file is saved.')
        expect(JSON.parse(cover()!)).toMatchObject({ name: 'cover.png' })
        await expectAccessible(page)
        // The upload is a version of the record, and the form continues with it.
        await page.locator('input[name=title]').fill('With a picture')
        await page.getByRole('button', { name: 'Save' }).click()
        await toast(page, 'With a picture is saved.')
        await page.getByRole('button', { name: 'Remove cover.png' }).click()
        await dialog(page).getByRole('button', { name: 'Remove', exact: true }).click()
        await toast(page, 'The file is removed.')
        expect(cover()).toBeNull()
      })
    })

    it('gets the values of an earlier version again', async ({ expect }) => {
      const id = await post('First title')
      await send('PATCH', `/posts/${id}`, { title: 'Second title' })
      await on(`/admin/posts/${id}?tab=history`, EDITOR, async ({ page }) => {
        const versions = page.getByRole('button', { name: 'Revert to this version' })
        expect(await versions.count()).toBe(1)
        await versions.click()
        await toast(page, 'The record has the values of this version again.')
        expect(titleOf(id)).toBe('First title')
        await page.getByRole('heading', { name: 'First title' }).waitFor()
        await expect.poll(() => versions.count()).toBe(2)
      })
    })

    it('shows names instead of ids', async ({ expect }) => {
      const nameOf = (id: number) => newsroom.rows<{ name: string }>('select name from users where id = ?', id)[0]!.name
      const id = await post('Written for somebody', { authorId: 4, status: 'published' })
      const valueOf = (page: Page, label: string) =>
        page
          .locator('dl > div')
          .filter({ has: page.getByText(label, { exact: true }) })
          .locator('dd')
      await on(`/admin/posts/${id}`, EDITOR, async ({ page }) => {
        await expect.poll(() => valueOf(page, 'Created by').textContent()).toBe(nameOf(ADMIN))
      })
      const [reader] = newsroom.rows<{ id: number }>('select id from users where organization_id = 1 and role = \'reader\' and active = 1')
      await on(`/admin/posts/${id}`, reader!.id, async ({ page }) => {
        await expect.poll(() => valueOf(page, 'Author').getByRole('link').textContent()).toMatch(nameOf(4))
        const labels = await page.locator('dt').allTextContents()
        expect(labels.map(label => label.trim())[0]).toBe('Title')
        expect(labels.filter(label => /Organi|Delet/.test(label))).toEqual([])
      })
    })

    it('asks before unsaved changes are lost', async ({ expect }) => {
      const id = await post('Unsaved')
      await on(`/admin/posts/${id}`, EDITOR, async ({ page }) => {
        await page.locator('input[name=title]').fill('Changed')
        await page.getByRole('link', { name: 'Overview' }).first().click()
        await dialog(page).getByRole('button', { name: 'Stay' }).click()
        await expect.poll(() => dialog(page).count()).toBe(0)
        expect(await page.inputValue('input[name=title]')).toBe('Changed')
        await page.getByRole('link', { name: 'Overview' }).first().click()
        await dialog(page).getByRole('button', { name: 'Leave without saving' }).click()
        await page.getByRole('heading', { name: 'Overview' }).waitFor()
        expect(titleOf(id)).toBe('Unsaved')
      })
    })
  })

  describe('an import', () => {
    it('shows the problem of each line, then what the file creates, and writes it after a confirmation', async ({ expect }) => {
      const count = () => newsroom.rows<{ count: number }>('select count(*) as count from tags')[0]!.count
      const before = count()
      await on('/admin/tags', EDITOR, async ({ page }) => {
        await page.getByRole('button', { name: 'More actions' }).click()
        await page.getByRole('menuitem', { name: 'Import' }).click()
        const choose = (text: string) =>
          dialog(page)
            .getByLabel('CSV or NDJSON file')
            .setInputFiles({ name: 'tags.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
        await choose('name,slug\nImported,imported\n,missing')
        await dialog(page).getByRole('button', { name: 'Check the file' }).click()
        await dialog(page).getByText('1 line has a problem').waitFor()
        await dialog(page).getByRole('cell', { name: 'Name: A value is required.', exact: true }).waitFor()
        await expectAccessible(page)
        await screenshot(page, 'import')
        await choose('name,slug\nImported,imported')
        await dialog(page).getByRole('button', { name: 'Check the file' }).click()
        await dialog(page).getByText('It creates 1 record and updates 0 records.').waitFor()
        expect(count()).toBe(before)
        await dialog(page).getByRole('button', { name: 'Import 1 record' }).click()
        await toast(page, '1 created, 0 updated.')
        expect(count()).toBe(before + 1)
      })
    })
  })

  describe('the audit log', () => {
    it('is filtered by a record and a user that a person chooses by name', { timeout: 120_000 }, async ({ expect }) => {
      const id = await post('Audited once')
      await send('PATCH', `/posts/${id}`, { title: 'Audited twice' }, EDITOR)
      await on('/admin/-/audit', EDITOR, async ({ page }) => {
        const choose = async (label: string, text: string) => {
          await page.getByLabel(label, { exact: true }).click()
          await page.getByPlaceholder('Search', { exact: true }).fill(text)
          await page.getByRole('option', { name: text }).click()
        }
        expect(await page.getByLabel('Record', { exact: true }).isDisabled()).toBe(true)
        await page.getByLabel('Resource', { exact: true }).click()
        await page.getByRole('option', { name: 'Posts' }).click()
        await choose('Record', 'Audited twice')
        const kinds = () => page.locator('main tbody td.kind').allTextContents().then(texts => texts.map(text => text.trim()))
        await expect.poll(kinds).toEqual(['Updated', 'Created'])
        const [editor] = newsroom.rows<{ name: string }>('select name from users where id = ?', EDITOR)
        await choose('User', editor!.name)
        await expect.poll(kinds).toEqual(['Updated'])
        await page.getByRole('cell', { name: editor!.name, exact: true }).waitFor()
        await page.getByRole('cell', { name: 'Title', exact: true }).waitFor()
        expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
          resource: 'posts',
          recordId: String(id),
          userId: String(EDITOR),
        })
        await expectAccessible(page)
        await screenshot(page, 'audit-filtered')
        await page.getByRole('button', { name: 'Remove the value of user' }).click()
        await expect.poll(kinds).toEqual(['Updated', 'Created'])
        // The record belongs to the posts.
        await page.getByLabel('Resource', { exact: true }).click()
        await page.getByRole('option', { name: 'Media' }).click()
        await expect.poll(() => Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ resource: 'media' })
        await page.getByText('No change matches').waitFor()
      })
    })

    it('names the records of a page with one request for each resource, also those in the trash', async ({ expect }) => {
      const [first, second] = [await post('Named once'), await post('Named twice')]
      await send('PATCH', `/posts/${first}`, { title: 'Named again', excerpt: 'E', status: 'published' })
      await send('POST', '/comments', { postId: first, body: 'A named comment', status: 'approved' })
      await send('DELETE', `/posts/${second}`)
      await on('/admin/-/permissions', ADMIN, async ({ page, requests }) => {
        requests.length = 0
        await page.getByRole('link', { name: 'Audit log' }).first().click()
        await page.getByRole('link', { name: 'Named again' }).first().waitFor()
        await page.getByRole('row', { name: /Deleted.*Named twice/ }).first().waitFor()
        await page.getByRole('cell', { name: /^comment A named comment/ }).waitFor()
        await page.getByRole('cell', { name: /^(?:Title, Excerpt|Status, Title|Title, Status|Excerpt, Status).* \+\d/ }).first().waitFor()
        const lists = requests.filter(request => request.startsWith('GET /api/audit-log')).length
        const { '/api/_admin': access, '/api/audit-log': entries, ...names } = countPaths(requests)
        expect([access, entries]).toEqual([1, 1])
        expect(Object.values(names).filter(count => count > lists)).toEqual([])
        // No record is read by itself.
        expect(Object.keys(names).filter(path => !/^\/api\/\w+$/.test(path))).toEqual([])
        await page.getByRole('button', { name: 'Details: Updated post Named again' }).first().click()
        await page.locator('del').getByText('once').waitFor()
        await expectEverywhere(page, expect)
        await screenshot(page, 'audit')
      })
    }, 120_000)

    it('is filtered by a range of time', async ({ expect }) => {
      await post('In a range')
      await on('/admin/-/audit?to=2020-01-01T00:00', ADMIN, async ({ page }) => {
        await page.getByText('No change matches').waitFor()
        await page.getByRole('button', { name: 'Time: Until Jan 1, 2020' }).click()
        await expectAccessible(page)
        await page.getByRole('button', { name: 'Last 7 days' }).click()
        await page.getByRole('cell', { name: /In a range/ }).first().waitFor()
        expect(new URL(page.url()).searchParams.get('to')).toBeNull()
        expect(new URL(page.url()).searchParams.get('from')).toMatch(/T00:00$/)
        await page.getByRole('button', { name: 'Remove all filters' }).click()
        await page.getByRole('button', { name: 'Time: Any time' }).waitFor()
        await expect.poll(() => new URL(page.url()).search).toBe('')
      })
    })
  })

  describe('the overview', () => {
    it.for([ADMIN, EDITOR, WRITER])('has the numbers of caller %s, with at most one request for each', { timeout: 120_000 }, async (as, { expect }) => {
      const api = async (path: string) => (await newsroom.request(`/api${path}`, { headers: { 'x-demo-user': String(as) } })).body
      const { resources } = await api('/_admin') as { resources: Record<string, { capabilities: Record<string, boolean> }> }
      // The view of the tokens has no trash.
      const trashes = Object.keys(resources).filter(name => resources[name]!.capabilities.canViewDeleted && name !== 'apiTokens')
      await on('/admin/-/permissions', as, async ({ page, requests }) => {
        requests.length = 0
        await page.getByRole('link', { name: 'Overview' }).first().click()
        const tags = page.locator('main section').filter({ has: page.getByRole('link', { name: 'Tags', exact: true }) })
        const { data: [{ count }] } = await api('/tags/aggregate?aggregate=count')
        await tags.locator('strong').waitFor()
        await expect.poll(() => tags.locator('strong').textContent()).toMatch(new RegExp(`^${(count as number).toLocaleString('en')}\\b`))
        const states = page.getByRole('list', { name: 'Posts: Status' })
        await states.waitFor()
        const { data: groups } = await api('/posts/aggregate?groupBy=status&aggregate=count')
        await expect.poll(() => states.getByRole('listitem').count()).toBe(groups.length)
        await page.getByText('Recent activity').waitFor()
        const links = await page.locator('main a[href$="/trash"]').evaluateAll(all => all.map(link => link.getAttribute('href')))
        expect(links.sort()).toEqual(trashes.map(name => `/admin/${name}/trash`).sort())
        const counts = countPaths(requests)
        const aggregates = Object.entries(counts).filter(([path]) => path.endsWith('/aggregate'))
        expect(aggregates.filter(([path, sent]) => sent > (trashes.some(name => path === `/api/${name}/aggregate`) ? 2 : 1))).toEqual([])
        await states.getByRole('link', { name: 'Published' }).waitFor()
        await expectEverywhere(page, expect)
        await screenshot(page, `overview-${as}`)
        await states.getByRole('link', { name: 'Published' }).click()
        await page.getByRole('button', { name: 'Status: Published' }).waitFor()
      })
    })
  })

  describe('the permissions', () => {
    it('distinguish all records, those that a rule allows, and none', async ({ expect }) => {
      await on('/admin/-/permissions', WRITER, async ({ page }) => {
        const cells = (name: string) => page.getByRole('row', { name: new RegExp(`^${name}`) }).getByRole('cell').allInnerTexts()
          .then(texts => texts.map(text => text.trim().split(/[: ]/)[0] + (text.includes('some') ? ' some' : '')))
        expect(await cells('Posts')).toEqual([
          'Only', 'Allowed some', 'Allowed', 'Allowed some', 'Refused', 'Allowed some', 'Refused', 'Refused', 'Refused',
        ])
        expect((await cells('Tags')).slice(0, 5)).toEqual(['Only', 'Allowed', 'Refused', 'Refused', 'Refused'])
        await expectEverywhere(page, expect)
        await screenshot(page, 'permissions-writer')
      })
    }, 120_000)
  })

  describe('the trash', () => {
    it('purges a record after its word is typed', async ({ expect }) => {
      const id = await post('Purge me')
      await send('DELETE', `/posts/${id}`)
      await on('/admin/posts/trash', ADMIN, async ({ page }) => {
        await page.getByRole('button', { name: 'Actions for Purge me' }).click()
        await page.getByRole('menuitem', { name: 'Delete permanently' }).click()
        const confirm = dialog(page).getByRole('button', { name: 'Delete permanently' })
        await dialog(page).getByRole('listitem').first().waitFor()
        expect(await confirm.isDisabled()).toBe(true)
        await dialog(page).getByLabel('Type delete to confirm').fill('delete')
        await expectAccessible(page)
        await screenshot(page, 'purge')
        await confirm.click()
        await toast(page, 'Purge me is deleted permanently.')
        expect(newsroom.rows('select id from posts where id = ?', id)).toEqual([])
      })
    })

    it('shows who has deleted a record, when and why, and the names with one request', async ({ expect }) => {
      const id = await post('Why me')
      await send('DELETE', `/posts/${id}?reason=Duplicate`, undefined, EDITOR)
      const [editor] = newsroom.rows<{ name: string }>('select name from users where id = ?', EDITOR)
      await on('/admin/posts', ADMIN, async ({ page, requests }) => {
        requests.length = 0
        await page.getByRole('link', { name: 'Trash', exact: true }).click()
        const row = page.getByRole('row', { name: /^Why me/ })
        await row.getByRole('cell', { name: editor!.name, exact: true }).waitFor()
        await row.getByRole('cell', { name: 'Duplicate', exact: true }).waitFor()
        expect(await row.locator('time').getAttribute('title')).toMatch(/\d:\d\d/)
        const { '/api/users': users, ...others } = countPaths(requests)
        expect(others).toEqual({ '/api/_admin': 1, '/api/posts': 1 })
        expect(users).toBeLessThanOrEqual(requests.filter(request => request.startsWith('GET /api/posts?')).length)
        await expectEverywhere(page, expect)
        await screenshot(page, 'trash')
      })
    }, 120_000)
  })

  describe('the API tokens', () => {
    it('shows a secret once, and revokes a token', async ({ expect }) => {
      await on('/admin/-/tokens', EDITOR, async ({ page }) => {
        await page.getByRole('button', { name: 'New token' }).click()
        await dialog(page).getByLabel('Name').fill('Deploy')
        await dialog(page).getByRole('button', { name: 'Create' }).click()
        await dialog(page).getByText('Copy the token now').waitFor()
        const secret = await dialog(page).getByLabel('Token').inputValue()
        expect(secret).toMatch(/^aat_/)
        await expectAccessible(page)
        await dialog(page).getByRole('button', { name: 'Close' }).last().click()
        await expect.poll(() => dialog(page).count()).toBe(0)
        expect(await page.content()).not.toContain(secret)
        await page.getByRole('button', { name: 'Revoke Deploy' }).click()
        await dialog(page).getByRole('button', { name: 'Revoke', exact: true }).click()
        await toast(page, 'Deploy is revoked.')
        await page.getByText('You have no tokens').waitFor()
      })
    })
  })
})
