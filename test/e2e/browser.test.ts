/** The playground's pages in a browser: server rendering, hydration, optimistic edits and invalidation. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import papaparse from 'papaparse'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPng } from '../support/png'
import { assertNoSecrets, rememberSecret } from '../support/secrets'
import { isReachable, CHROMIUM } from '../support/services'
import { act, confirm, launch, openDeveloperPage, pick, visit, wrongIds, type Visit } from './newsroom/browser'
import { ADMIN, EDITOR, WRITER } from './newsroom/callers'
import { startNewsroom, type Newsroom } from './newsroom/server'

const folder = mkdtempSync(join(tmpdir(), 'newsroom-'))
const there = await isReachable(CHROMIUM)
let newsroom: Newsroom
let browser: Browser

describe.runIf(there)('in a browser', () => {
  beforeAll(async () => {
    newsroom = await startNewsroom(join(folder, 'browser.sqlite'))
    browser = await launch()
  })

  afterAll(async () => {
    await browser?.close()
    await newsroom?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Opens a page and closes it after the test. */
  async function on(path: string, options: Parameters<typeof visit>[2], test: (visit: Visit) => Promise<void>): Promise<void> {
    const opened = await visit(browser, newsroom.url + path, options)
    try {
      await test(opened)
    }
    finally {
      await opened.close()
    }
  }

  /** In Nuxt 4.0, the element that announces pages to screen readers is an alert too. */
  const problem = (page: Page) => page.locator('.problem[role=alert]')
  const titles = (page: Page) => page.locator('.lines strong').allTextContents()
  const ids = async (page: Page) => (await page.locator('.lines small').allTextContents()).map(text => Number(/#(\d+)/.exec(text)![1]))
  /** The desk's first rows for a caller who sees every row of an organisation. */
  const newest = (organization = 1, limit = 20) =>
    newsroom.rows<{ id: number, title: string }>(
      'select id, title from posts where organization_id = ? and deleted_at is null order by created_at desc, id desc limit ?',
      organization,
      limit,
    )
  /** For a look at a page: SHOTS names a folder. */
  async function screenshot(page: Page, name: string) {
    if (!process.env.SHOTS) return
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1280, 390]) {
        await page.emulateMedia({ colorScheme })
        await page.setViewportSize({ width, height: 800 })
        await page.screenshot({ path: join(process.env.SHOTS, `${name}-${colorScheme}-${width}.png`) })
      }
    }
  }
  const PAGES = [
    '/',
    '/articles/1',
    '/records?resource=users&limit=5',
    '/files',
    '/desk',
    '/trash',
    '/tagging',
    '/related',
    '/conflict',
    '/retry',
    '/permissions',
    '/explore',
    '/activity',
    '/tokens',
  ]

  /** The requests of live queries, by page. */
  const LIVE: Readonly<Record<string, readonly string[]>> = {
    '/articles/1': ['GET /api/comments'], '/desk': ['GET /api/posts', 'GET /api/posts/aggregate'],
  }

  describe('a page the server has rendered', () => {
    it.each(PAGES)('hydrates without a request or a mismatch, and fits the width of a phone: %s', async (path) => {
      await on(path, { as: EDITOR, viewport: { width: 360, height: 740 } }, async ({ page, requests, complaints }) => {
        // The pictures of posts are files of the API. Live queries are refetched once, when the stream has opened.
        const live = LIVE[path] ?? []
        const sent = requests.filter(request => !request.includes('/files/cover/')).map(request => request.split('?')[0]!)
        expect(sent.filter((request, index) => !live.includes(request) || sent.indexOf(request) !== index)).toEqual([])
        expect(complaints).toEqual([])
        expect(await wrongIds(page)).toEqual([])
        expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0)
      })
    })

    it('contains its rows before any script runs', async () => {
      const { body } = await newsroom.request('/desk', { headers: { cookie: `newsroom-caller=${EDITOR}` } })
      const html = String(body).replace(/<script[\s\S]*?<\/script>/g, '')
      expect([...html.matchAll(/<strong[^>]*>([^<]+)<\/strong>/g)].map(([, title]) => title)).toEqual(
        newest().map(({ title }) => escape(title)),
      )
    })

    it('shows a refusal from server rendering without a second request', async () => {
      await on('/trash', { as: WRITER }, async ({ page, requests, complaints }) => {
        expect(await problem(page).textContent()).toContain('403: You do not have permission to do this.')
        expect({ requests, complaints }).toEqual({ requests: [], complaints: [] })
      })
    })
  })

  describe('the history of a post', () => {
    it('shows who changed what, and reverts the post', async () => {
      const [post] = newest() as [{ id: number, title: string }]
      const titleOf = () => newsroom.rows<{ title: string }>('select title from posts where id = ?', post.id)[0]!.title
      const change = (title: string) =>
        newsroom.request(`/api/posts/${post.id}`, { method: 'PATCH', headers: { 'x-demo-user': String(EDITOR) }, body: { title } })
      await change('First change')
      await change('Second change')
      await on('/desk', { as: EDITOR }, async ({ page, complaints }) => {
        await act(page, post.id, 'History')
        const drawer = page.getByRole('dialog')
        await drawer.getByText('First change').first().waitFor()
        const [{ name }] = newsroom.rows<{ name: string }>('select name from users where id = ?', EDITOR) as [{ name: string }]
        // The names are of a request of their own.
        await expect.poll(async () => (await drawer.locator('li strong').allTextContents()).slice(0, 2)).toEqual([name, name])
        expect(await drawer.locator('dd').first().textContent()).toBe('First change Second change')
        await screenshot(page, 'history')
        const before = await drawer.locator('li').count()
        await drawer.getByRole('button', { name: /^Revert to this version/ }).first().click()
        await expect.poll(titleOf).toBe('First change')
        await expect.poll(() => drawer.locator('li').count()).toBe(before + 1)
        await page.keyboard.press('Escape')
        await expect.poll(() => drawer.count()).toBe(0)
        await expect.poll(async () => (await titles(page))[0]).toBe('First change')
        expect(complaints).toEqual([])
      })
      await on('/desk', { as: WRITER }, async ({ page }) => {
        await page.getByRole('button', { name: /^Actions of post/ }).first().click()
        await page.getByRole('menuitem', { name: 'Open' }).waitFor()
        expect(await page.getByRole('menuitem', { name: 'History' }).count()).toBe(0)
      })
      await on('/activity', { as: EDITOR }, async ({ page, requests, complaints }) => {
        expect(await page.getByRole('list', { name: 'Activity' }).locator('li').first().textContent()).toMatch(
          /updated the post\s*First change.*3 changes/,
        )
        expect({ requests, complaints }).toEqual({ requests: [], complaints: [] })
        await screenshot(page, 'activity')
      })
      await change(post.title)
    })
  })

  describe('an export', () => {
    it('is saved as a file with every row that the caller can see', async () => {
      await on('/records?resource=posts&limit=5', { as: EDITOR }, async ({ page, complaints }) => {
        const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export CSV' }).click()])
        const text = await readFile(await download.path(), 'utf8')
        const expected = newsroom.rows<{ id: number }>('select id from posts where organization_id = 1 and deleted_at is null order by id')
        expect([download.suggestedFilename(), complaints]).toEqual([expect.stringMatching(/^posts-.*\.csv$/), []])
        expect(
          papaparse
            .parse<{ id: string }>(text.trimEnd(), { header: true })
            .data.map(({ id }) => Number(id))
            .sort((a, b) => a - b),
        ).toEqual(expected.map(({ id }) => id))
      })
    })
  })

  describe('an import', () => {
    it('shows a preview or the refused lines, and writes the file when it is confirmed', async () => {
      await on('/records?resource=tags&limit=50', { as: EDITOR }, async ({ page, complaints }) => {
        const count = () => newsroom.rows<{ count: number }>('select count(*) as count from tags')[0]!.count
        const before = count()
        await page.getByRole('button', { name: 'Import', exact: true }).click()
        const choose = (text: string) =>
          page.getByLabel('CSV or NDJSON file').setInputFiles({ name: 'tags.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
        await choose('name,slug\nImported,imported\n,missing')
        await page.getByText('Line 3:').waitFor()
        expect(count()).toBe(before)
        complaints.length = 0
        await choose('name,slug\nImported one,imported-one\nImported two,imported-two')
        await page.getByText('2 records to create.').waitFor()
        expect(count()).toBe(before)
        await page.getByRole('button', { name: 'Import the file' }).click()
        await page.getByText('imported-two').waitFor()
        await page.getByText('2 records imported.', { exact: true }).waitFor()
        expect([count(), complaints]).toEqual([before + 2, []])
      })
    })
  })

  describe('a cover', () => {
    const files = () => readdirSync(folder, { recursive: true }).map(String).filter(name => /uploads\/posts\/.+-/.test(name))
    let seeded: readonly string[]
    beforeAll(() => void (seeded = files()))
    /** The files that are not part of the demo data. */
    const uploads = () => files().filter(name => !seeded.includes(name))
    const stored = (id: number) =>
      newsroom.rows<{ name: string | null }>('select cover ->> \'name\' as name from posts where id = ?', id)[0]!.name

    it('is uploaded, shown, replaced and removed, and the reason of a refused file is shown', async () => {
      const { id } = newest()[0]!
      await on('/desk', { as: EDITOR }, async ({ page, complaints }) => {
        const choose = (name: string, buffer: Buffer, mimeType = 'image/png') =>
          page.getByLabel('Cover: PNG').setInputFiles({ name, mimeType, buffer })
        const image = page.getByRole('group', { name: `Cover of post ${id}` }).locator('img')
        const widthOf = () =>
          image.evaluate(element => (element as HTMLImageElement).decode().then(() => (element as HTMLImageElement).naturalWidth))
        await page.getByRole('button', { name: `Edit post ${id}`, exact: true }).click()
        await choose('sunrise.png', createPng(60, 40, [200, 90, 40]))
        await page.getByText('sunrise.png').waitFor()
        expect([await widthOf(), stored(id)]).toEqual([60, 'sunrise.png'])
        await choose('noon.png', createPng(90, 60, [40, 90, 200]))
        await page.getByText('noon.png').waitFor()
        expect([await widthOf(), uploads()]).toEqual([90, [expect.stringMatching(/^\.data\/uploads\/posts\//)]])
        expect(complaints).toEqual([])
        await choose('huge.png', createPng(9, 9, [0, 0, 0], new Uint8Array(20_000_000)))
        await page.getByText('413: The body is larger than').waitFor()
        await choose('page.png', Buffer.from('<script>alert(1)</script>'))
        await page.getByText('415: The content of the file is none of the accepted types.').waitFor()
        expect([stored(id), uploads().length]).toEqual(['noon.png', 1])
        await page.getByRole('button', { name: 'Remove the cover' }).click()
        await image.waitFor({ state: 'detached' })
        expect([stored(id), uploads()]).toEqual([null, []])
      })
    })

    it('is not stored if the upload is cancelled', async () => {
      const { id } = newest()[1]!
      await on('/desk', { as: EDITOR }, async ({ page }) => {
        const session = await page.context().newCDPSession(page)
        await session.send('Network.emulateNetworkConditions', {
          offline: false,
          latency: 0,
          downloadThroughput: -1,
          uploadThroughput: 200_000,
        })
        await page.getByRole('button', { name: `Edit post ${id}`, exact: true }).click()
        await page
          .getByLabel('Cover: PNG')
          .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: createPng(9, 9, [0, 0, 0], new Uint8Array(3_000_000)) })
        const bar = page.getByRole('progressbar', { name: 'Upload' })
        await page.waitForFunction(() => (document.querySelector('progress')?.position ?? 0) > 0.05)
        // The browser reports bytes that it has handed over, and the server may not have read them yet.
        await expect.poll(uploads, { timeout: 10_000 }).toHaveLength(1)
        await page.getByRole('button', { name: 'Cancel the upload' }).click()
        await bar.waitFor({ state: 'detached' })
        await expect.poll(uploads, { timeout: 10_000 }).toEqual([])
        expect([await problem(page).count(), stored(id), uploads()]).toEqual([0, null, []])
      })
    })
  })

  describe('an optimistic edit', () => {
    /** Changes the first title of the desk by keyboard. @returns a function that lets the response through */
    async function edit(page: Page, title: string, status?: number) {
      let release = () => {}
      const held = new Promise<void>(resolve => release = resolve)
      await page.route('**/api/posts/*', async (route) => {
        if (route.request().method() !== 'PATCH') return route.continue()
        await held
        await (status === undefined
          ? route.continue()
          : route.fulfill({
              status,
              contentType: 'application/json',
              body: JSON.stringify({ statusCode: status, message: 'Somebody was faster.', data: { code: 'CONFLICT' } }),
            }))
      })
      await page.getByRole('button', { name: /^Actions of post/ }).first().focus()
      await page.keyboard.press('Enter')
      await page.getByRole('menuitem', { name: 'Rename' }).press('Enter')
      await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toMatch(/^New title of post/)
      await page.keyboard.press('ControlOrMeta+a')
      await page.keyboard.type(title)
      await page.keyboard.press('Enter')
      return release
    }

    it('is shown before the response, and stays after a success', async () => {
      await on('/desk', { as: EDITOR }, async ({ page }) => {
        const { id } = newest()[0]!
        const title = `A title of ${Date.now()}`
        const stored = () => newsroom.rows<{ title: string }>('select title from posts where id = ?', id)[0]!.title
        const release = await edit(page, title)
        await expect.poll(async () => (await titles(page))[0]).toBe(title)
        // Progress is shown, and the focus is where it was.
        expect(await page.getByRole('progressbar').count()).toBeGreaterThan(0)
        await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toMatch(/^Actions of post/)
        expect(stored()).not.toBe(title)
        release()
        await expect.poll(stored).toBe(title)
        await expect.poll(() => page.getByRole('progressbar').count()).toBe(0)
        expect((await titles(page))[0]).toBe(title)
      })
    })

    it('is rolled back on a 409, and the reason is shown', async () => {
      await on('/desk', { as: EDITOR }, async ({ page }) => {
        const before = await titles(page)
        const release = await edit(page, 'A title that comes too late', 409)
        await expect.poll(async () => (await titles(page))[0]).toBe('A title that comes too late')
        release()
        await expect.poll(async () => (await titles(page))[0]).toBe(before[0])
        expect(await problem(page).textContent()).toContain('Somebody was faster.')
        expect(await titles(page)).toEqual(before)
      })
    })
  })

  describe('an infinite list', () => {
    it('loads every row once, also rows with equal sort values', async () => {
      await on('/desk', { as: EDITOR }, async ({ page, requests }) => {
        // Drafts have no publication date: their sort values are equal.
        const all = newsroom.rows<{ id: number }>(
          'select id from posts where organization_id = 1 and deleted_at is null and status = \'draft\' order by published_at desc, id desc',
        )
        expect(all.length).toBeGreaterThan(100)
        await pick(page, 'Order', 'Latest publication first')
        await pick(page, 'Status', 'Draft')
        // Scrolls within the frame in which a page is added, so that the end never seems to leave the window.
        await page.evaluate(() => {
          const toBottom = () => window.scrollTo(0, document.body.scrollHeight)
          new MutationObserver(toBottom).observe(document.body, { childList: true, subtree: true })
          toBottom()
        })
        await page.getByText('That is all.').waitFor({ timeout: 60_000 })
        expect((await ids(page)).join()).toBe(all.map(({ id }) => id).join())
        const pages = requests.filter(request => request.startsWith('GET /api/posts?') && request.includes('draft'))
        expect(pages).toHaveLength(Math.ceil(all.length / 20))
        expect(new Set(pages).size).toBe(pages.length)
      })
    }, 120_000)

    it('is filtered and ordered by the server', async () => {
      await on('/desk', { as: EDITOR }, async ({ page }) => {
        await page.getByLabel('Title contains').fill('tram')
        await pick(page, 'Status', 'Published')
        await pick(page, 'Order', 'By title')
        const expected = newsroom.rows<{ title: string }>(
          'select title from posts where organization_id = 1 and deleted_at is null and status = \'published\' and title like \'%tram%\' order by title, id limit 20',
        )
        expect(expected.length).toBeGreaterThan(3)
        await expect.poll(() => titles(page)).toEqual(expected.map(({ title }) => title))
      })
    })
  })

  describe('a form', () => {
    it('shows validation errors beside their fields, and creates the record when they are fixed', async () => {
      await on('/desk', { as: EDITOR }, async ({ page }) => {
        await page.getByRole('button', { name: 'Write a post' }).click()
        const dialog = page.getByRole('dialog')
        await dialog.getByLabel('Title').fill('x'.repeat(161))
        await dialog.getByLabel('Slug').fill('a-draft-of-the-browser')
        await dialog.getByLabel('Text', { exact: true }).fill('Once upon a time.')
        await dialog.getByRole('button', { name: 'Create the draft' }).click()
        await dialog.getByText(/160/).waitFor()
        expect(await Promise.all(['Title', 'Slug'].map(label => dialog.getByLabel(label).getAttribute('aria-invalid')))).toEqual([
          'true',
          'false',
        ])

        await dialog.getByLabel('Title').fill('A draft of the browser')
        await dialog.getByRole('button', { name: 'Create the draft' }).click()
        await page.getByText('“A draft of the browser” is a draft now. It is the first post of the desk.', { exact: true }).waitFor()
        await expect.poll(async () => (await titles(page))[0]).toBe('A draft of the browser')
        expect(newsroom.rows('select status from posts where slug = \'a-draft-of-the-browser\'')).toEqual([{ status: 'draft' }])
      })
    })
  })

  describe('an action without permission', () => {
    it('is not offered to anonymous callers, nor for the posts of others', async () => {
      await on('/desk', {}, async ({ page }) => {
        expect(await page.getByRole('button', { name: /^(?:Edit|Actions of) post/ }).count()).toBe(0)
        expect(await page.getByText('Write a post').count()).toBe(0)
      })
      const mine = new Set(
        newsroom.rows<{ id: number }>('select id from posts where author_id = ? or created_by = ?', WRITER, WRITER).map(({ id }) => id),
      )
      const editable = (page: Page) =>
        page
          .getByRole('button', { name: /^Edit post/ })
          .evaluateAll(buttons => buttons.map(button => Number(/\d+/.exec(button.getAttribute('aria-label')!)![0])))
      await on('/desk', { as: WRITER }, async ({ page }) => {
        await pick(page, 'Order', 'Most read first')
        const [most] = newsroom.rows<{ id: number }>(
          `select id from posts where organization_id = 1 and deleted_at is null and (status = 'published' or author_id = ${WRITER} or created_by = ${WRITER}) order by views desc, id desc limit 1`,
        )
        await expect.poll(async () => (await ids(page))[0]).toBe(most!.id)
        const shown = await ids(page)
        const own = shown.filter(id => mine.has(id))
        expect(own.length).toBeGreaterThan(0)
        expect(own.length).toBeLessThan(shown.length)
        await expect.poll(() => editable(page)).toEqual(own)
      })
    })

    it('shows the rows of the new caller only, when the caller changes', async () => {
      await on('/desk', { as: EDITOR }, async ({ page }) => {
        const mine = await titles(page)
        const [other] = newsroom.rows<{ name: string }>(
          'select name from users where organization_id = 2 and role = \'editor\' and active = 1 order by id limit 1',
        )
        await pick(page, 'Send requests as', `${other!.name}, editor`)
        const expected = newest(2).map(({ title }) => title)
        await expect.poll(() => titles(page)).toEqual(expected)
        expect(expected).not.toEqual(mine)
      })
    })
  })

  describe('a write', () => {
    it('refetches the queries it affects, and no others', async () => {
      await on('/records?resource=posts&limit=5', { as: EDITOR }, async ({ page, requests }) => {
        const [first, second] = newsroom.rows<{ id: number }>(
          'select id from posts where organization_id = 1 and deleted_at is null order by id limit 2',
        ) as [{ id: number }, { id: number }]
        await page.getByLabel(`Choose posts ${first.id}`, { exact: true }).check()
        await page.getByLabel(`Choose posts ${second.id}`, { exact: true }).check()
        await pick(page, 'New status', 'Archived')
        await page.getByRole('button', { name: 'Set status' }).click()
        await page.getByText('2 chosen').waitFor({ state: 'detached' })
        expect(await page.locator('tbody tr').first().textContent()).toContain('Archived')
        expect(newsroom.rows(`select status from posts where id in (${first.id}, ${second.id})`)).toEqual([
          { status: 'archived' },
          { status: 'archived' },
        ])
        // The permissions on the records of the list, but not those on the resource.
        expect(requests.map(request => request.replace(/\?(?!ids).*|=.*/, '')).sort()).toEqual([
          'GET /api/posts',
          'GET /api/posts/permissions?ids',
          'PATCH /api/posts/bulk',
        ])
      })
    })

    it('that deletes or restores a row updates the list and the trash', async () => {
      await on('/records?resource=posts&limit=5', { as: ADMIN }, async ({ page }) => {
        const [{ id, title }] = newsroom.rows<{ id: number, title: string }>(
          'select id, title from posts where organization_id = 1 and deleted_at is null order by id limit 1',
        ) as [{ id: number, title: string }]
        const inTrash = () =>
          newsroom.rows<{ trashed: number }>('select deleted_at is not null trashed from posts where id = ?', id)[0]!.trashed
        await page.getByRole('button', { name: `Delete posts ${id}`, exact: true }).click()
        await confirm(page, 'Delete')
        await expect.poll(() => page.getByRole('button', { name: `Delete posts ${id}`, exact: true }).count()).toBe(0)
        expect(inTrash()).toBe(1)

        await openDeveloperPage(page, 'Trash')
        await page.getByText(`${title} #${id}`).waitFor()
        await page.getByRole('button', { name: `Restore posts ${id}`, exact: true }).click()
        await page.getByText(`${title} #${id}`).waitFor({ state: 'detached' })
        expect(inTrash()).toBe(0)

        await openDeveloperPage(page, 'Records')
        await page.getByRole('button', { name: `Delete posts ${id}`, exact: true }).waitFor()
      })
    })

    it('writes a comment once that is sent again with its key', async () => {
      const comments = () =>
        newsroom.rows<{ count: number }>('select count(*) as count from comments where body = ?', 'Sent twice.')[0]!.count
      await on('/retry', { as: EDITOR }, async ({ page }) => {
        await page.getByLabel('Comment', { exact: true }).fill('Sent twice.')
        for (const [name, line] of [['Send', /^201: a new comment/], ['Send again', /^201: the same response again/]] as const) {
          await page.getByRole('button', { name, exact: true }).click()
          await expect.poll(() => page.getByRole('list', { name: 'Responses' }).locator('li').last().textContent()).toMatch(line)
        }
        expect(comments()).toBe(1)
        await page.getByLabel('Comment', { exact: true }).fill('Another text.')
        await page.getByRole('button', { name: 'Send again' }).click()
        await expect.poll(() => page.getByRole('list', { name: 'Responses' }).locator('li').last().textContent()).toMatch(/^422:/)
      })
    })

    it('finds the posts with a tag and without comments', async () => {
      await on('/related', { as: EDITOR }, async ({ page, complaints }) => {
        await page.getByLabel('Without comments').check()
        const [tag] = newsroom.rows<{ id: number }>('select id from tags where organization_id = 1 order by name limit 1')
        const [{ count }] = newsroom.rows<{ count: number }>(
          `select count(*) as count from posts p where organization_id = 1 and deleted_at is null
          and exists (select 1 from posts_tags where post_id = p.id and tag_id = ?)
          and not exists (select 1 from comments where post_id = p.id and deleted_at is null)`,
          tag!.id,
        ) as [{ count: number }]
        await expect.poll(() => page.locator('main [role=status]').textContent()).toContain(`${count} posts`)
        expect([count > 0, complaints]).toEqual([true, []])
      })
    })

    it('does not overwrite a change that the form does not show', async () => {
      const stored = () =>
        newsroom.rows<{ title: string }>(
          'select title from posts where organization_id = 1 and deleted_at is null order by id desc limit 1',
        )[0]!.title
      await on('/conflict', { as: EDITOR }, async ({ page }) => {
        const input = page.getByLabel('Title', { exact: true })
        const save = async (title: string) => {
          await input.fill(title)
          await page.getByRole('button', { name: 'Save' }).click()
        }
        // The tag of the first save comes with the page that the server has rendered, that of the second one from the first.
        for (const title of ['First of mine', 'Second of mine']) {
          await save(title)
          await expect.poll(stored).toBe(title)
        }
        await page.getByRole('button', { name: 'Change it as somebody else' }).click()
        await expect.poll(stored).toMatch(/^Changed elsewhere/)
        const theirs = stored()
        await save('Third of mine')
        await expect.poll(() => problem(page).textContent()).toContain(theirs)
        expect(stored()).toBe(theirs)
        await page.getByRole('button', { name: 'Overwrite it' }).click()
        await expect.poll(stored).toBe('Third of mine')
        await expect.poll(() => problem(page).count()).toBe(0)
      })
    })

    it('that changes links updates the shown links', async () => {
      const [{ id }] = newsroom.rows<{ id: number }>(
        'select id from posts where organization_id = 1 and deleted_at is null order by id desc limit 1',
      ) as [{ id: number }]
      const linked = () =>
        newsroom
          .rows<{ name: string }>('select t.name from tags t join posts_tags l on l.tag_id = t.id where l.post_id = ? order by t.name', id)
          .map(({ name }) => name)
      await on(`/tagging?post=${id}`, { as: EDITOR }, async ({ page }) => {
        const chips = () => page.getByRole('list', { name: 'Tags of this post' }).locator('li').allTextContents()
        const shown = async () => (await chips()).map(text => text.replace('×', '').trim()).filter(text => text !== 'No tags.')
        const before = linked()
        expect(await shown()).toEqual(before)
        const [name] = newsroom
          .rows<{ name: string }>(
            'select name from tags where organization_id = 1 and id not in (select tag_id from posts_tags where post_id = ?) order by name desc limit 1',
            id,
          )
          .map(({ name }) => name)
        await pick(page, 'Tag to add', name!)
        await page.getByRole('button', { name: 'Add tag' }).click()
        await expect.poll(shown).toContain(name)
        expect(await shown()).toEqual(linked())
        await page.getByRole('button', { name: `Remove tag ${name}`, exact: true }).click()
        await expect.poll(shown).toEqual(before)
        expect(linked()).toEqual(before)
      })
    })
  })

  describe('an API token', () => {
    it('is shown once, works with its scopes, and is rotated and revoked by its owner only', async () => {
      const statusOf = async (token: string, path = '/api/posts?limit=1', method = 'GET') =>
        (await newsroom.request(path, { method, headers: { authorization: `Bearer ${token}` } })).status
      const rendered = async (as: number) =>
        String((await newsroom.request('/tokens', { headers: { cookie: `newsroom-caller=${as}` } })).body)
      await on('/tokens', { as: EDITOR, permissions: ['clipboard-read', 'clipboard-write'] }, async ({ page, requests, complaints }) => {
        const secret = async () => {
          const token = (await page.getByLabel('Token', { exact: true }).textContent())!.trim()
          rememberSecret(token)
          return token
        }
        await page.getByLabel('Name', { exact: true }).fill('weekly report')
        await page.getByLabel('tags:read').check()
        await page.getByRole('button', { name: 'Create token' }).click()
        await page.getByText('Copy the token of “weekly report” now').waitFor()
        const first = await secret()
        await page.getByRole('button', { name: 'Copy the token' }).click()
        await page.getByText('Token copied.').waitFor()
        expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(first)
        expect(await page.getByLabel('Command').textContent()).toContain(`-H 'Authorization: Bearer ${first}'`)
        expect(
          await Promise.all([
            statusOf(first),
            statusOf(first, '/api/tags'),
            statusOf(first, '/api/comments'),
            statusOf(first, '/api/posts/1', 'DELETE'),
          ]),
        ).toEqual([200, 200, 403, 403])
        await page.getByRole('button', { name: 'What can it do?' }).click()
        await page.getByText('It can do now: posts:read tags:read').waitFor()

        await page.getByRole('button', { name: 'Rotate weekly report' }).click()
        await expect.poll(secret).not.toBe(first)
        const second = await secret()
        expect(await Promise.all([first, second].map(token => statusOf(token)))).toEqual([200, 200])
        await page.getByRole('button', { name: 'Done' }).click()
        expect(await page.content()).not.toContain(second.slice(8))
        // The page that the server renders has the tokens of its caller, without secrets.
        expect((await rendered(EDITOR)).includes('weekly report')).toBe(true)
        expect((await rendered(WRITER)).includes('weekly report')).toBe(false)

        await page.getByRole('button', { name: 'Revoke weekly report' }).click()
        await confirm(page, 'Revoke')
        await page.getByText('This caller has no tokens.').waitFor()
        expect(await Promise.all([first, second].map(token => statusOf(token)))).toEqual([401, 401])
        assertNoSecrets(requests.join(), 'A URL of the page')
        expect(complaints).toEqual([])
      })
    })
  })

  describe('concurrent renders for two callers', () => {
    it('contain every row of their caller and none of the other, in the page and in its payload', async () => {
      const callers = [1, 2].map((organization) => {
        const [{ id }] = newsroom.rows<{ id: number }>(
          'select id from users where organization_id = ? and role = \'editor\' and active = 1 order by id limit 1',
          organization,
        ) as [{ id: number }]
        return { id, own: newest(organization).map(({ title }) => escape(title)) }
      })
      const renders = await Promise.all(Array.from({ length: 40 }, async (_, index) => {
        const caller = callers[index % 2]!
        const other = callers[(index + 1) % 2]!
        const { status, body } = await newsroom.request('/desk', { headers: { cookie: `newsroom-caller=${caller.id}` } })
        const count = (title: string) => String(body).split(title).length - 1
        const foreign = other.own.filter(title => !caller.own.includes(title))
        return {
          status,
          missing: caller.own.filter(title => count(title) < 2).length,
          leaked: foreign.filter(title => count(title) > 0).length,
          compared: foreign.length,
        }
      }))
      expect(renders.filter(({ status, missing, leaked }) => status !== 200 || missing > 0 || leaked > 0)).toEqual([])
      expect(renders.every(({ compared }) => compared >= 10)).toBe(true)
    })
  })

  it('returns an article to its author together with a comment, in one request', async () => {
    const [{ id, title }] = newsroom.rows<{ id: number, title: string }>(
      `select id, title from posts where status = 'published' and organization_id = 1 and deleted_at is null order by id desc limit 1`) as [{ id: number, title: string }]
    await on(`/articles/${id}`, { as: EDITOR }, async ({ page, requests, complaints }) => {
      await page.getByLabel('Your comment').fill('The second source is missing.')
      requests.length = 0
      await page.getByRole('button', { name: 'Send it and return the article' }).click()
      await page.getByText('The article is a draft again.').first().waitFor()
      expect(requests.filter(request => !request.startsWith('GET'))).toEqual(['POST /api/batch'])
      await page.getByText('The second source is missing.').first().waitFor()
      expect(await page.getByRole('button', { name: 'Send it and return the article' }).count()).toBe(0)
      expect([await page.getByRole('heading', { level: 1 }).textContent(), complaints]).toEqual([expect.stringContaining(title), []])
    })
    expect(newsroom.rows('select p.status, c.body from posts p join comments c on c.post_id = p.id where p.id = ? order by c.id desc limit 1', id))
      .toEqual([{ status: 'draft', body: 'The second source is missing.' }])
  })
})

/** A text as HTML contains it. The payload contains the same unless the text has characters to escape. */
function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('\'', '&#39;').replaceAll('"', '&quot;')
}
