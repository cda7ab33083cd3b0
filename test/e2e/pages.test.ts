/** What people notice on the playground's pages: names, focus, undo, contrast, and what a caller is offered. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isReachable, CHROMIUM } from '../support/services'
import { act, confirm, launch, openDeveloperPage, pick, quiet, repeatedIds, visit, type Visit } from './newsroom/browser'
import { ADMIN, EDITOR, OTHER_ADMIN, WRITER } from './newsroom/callers'
import { startNewsroom, type Newsroom } from './newsroom/server'

const folder = mkdtempSync(join(tmpdir(), 'newsroom-'))
const there = await isReachable(CHROMIUM)
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
let newsroom: Newsroom
let browser: Browser

/** Every page, and a caller who sees something on it. */
const PAGES: readonly [path: string, as?: number][] = [
  ['/', undefined], ['/articles/1', EDITOR], ['/desk', EDITOR], ['/desk', undefined], ['/trash', ADMIN], ['/files', EDITOR],
  ['/records?resource=posts&limit=5', ADMIN], ['/explore', EDITOR], ['/activity', EDITOR], ['/permissions', EDITOR], ['/tokens', EDITOR],
  ['/conflict', EDITOR], ['/retry', EDITOR], ['/related', EDITOR], ['/tagging', EDITOR], ['/discussion', EDITOR],
]

describe.runIf(there)('the pages of the playground', () => {
  beforeAll(async () => {
    newsroom = await startNewsroom(join(folder, 'pages.sqlite'))
    browser = await launch()
  })

  afterAll(async () => {
    await browser?.close()
    await newsroom?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function on(path: string, options: Parameters<typeof visit>[2], test: (visit: Visit) => Promise<void>): Promise<void> {
    const opened = await visit(browser, newsroom.url + path, options)
    try {
      await test(opened)
    }
    finally {
      await opened.close()
    }
  }

  /** The rules that axe finds broken, and the first element of each. The name of a button has to contain its visible text. */
  async function broken(page: Page): Promise<string[]> {
    // Colors that change slowly, or under the pointer, are not those of the page.
    await page.mouse.move(0, 0)
    await page.addStyleTag({ content: '*, *::before, *::after { transition: none !important; animation: none !important }' })
    await page.evaluate(axe)
    return page.evaluate(async () => {
      const { axe } = window as unknown as { axe: typeof import('axe-core') }
      const { violations } = await axe.run({ rules: { 'label-content-name-mismatch': { enabled: true } } })
      return violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html.slice(0, 200)}`)
    })
  }

  const idOf = (role: string) =>
    newsroom.rows<{ id: number }>('select id from users where organization_id = 1 and active = 1 and role = ?', role)[0]!.id
  const active = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.tagName)
  const titles = (page: Page) => page.locator('.lines strong').allTextContents()
  const organization = 'organization_id = 1 and deleted_at is null'

  /** For a look at a page: SHOTS names a folder. */
  async function screenshot(page: Page, name: string, colorScheme: 'light' | 'dark') {
    if (!process.env.SHOTS) return
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 })
      await page.screenshot({ path: join(process.env.SHOTS, `${name}-${colorScheme}-${width}.png`) })
    }
  }

  describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
    it.each(PAGES)('have nothing that axe finds wrong: %s, caller %s', async (path, as) => {
      await on(path, { as, colorScheme }, async ({ page, complaints }) => {
        expect({ broken: await broken(page), repeated: await repeatedIds(page), complaints }).toEqual({
          broken: [],
          repeated: [],
          complaints: [],
        })
        await screenshot(page, `page${path.replace(/\W+/g, '-')}${as === undefined ? '-anonymous' : ''}`, colorScheme)
      })
    })
  })

  it.each([
    ['a visitor', () => undefined],
    ['a reader', () => idOf('reader')],
    ['a writer', () => WRITER],
  ])('offer %s no action that the API refuses', async (_who, as) => {
    const { body } = await newsroom.request('/api/permissions', { as: as() })
    const { canCreate, canDelete, canViewDeleted } = body.permissions.posts
    await on('/desk', { as: as() }, async ({ page }) => {
      const count = (role: 'button' | 'link', name: string | RegExp) =>
        page
          .getByRole(role, { name })
          .count()
          .then(count => count > 0)
      const offered = [await count('button', 'Write a post'), await count('link', 'Open the trash')]
      expect(offered).toEqual([canCreate, canViewDeleted])
      const menus = page.getByRole('button', { name: /^Actions of post/ })
      if (canDelete || await menus.count() === 0) return
      await menus.first().click()
      await page.getByRole('menuitem', { name: 'Open' }).waitFor()
      expect(await page.getByRole('menuitem', { name: 'Delete' }).count()).toBe(0)
    })
  })

  it('mark the current page, and reach every page from the menus', async () => {
    await on('/desk', { as: EDITOR }, async ({ page, complaints }) => {
      expect(await page.getByRole('navigation', { name: 'Pages', exact: true }).locator('[aria-current=page]').allTextContents()).toEqual([
        'Desk',
      ])
      await openDeveloperPage(page, 'Retry')
      await page.getByRole('heading', { name: 'Send a comment, and send it again' }).waitFor()
      await page.setViewportSize({ width: 390, height: 800 })
      await page.getByRole('button', { name: 'Open menu' }).click()
      await page.getByRole('dialog').getByRole('link', { name: 'Conflict' }).click()
      await page.getByRole('heading', { name: 'Edit without overwriting' }).waitFor()
      expect(complaints).toEqual([])
    })
  })

  /** With SHOTS, writes the pictures of the README. */
  it('lead from the desk to the lists of the admin', async () => {
    await on('/desk', { as: EDITOR, viewport: { width: 1280, height: 640 } }, async ({ page, complaints }) => {
      const picture = async (name: string) => process.env.SHOTS && await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`) })
      await picture('desk')
      await page.getByRole('link', { name: 'Admin', exact: true }).click()
      await page.waitForURL(url => url.pathname === '/admin')
      await page.getByRole('link', { name: 'Posts', exact: true }).first().click()
      await page.waitForURL(url => url.pathname === '/admin/posts')
      await page.getByRole('row').nth(5).waitFor()
      await quiet(page)
      await picture('admin')
      expect(complaints).toEqual([])
    })
  })

  describe('the desk', () => {
    it('refuses an empty post, beside its fields', async () => {
      await on('/desk', { as: WRITER }, async ({ page }) => {
        const count = () => newsroom.rows<{ count: number }>('select count(*) as count from posts')[0]!.count
        const before = count()
        await page.getByRole('button', { name: 'Write a post' }).click()
        const dialog = page.getByRole('dialog')
        await dialog.getByLabel('Title').fill('   ')
        await dialog.getByLabel('Text', { exact: true }).fill('Only a text.')
        await dialog.getByRole('button', { name: 'Create the draft' }).click()
        await expect.poll(() => dialog.getByLabel('Slug').getAttribute('aria-invalid')).toBe('true')
        expect(await broken(page)).toEqual([])
        expect(count()).toBe(before)
      })
      const { status, body } = await newsroom.request('/api/posts', {
        method: 'POST',
        as: WRITER,
        body: { title: '', slug: 'x', body: 'x' },
      })
      expect([status, body.data.issues[0].path]).toEqual([400, ['title']])
    })

    it('shows a new draft first', async () => {
      await on('/desk', { as: WRITER }, async ({ page, complaints }) => {
        await page.getByRole('button', { name: 'Write a post' }).click()
        const dialog = page.getByRole('dialog')
        await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('title')
        await page.keyboard.type('A café in Riverside')
        await dialog.getByLabel('Text', { exact: true }).fill('It opens on Monday.')
        expect(await dialog.getByLabel('Slug').inputValue()).toBe('a-cafe-in-riverside')
        await dialog.getByRole('button', { name: 'Create the draft' }).click()
        await expect.poll(async () => (await titles(page))[0]).toBe('A café in Riverside')
        expect(complaints).toEqual([])
      })
    })

    it('deletes with the keyboard, keeps the focus in the list, and undoes the delete', async () => {
      const body = { title: 'Without comments', slug: 'without-comments', body: 'Nobody can have commented on it yet.' }
      expect((await newsroom.request('/api/posts', { method: 'POST', as: EDITOR, body })).status).toBe(201)
      await on('/desk', { as: EDITOR }, async ({ page, complaints }) => {
        const [first, second] = newsroom.rows<{ id: number, title: string }>(
          `select id, title from posts where ${organization} order by created_at desc, id desc limit 2`,
        ) as [{ id: number, title: string }, { id: number, title: string }]
        const trashed = () => newsroom.rows<{ id: number }>('select id from posts where id = ? and deleted_at is not null', first.id).length
        await page.getByRole('button', { name: `Actions of post ${first.id}`, exact: true }).focus()
        await page.keyboard.press('Enter')
        await page.getByRole('menuitem', { name: 'Delete' }).waitFor()
        await page.keyboard.press('End')
        await page.keyboard.press('Enter')
        await page.getByText(`“${first.title}” is in the trash.`, { exact: true }).waitFor()
        expect(trashed()).toBe(1)
        await expect.poll(() => active(page)).toMatch(new RegExp(`post ${second.id}$`))
        await page.getByRole('button', { name: 'Undo' }).click()
        await expect.poll(trashed).toBe(0)
        await expect.poll(async () => (await titles(page))[0]).toBe(first.title)
        expect(complaints).toEqual([])
      })
    })

    it('asks before a delete that cascades, and undoes all of it', async () => {
      const [{ id, title, comments }] = newsroom.rows<{ id: number, title: string, comments: number }>(
        `select id, title, (select count(*) from comments c where c.post_id = p.id and c.deleted_at is null) comments from posts p where ${organization} and status = 'published' and comments > 1 order by created_at desc, id desc limit 1`,
      ) as [{ id: number, title: string, comments: number }]
      const left = () => newsroom.rows('select id from comments where post_id = ? and deleted_at is null', id).length
      await on('/desk', { as: EDITOR }, async ({ page }) => {
        await page.getByLabel('Title contains').fill(title)
        await expect.poll(async () => (await titles(page)).every(shown => shown === title)).toBe(true)
        await act(page, id, 'Delete')
        await page.getByText(`${comments} comments move to the trash with the post.`).waitFor()
        await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
        await expect.poll(() => active(page)).toBe(`Actions of post ${id}`)
        expect(left()).toBe(comments)
        await act(page, id, 'Delete')
        await confirm(page, 'Delete')
        await expect.poll(left).toBe(0)
        await page.getByRole('button', { name: 'Undo' }).click()
        await expect.poll(left).toBe(comments)
      })
    })

    it('changes several posts, and offers no checkboxes to callers who can do nothing with them', async () => {
      await on('/desk', { as: EDITOR }, async ({ page }) => {
        const chosen = newsroom
          .rows<{ id: number }>(`select id from posts where ${organization} order by created_at desc, id desc limit 2`)
          .map(({ id }) => id)
        for (const id of chosen) await page.getByRole('checkbox', { name: `Choose post ${id}`, exact: true }).check()
        await page.getByRole('button', { name: 'Set status' }).click()
        await page.getByRole('menuitem', { name: 'Archived' }).click()
        await page.getByText('2 posts changed to “Archived”.', { exact: true }).waitFor()
        expect(newsroom.rows(`select distinct status from posts where id in (${chosen.join()})`)).toEqual([{ status: 'archived' }])
      })
      const [reader] = newsroom.rows<{ id: number }>(
        'select id from users where organization_id = 1 and role = \'reader\' and active = 1 limit 1',
      )
      for (const path of ['/desk', '/records?resource=posts'])
        await on(path, { as: reader!.id }, async ({ page }) => expect(await page.getByRole('checkbox').count()).toBe(0))
    })
  })

  it('the records show one record in a dialog, which has the focus and returns it', async () => {
    await on('/records?resource=posts&limit=50', { as: EDITOR }, async ({ page }) => {
      const button = page.getByRole('button', { name: /^View posts/ }).last()
      const name = await button.getAttribute('aria-label')
      await button.click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('region', { name: 'The record' }).getByText('"title"').waitFor()
      expect(await dialog.evaluate(element => element.contains(document.activeElement))).toBe(true)
      expect(await broken(page)).toEqual([])
      await page.keyboard.press('Escape')
      await expect.poll(() => active(page)).toBe(name)
    })
  })

  it('the trash keeps the focus after a restore, and shows a purge as dangerous', async () => {
    await on('/trash', { as: ADMIN }, async ({ page }) => {
      const names = () =>
        page
          .getByRole('button', { name: /^Restore posts/ })
          .evaluateAll(buttons => buttons.map(button => button.getAttribute('aria-label')!))
      const [first] = await names()
      await page.getByRole('button', { name: first!, exact: true }).focus()
      await page.keyboard.press('Enter')
      await expect.poll(names).not.toContain(first)
      await expect.poll(() => active(page)).not.toBe('BODY')
      const colorOf = (name: RegExp) => page.getByRole('button', { name }).first().evaluate(element => getComputedStyle(element).color)
      expect(await colorOf(/^Purge posts/)).not.toBe(await colorOf(/^Restore posts/))
      await page.getByRole('button', { name: /^Purge posts/ }).first().click()
      await page.getByText('is removed for good.').waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    })
  })

  describe('the explorer', () => {
    it('starts a condition with a value that the API accepts, and shows the SQL', async () => {
      await on('/explore', { as: EDITOR }, async ({ page }) => {
        await page.getByRole('button', { name: 'Add a condition' }).click()
        await page.getByRole('button', { name: 'Run the query' }).click()
        await page.getByRole('region', { name: 'Request', exact: true }).getByText('filter=').waitFor()
        expect(await page.locator('main [role=status]').textContent()).toMatch(/^\s*200/)
        await page.getByText('SQL', { exact: true }).click()
        expect(await page.getByRole('region', { name: 'Statement 1' }).textContent()).toMatch(
          /select[\s\S]+from "posts"[\s\S]+"organization_id" = (?:likely\()?\?/,
        )
      })
    })

    it('shows whether a response comes from the cache', async () => {
      await on('/explore', { as: EDITOR }, async ({ page }) => {
        await page.getByRole('link', { name: 'From the response cache' }).click()
        await page.getByText('cache: miss').waitFor()
        await page.getByRole('button', { name: 'Run the query' }).click()
        await page.getByText('cache: hit').waitFor()
        expect(await page.locator('main [role=status]').textContent()).toContain('0 SQL statements')
      })
    })
  })

  it('the front page shows what three callers receive for the same requests', async () => {
    await on('/', {}, async ({ page, requests, complaints }) => {
      const columns = await Promise.all((await page.locator('[data-compared]').all()).map(async (column) => {
        const texts = (selector: string) => column.locator(selector).allTextContents().then(all => all.map(text => text.trim()))
        return { titles: await texts('li > span:first-child'), statuses: await texts('p > span:first-child') }
      }))
      const lists = await Promise.all([undefined, WRITER, OTHER_ADMIN].map(async (as) => {
        const { body } = await newsroom.request('/api/posts?limit=5', { as })
        return body.data.map(({ title }: { title: string }) => title) as string[]
      }))
      expect(columns).toEqual([['200', '401'], ['200', '403'], ['200', '404']].map((statuses, index) => ({ titles: lists[index], statuses })))
      expect(new Set(lists.map(titles => titles.join())).size).toBe(3)
      await page.getByRole('button', { name: /^Switch to/ }).first().click()
      await page.getByText('You are this caller').waitFor()
      await expect.poll(() => page.getByRole('combobox', { name: 'Send requests as' }).textContent()).toContain('writer')
      expect([requests.filter(request => !request.startsWith('GET')), complaints]).toEqual([[], []])
    })
  })

  it('the site shows published posts by topic, and an editor approves a comment', async () => {
    await on('/', { as: EDITOR }, async ({ page, complaints }) => {
      const [tag] = newsroom.rows<{ id: number, name: string }>('select id, name from tags where organization_id = 1 order by name limit 1')
      await page.getByRole('navigation', { name: 'Topics' }).getByRole('link', { name: tag!.name }).click()
      const [newest] = newsroom.rows<{ title: string }>(
        `select title from posts p join posts_tags t on t.post_id = p.id where ${organization} and status = 'published' and tag_id = ? order by published_at desc, id desc limit 1`,
        tag!.id,
      )
      await expect.poll(() => page.locator('article h2').first().textContent()).toContain(newest!.title)
      await page.locator('article a').first().click()
      await page.getByRole('heading', { level: 1, name: newest!.title }).waitFor()
      await page.getByRole('button', { name: 'Send the comment' }).click()
      await page.getByLabel('Your comment').fill('I have read it.')
      await page.getByRole('button', { name: 'Send the comment' }).click()
      await page.getByText('Your comment waits for approval.', { exact: true }).first().waitFor()
      await page.getByRole('listitem').filter({ hasText: 'I have read it.' }).getByRole('button', { name: 'Approve' }).click()
      await expect
        .poll(() => newsroom.rows('select status from comments where body = ?', 'I have read it.'))
        .toEqual([{ status: 'approved' }])
      expect(complaints).toEqual([])
    })
    await on('/articles/999999', {}, async ({ page }) => {
      await page.getByText('No such story').waitFor()
    })
  })

  it('the caller changes without a new page', async () => {
    await on('/permissions', {}, async ({ page }) => {
      const verdicts = () => page.getByRole('row', { name: /^Posts/ }).textContent()
      expect(await verdicts()).toMatch(/^\s*Posts\s*yes\s*no/)
      const [admin] = newsroom.rows<{ name: string }>('select name from users where id = ?', ADMIN)
      await pick(page, 'Send requests as', `${admin!.name}, admin`)
      await expect.poll(verdicts).toMatch(/^\s*Posts\s*yes\s*yes/)
    })
  })
})
