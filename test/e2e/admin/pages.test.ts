/**
 * Every page of the admin for four callers, on the built playground: accessible in both themes, as wide as the window, without complaints
 * of
 * the browser, and without anything that the API refuses to the caller.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isReachable, CHROMIUM } from '../../support/services'
import { launch, load, openBlank, repeatedIds, visit, wrongIds } from '../newsroom/browser'
import { ADMIN, EDITOR } from '../newsroom/callers'
import { startNewsroom, type Newsroom } from '../newsroom/server'
import { findViolations, overflowOf, screenshot, VIEWPORT } from './admin-page'

const folder = mkdtempSync(join(tmpdir(), 'admin-pages-'))
const there = await isReachable(CHROMIUM)
let newsroom: Newsroom
let browser: Browser

interface Caller {
  readonly caller: string
  readonly as: () => number | undefined
  /** The paths below `/admin`. `ID` is the id of a published post. */
  readonly paths: readonly string[]
}

const CALLERS: readonly Caller[] = [
  { caller: 'nobody', as: () => undefined, paths: ['', '/posts/ID', '/desk-report'] },
  {
    caller: 'a reader',
    as: () => idOf('role = \'reader\''),
    paths: ['', '/posts', '/posts/ID', '/comments', '/comments/new', '/-/activity', '/-/permissions'],
  },
  {
    caller: 'an editor',
    as: () => EDITOR,
    paths: [
      '',
      '/posts',
      '/posts/ID',
      '/posts/ID?tab=history',
      '/posts/ID?tab=relation:tags',
      '/posts/new',
      '/posts/trash',
      '/-/audit',
      '/desk-report',
    ],
  },
  {
    caller: 'an administrator',
    as: () => ADMIN,
    paths: ['/comments', '/tags', '/media', '/users', '/users/2', '/organizations/1', '/comments/trash', '/-/tokens'],
  },
]

const idOf = (condition: string) =>
  newsroom.rows<{ id: number }>(`select id from users where organization_id = 1 and active = 1 and ${condition}`)[0]!.id
const post = () => newsroom.rows<{ id: number }>(
  'select id from posts where organization_id = 1 and status = \'published\' and deleted_at is null limit 1')[0]!.id

describe.runIf(there)('the pages of the admin', () => {
  beforeAll(async () => {
    newsroom = await startNewsroom(join(folder, 'pages.sqlite'))
    browser = await launch()
  })

  afterAll(async () => {
    await browser?.close()
    await newsroom?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  describe.concurrent.each(CALLERS)('for $caller', ({ caller, as, paths }) => {
    it('are accessible in both themes, fit every window, and contain only what the API allows', async () => {
      const { body, status } = await newsroom.request('/api/_admin', { as: as() })
      expect(status).toBe(as() === undefined ? 401 : 200)
      const refused = await findRefused(as(), body)
      expect([refused.code.length, refused.data.length].every(Boolean)).toBe(true)

      const { page, complaints, close } = await openBlank(browser, newsroom.url, { as: as(), viewport: VIEWPORT })
      const scripts = new Set<string>()
      page.on('response', response => response.url().endsWith('.js') && scripts.add(response.url()))
      const found: Record<string, unknown> = {}
      for (const path of paths) {
        const url = `/admin${path.replace('ID', String(post()))}`
        const response = await load(page, newsroom.url + url)
        const html = await response.text()
        found[path] = {
          status: response.status(),
          ...(await look(page, `${caller.replace(/\W/g, '-')}${path.replaceAll(/\W/g, '-')}`)),
          complaints: complaints.splice(0).filter(text => as() !== undefined || !/status of 401/.test(text)),
          refused: [...refused.code, ...refused.data].filter(text => html.includes(text)),
          offered: await findOffered(page, path, body),
        }
      }
      const clean = {
        status: as() === undefined ? 401 : 200,
        violations: { light: [], dark: [] },
        overflow: [0, 0, 0],
        wrongIds: [],
        complaints: [],
        refused: [],
        offered: [],
      }
      expect(found).toEqual(Object.fromEntries(paths.map(path => [path, clean])))

      const code = (await Promise.all([...scripts].map(async url => (await fetch(url)).text()))).join('\n')
      expect(code.length).toBeGreaterThan(100_000)
      expect(refused.code.filter(text => code.includes(text))).toEqual([])
      await close()
    }, 240_000)
  })

  it('hydrate in the dark theme', async () => {
    const { page, complaints, close } = await visit(browser, `${newsroom.url}/admin/posts`, { as: EDITOR, colorScheme: 'dark' })
    expect([await page.evaluate(() => document.documentElement.className), complaints]).toEqual([expect.stringContaining('dark'), []])
    await close()
  })

  async function look(page: Page, name: string): Promise<object> {
    const light = await findViolations(page)
    await page.emulateMedia({ colorScheme: 'dark' })
    const dark = await findViolations(page)
    await page.emulateMedia({ colorScheme: 'light' })
    const overflow: number[] = []
    for (const width of [390, 2560, VIEWPORT.width]) {
      await page.setViewportSize({ ...VIEWPORT, width })
      overflow.push(await overflowOf(page))
    }
    await screenshot(page, name)
    return { violations: { light, dark }, overflow, wrongIds: [...(await wrongIds(page)), ...(await repeatedIds(page))] }
  }

  type Capabilities = Readonly<Record<'canCreate' | 'canDelete' | 'canViewDeleted', boolean>>

  /** The links and buttons of actions that the API refuses to the caller. */
  async function findOffered(page: Page, path: string, { resources = {} }: { resources?: Record<string, { capabilities: Capabilities }> }) {
    const links = await page.locator('a[href^="/admin/"]').evaluateAll(all => all.map(link => link.getAttribute('href')!))
    const refused = Object.entries(resources).flatMap(
      ([
        name,
        {
          capabilities: { canCreate, canViewDeleted },
        },
      ]) => [...(canCreate ? [] : [`/admin/${name}/new`]), ...(canViewDeleted ? [] : [`/admin/${name}/trash`])],
    )
    const own = resources[path.split(/[/?]/)[1] ?? '']
    const deletes = own && !own.capabilities.canDelete ? await page.getByRole('button', { name: /^Delete/ }).count() : 0
    return [...links.filter(link => refused.includes(link)), ...(deletes > 0 ? ['Delete'] : [])]
  }

  interface Access {
    readonly pages?: readonly { readonly path: string, readonly label: string, readonly chunk: { readonly script: string } }[]
  }

  /**
   * What only other callers receive. `code`: pages and secret columns, which no file of the admin names. `data`: other fields, and rows.
   */
  async function findRefused(
    as: number | undefined,
    access: Access,
  ): Promise<{ readonly code: readonly string[], readonly data: readonly string[] }> {
    const describedTo = async (as?: number) => {
      const { body } = await newsroom.request('/api/_schema', { as })
      return Object.values<{ fields: object }>(body.resources).flatMap(({ fields }) => Object.keys(fields))
    }
    const [all, own] = [await describedTo(ADMIN), await describedTo(as)]
    const { body } = await newsroom.request('/api/_admin', { as: ADMIN })
    const isShown = new Set((access.pages ?? []).map(({ path }) => path))
    const pages = (body as Access).pages!.filter(({ path }) => !isShown.has(path))
    const texts = (sql: string) => newsroom.rows<{ text: string }>(sql).map(({ text }) => text)
    const { meta } = (await newsroom.request('/api/posts?filter[status]=draft&limit=1', { as })).body
    const visible = meta.total > 0 ? 'organization_id = 1' : 'organization_id = 1 and status = \'published\''
    const hidden = all.filter(name => !own.includes(name))
    return {
      code: [
        'passwordHash',
        'password_hash',
        ...hidden.filter(name => name === 'salary'),
        ...pages.flatMap(({ path, label, chunk }) => [path, label, chunk.script]),
      ],
      data: [
        // An entry of the activity feed has a `recordId` for every reader.
        ...hidden.filter(name => /[A-Z]/.test(name) && name !== 'recordId'),
        ...texts(`select title as text from posts where title not in (select title from posts where ${visible})`),
        ...(own.includes('email') ? [] : texts('select email as text from users')),
      ],
    }
  }
})
