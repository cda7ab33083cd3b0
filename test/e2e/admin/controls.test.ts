/** The controls of the admin and the playground: disabled until the page is hydrated, and then used with the keyboard. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { isReachable, CHROMIUM } from '../../support/services'
import { launch, openBlank, quiet, type Visit } from '../newsroom/browser'
import { ADMIN, EDITOR } from '../newsroom/callers'
import { startNewsroom, type Newsroom } from '../newsroom/server'
import { toast, VIEWPORT, withPage } from './admin-page'

const folder = mkdtempSync(join(tmpdir(), 'admin-controls-'))
const there = await isReachable(CHROMIUM)
let newsroom: Newsroom
let browser: Browser

/** Pages with controls. `ID` is the id of a post. */
const PAGES: readonly [path: string, as: number][] = [
  ['/admin', EDITOR],
  ['/admin/posts', EDITOR],
  ['/admin/posts/ID', EDITOR],
  ['/admin/posts/new', EDITOR],
  ['/admin/posts/trash', ADMIN],
  ['/admin/-/audit', EDITOR],
  ['/admin/-/tokens', EDITOR],
  ['/admin/-/webhooks', EDITOR],
  ['/desk', EDITOR],
  ['/articles/1', EDITOR],
  ['/tokens', EDITOR],
  ['/conflict', EDITOR],
  ['/retry', EDITOR],
  ['/tagging', EDITOR],
  ['/discussion', EDITOR],
  ['/explore', EDITOR],
  ['/files', EDITOR],
  ['/records?resource=posts', EDITOR],
  ['/trash', ADMIN],
]

/** Everything that opens over a page: what opens it, and the name of the element that then has the focus. */
interface Layer {
  readonly what: string
  readonly path: string
  readonly as?: number
  readonly width?: number
  /** What to do before. */
  readonly prepare?: (page: Page) => Promise<unknown>
  readonly opener: (page: Page) => Locator
  /** The entry of the menu that the opener opens first. */
  readonly entry?: string
  /** Empty if any element inside may have the focus. */
  readonly focused: string
}

const button = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name, exact: typeof name === 'string' }).first()
const select = (name: string) => (page: Page) => page.getByLabel(name, { exact: true })

const LAYERS: readonly Layer[] = [
  { what: 'the filters', path: '/posts', opener: button('Add filter'), focused: 'Field' },
  { what: 'a quick filter', path: '/posts', opener: button('Status'), focused: '' },
  { what: 'the display', path: '/posts', opener: button('Display'), focused: '' },
  { what: 'the actions of a row', path: '/posts', opener: button(/^Actions for /), focused: '' },
  { what: 'more actions', path: '/tags', opener: button('More actions'), focused: '' },
  { what: 'the number of lines', path: '/posts', opener: select('Records per page'), focused: '' },
  { what: 'the name of a view', path: '/posts?q=a', opener: button('Save view'), focused: 'Name of the view' },
  { what: 'an import', path: '/tags', opener: button('More actions'), entry: 'Import', focused: 'CSV or NDJSON file' },
  {
    what: 'an edit of several records', path: '/tags', opener: button('Edit'), focused: 'Field to change',
    prepare: page => page.getByRole('checkbox', { name: 'Select all on this page' }).click(),
  },
  { what: 'a delete', path: '/tags', opener: button(/^Actions for /), entry: 'Delete', focused: 'Cancel' },
  { what: 'the record beside a list', path: '/posts', opener: page => page.locator('tbody a').first(), focused: 'dialog' },
  { what: 'a delete of the record', path: '/posts/ID', opener: button('More actions'), entry: 'Delete', focused: 'Reason' },
  { what: 'records to choose from', path: '/posts/ID', opener: select('Author'), focused: 'Search' },
  {
    what: 'unsaved changes', path: '/posts/ID', opener: page => page.getByRole('link', { name: 'Overview' }).first(), focused: 'Stay',
    prepare: page => page.locator('input[name=title]').fill('Changed'),
  },
  { what: 'a restore', path: '/posts/trash', as: ADMIN, opener: button(/^Restore /), focused: 'Cancel' },
  {
    what: 'a purge', path: '/posts/trash', as: ADMIN, opener: button(/^Actions for /), entry: 'Delete permanently',
    focused: 'Type delete to confirm',
  },
  { what: 'a new token', path: '/-/tokens', opener: button('New token'), focused: 'Name' },
  { what: 'a new webhook', path: '/-/webhooks', opener: button('New webhook'), focused: 'URL' },
  { what: 'the time of the audit log', path: '/-/audit', opener: button(/^Time: /), focused: 'Today' },
  { what: 'the kinds of the audit log', path: '/-/audit', opener: select('Change'), focused: '' },
  { what: 'the command menu', path: '/posts', opener: button(/^Search/), focused: 'Go to a page or a record' },
  { what: 'the keyboard shortcuts', path: '/posts', opener: button('Keyboard shortcuts'), focused: 'Use keys without a modifier' },
  { what: 'the filters of a phone', path: '/posts', width: 390, opener: button('Add filter'), focused: 'Field' },
  { what: 'the menu of a phone', path: '/posts', width: 390, opener: button('Menu'), focused: '' },
]

describe.runIf(there)('the controls', { concurrent: true }, () => {
  beforeAll(async () => {
    newsroom = await startNewsroom(join(folder, 'controls.sqlite'))
    browser = await launch()
  })

  afterAll(async () => {
    await browser?.close()
    await newsroom?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const anyPost = () =>
    newsroom.rows<{ id: number }>(
      'select id from posts where organization_id = 1 and status = \'published\' and deleted_at is null and published_at is not null limit 1',
    )[0]!.id
  const toUrl = (path: string) => newsroom.url + path.replace('ID', String(anyPost()))
  const on = (path: string, as: number, test: (visit: Visit) => Promise<void>, options = {}) =>
    withPage(browser, toUrl(`/admin${path}`), { as, ...options }, test)
  /** A page as the server has rendered it. */
  const renderOn = (as: number) => openBlank(browser, newsroom.url, { as, viewport: VIEWPORT, javaScriptEnabled: false })

  // Before the others, which change the lists.
  describe('before the page is hydrated', { concurrent: false }, () => {
    it.for([EDITOR, ADMIN])('are disabled, and no form is sent: caller %s', async (as, { expect }) => {
      const { page, close } = await renderOn(as)
      const found: Record<string, unknown> = {}
      const paths = PAGES.filter(([, caller]) => caller === as).map(([path]) => path)
      for (const path of paths) {
        await page.goto(toUrl(path), { waitUntil: 'domcontentloaded' })
        const { count, enabled, forms, fields } = await page.evaluate(() => {
          const controls = [...document.querySelectorAll('button, input, select, textarea')]
          return {
            count: controls.length,
            enabled: controls.filter(control => !control.matches(':disabled')).map(control => control.outerHTML.slice(0, 100)),
            forms: [...document.querySelectorAll('form')].filter(form => form.method !== 'post').map(form => form.outerHTML.slice(0, 100)),
            fields: document.querySelectorAll('form input').length,
          }
        })
        const field = page.locator('form input').first()
        if (fields > 0) {
          await field.evaluate((input: HTMLInputElement) => {
            input.value = 'secret'
            input.focus()
          })
          await page.keyboard.press('Enter')
          await page.waitForTimeout(100)
        }
        found[path] = { hasControls: count > 0, enabled, forms, url: page.url() }
      }
      expect(found).toEqual(Object.fromEntries(paths.map(path => [path, { hasControls: true, enabled: [], forms: [], url: toUrl(path) }])))
      await close()
    })

    it('are where they are afterwards, in a table with the columns that the person has chosen', async ({ expect }) => {
      const columns = {
        name: 'auto-admin-posts-columns',
        value: encodeURIComponent('["title","publishedAt","views"]'),
        url: `${newsroom.url}/admin`,
      }
      const [before, after] = await Promise.all([renderOn(EDITOR), openBlank(browser, newsroom.url, { as: EDITOR, viewport: VIEWPORT })])
      const found: Record<string, unknown> = {}
      const expected: Record<string, unknown> = {}
      const paths = ['/posts', '/posts/ID', '/posts/ID?tab=relation:tags', '/posts/trash', '/-/audit', '/-/activity']
      await Promise.all(([[expected, before, false], [found, after, true]] as const).map(async ([which, { page }, isHydrated]) => {
        await page.context().addCookies([columns])
        for (const path of paths) {
          await page.goto(toUrl(`/admin${path}`))
          if (isHydrated) await quiet(page)
          // Only the browser knows the saved views.
          which[path] = (await placesOf(page)).filter(place => !place.startsWith('BUTTON Save view'))
        }
      }))
      expect(found).toEqual(expected)
      expect(JSON.stringify(expected['/posts'])).toMatch(/Title.*Published at.*Views/)
      await Promise.all([before.close(), after.close()])
    })

    it('leave out times in the time zone of the reader, which the server does not know', async ({ expect }) => {
      const path = toUrl(`/admin/posts/ID`)
      const input = (page: Page) => page.locator('input[name=publishedAt]').inputValue()
      const before = await renderOn(EDITOR)
      await before.page.goto(path)
      expect(await input(before.page)).toBe('')
      await before.close()
      await on('/posts/ID', EDITOR, async ({ page }) => {
        const { published_at: at } = newsroom.rows<{ published_at: number }>('select published_at from posts where id = ?', anyPost())[0]!
        await expect
          .poll(() => input(page))
          .toBe(await page.evaluate(time => new Date(time + 9 * 3_600_000).toISOString().slice(0, 16), at))
      })
    })
  })

  describe('of everything that opens over a page', () => {
    it.for(LAYERS)(
      'have the focus, and return it: $what',
      async ({ path, as = EDITOR, width = VIEWPORT.width, prepare, opener, entry, focused }, { expect }) => {
        await on(
          path,
          as,
          async ({ page }) => {
            await prepare?.(page)
            const button = opener(page)
            await button.evaluate(element => element.setAttribute('data-opener', ''))
            await button.focus()
            await page.keyboard.press('Enter')
            if (entry !== undefined) await page.getByRole('menuitem', { name: entry, exact: true }).click()
            await expect.poll(() => nameOfFocus(page)).toMatch(focused === '' ? /^inside/ : `inside: ${focused}`)
            const scrolled = await page.evaluate(() => scrollY)
            await page.keyboard.press('ArrowDown')
            expect(await page.evaluate(() => scrollY)).toBe(scrolled)
            // The arrow key can have opened a list inside, which is closed first.
            await expect
              .poll(async () => {
                const open = await page.locator('[role=dialog], [role=menu], [role=listbox]').count()
                if (open > 0) await page.keyboard.press('Escape')
                return open
              })
              .toBe(0)
            await expect.poll(() => page.evaluate(() => document.activeElement?.hasAttribute('data-opener'))).toBe(true)
          },
          { viewport: { ...VIEWPORT, width } },
        )
      },
    )

    it('apply a filter with Enter', async ({ expect }) => {
      await on('/posts', EDITOR, async ({ page }) => {
        const { keyboard } = page
        const filter = () => new URL(page.url()).searchParams.getAll('filter')
        await page.getByRole('button', { name: 'Add filter' }).press('Enter')
        await expect.poll(() => nameOfFocus(page)).toBe('inside: Field')
        // A status from its list, which Enter closes and then applies.
        await keyboard.press('Tab')
        await keyboard.press('Tab')
        await keyboard.press('Space')
        await page.getByRole('option', { name: 'draft' }).waitFor()
        await keyboard.press('d')
        await keyboard.press('Enter')
        await expect.poll(() => nameOfFocus(page)).toBe('inside: Value')
        await keyboard.press('Enter')
        await expect.poll(filter).toEqual(['status:$eq:draft'])
        await expect.poll(() => nameOfFocus(page)).toBe('outside: Add filter')
        // A text.
        await keyboard.press('Enter')
        await expect.poll(() => nameOfFocus(page)).toBe('inside: Field')
        await keyboard.press('Space')
        await page.getByRole('option', { name: 'Title' }).click()
        await page.getByLabel('Value').fill('an')
        await keyboard.press('Enter')
        await expect.poll(filter).toHaveLength(2)
        await expect.poll(() => nameOfFocus(page)).toBe('outside: Add filter')
      })
    })

    it('confirm a dialog with Enter, once it is complete', async ({ expect }) => {
      const {
        body: { id },
      } = await newsroom.request('/api/posts', { method: 'POST', as: ADMIN, body: { title: 'By Enter', slug: 'by-enter', body: 'Text.' } })
      await on(`/posts/${id}`, ADMIN, async ({ page }) => {
        await page.getByRole('button', { name: 'More actions' }).click()
        await page.getByRole('menuitem', { name: 'Delete' }).click()
        const { keyboard } = page
        await expect.poll(() => nameOfFocus(page)).toBe('inside: Reason')
        await page.getByRole('dialog').getByRole('listitem').first().waitFor()
        await keyboard.type('Spam')
        await keyboard.press('Enter')
        await toast(page, 'By Enter is in the trash.')
        await page.goto(toUrl('/admin/posts/trash'))
        await page.getByRole('button', { name: 'Actions for By Enter' }).click()
        await page.getByRole('menuitem', { name: 'Delete permanently' }).click()
        await page.getByRole('dialog').getByRole('listitem').first().waitFor()
        await keyboard.press('Enter')
        await keyboard.type('delete')
        expect(newsroom.rows('select id from posts where id = ?', id)).toHaveLength(1)
        await keyboard.press('Enter')
        await toast(page, 'By Enter is deleted permanently.')
      })
    })

    it('give the focus to a field that was chosen, and to a new secret', async ({ expect }) => {
      await on('/tags', EDITOR, async ({ page }) => {
        await page.getByRole('checkbox', { name: 'Select all on this page' }).click()
        await page.getByRole('button', { name: 'Edit', exact: true }).click()
        await expect.poll(() => nameOfFocus(page)).toBe('inside: Field to change')
        await page.keyboard.press('Enter')
        await page.getByRole('option', { name: 'Name' }).click()
        await expect.poll(() => nameOfFocus(page)).toBe('inside: Name')
      })
      await on('/-/tokens', EDITOR, async ({ page }) => {
        await page.getByRole('button', { name: 'New token' }).click()
        await expect.poll(() => nameOfFocus(page)).toBe('inside: Name')
        await page.keyboard.type('By Enter')
        await page.keyboard.press('Enter')
        await expect.poll(() => nameOfFocus(page)).toBe('inside: Token')
        await page.keyboard.press('Escape')
        await expect.poll(() => nameOfFocus(page)).toBe('outside: New token')
      })
    })
  })
})

/** `inside: Name` for an element of a dialog, a menu or a list, `outside: Name` for one of the page. */
const nameOfFocus = (page: Page) => page.evaluate(() => {
  const element = document.activeElement!
  const label = (element as HTMLInputElement).labels?.[0]?.textContent
  const own = element.matches('button:not([role])') ? element.textContent : element.getAttribute('role') ?? element.textContent
  const name = element.getAttribute('aria-label') ?? label ?? element.getAttribute('placeholder') ?? own
  return `${element.closest('[role=dialog], [role=menu], [role=listbox]') ? 'inside' : 'outside'}: ${name?.trim().replace(/\s*\*$/, '')}`
})

/** The texts and the places of what is in the main part of a page. The server does not know the time zone in which the page shows times. */
const placesOf = (page: Page) => page.evaluate(() =>
  [...document.querySelectorAll('main :is(h1, th, td, time, button, input, li)')].map((element) => {
    const { x, y, width, height } = element.getBoundingClientRect()
    const isTime = element.matches('time, td:has(time)')
    const text = isTime ? '' : element.textContent?.trim().slice(0, 40)
    return `${element.tagName} ${text} ${[x, y, ...element.matches('time') ? [] : [width], height].map(Math.round).join(' ')}`
  }))
