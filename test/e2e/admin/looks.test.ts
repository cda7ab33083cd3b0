/**
 * Every view of the admin, and the first pages of the playground, in both themes and on a phone: axe finds nothing, and nothing is wider
 * than the window. `PICTURES=1` takes the pictures of the docs, too; `PICTURES=/some/folder` takes all of them into that folder. A tool
 * such as `pngquant` makes them smaller.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { root } from '../../support/once'
import { isReachable, CHROMIUM } from '../../support/services'
import { launch } from '../newsroom/browser'
import { ADMIN, EDITOR } from '../newsroom/callers'
import { startNewsroom, type Newsroom } from '../newsroom/server'
import { findViolations, overflowOf, withPage } from './admin-page'

const VIEWS: Readonly<Record<string, { readonly path: string, readonly as?: number }>> = {
  'admin-overview': { path: '/admin' },
  'admin-list': { path: '/admin/posts' },
  'admin-panel': { path: '/admin/posts?open=2000' },
  'admin-record': { path: '/admin/posts/2000' },
  'admin-create': { path: '/admin/posts/new' },
  'admin-related': { path: '/admin/posts/2000?tab=relation:comments' },
  'admin-history': { path: '/admin/posts/2000?tab=history' },
  'admin-trash': { path: '/admin/posts/trash' },
  'admin-audit': { path: '/admin/-/audit', as: ADMIN },
  'admin-activity': { path: '/admin/-/activity' },
  'admin-permissions': { path: '/admin/-/permissions' },
  'admin-webhooks': { path: '/admin/-/webhooks', as: ADMIN },
  'front-page': { path: '/' },
  'desk': { path: '/desk' },
}

const folder = mkdtempSync(join(tmpdir(), 'admin-looks-'))
const pictures = join(root, 'docs/images')
/** The folder of all pictures, if they are wanted. */
const all = process.env.PICTURES?.startsWith('/') ? process.env.PICTURES : undefined
/** Pictures of the docs that are neither light nor of a wide window. */
const SHOWN = ['admin-overview-dark.png', 'admin-list-phone.png']
const there = await isReachable(CHROMIUM)
let newsroom: Newsroom
let browser: Browser

describe.runIf(there)('the page', () => {
  beforeAll(async () => {
    newsroom = await startNewsroom(join(folder, 'looks.sqlite'))
    browser = await launch()
    const body = { url: 'https://search.example.com/hooks', events: ['posts.created', 'posts.deleted'] }
    if ((await newsroom.request('/api/webhooks', { method: 'POST', as: ADMIN, body })).status !== 201) throw new Error('No webhook.')
    mkdirSync(pictures, { recursive: true })
  })

  afterAll(async () => {
    await browser?.close()
    await newsroom?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it.for(Object.entries(VIEWS))('%s is accessible and fits in the window', async ([name, { path, as = EDITOR }], { expect }) => {
    await withPage(browser, newsroom.url + path, { as, viewport: { width: 1280, height: 800 } }, async ({ page }) => {
      const found: string[] = []
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: width === 390 ? 844 : 800 })
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme })
          const at = `${colorScheme}, ${width} px: `
          found.push(...(await findViolations(page)).map(violation => at + violation))
          const overflow = await overflowOf(page)
          if (overflow > 0) found.push(`${at}${overflow} px wider than the window`)
          const file = `${name}${colorScheme === 'dark' ? '-dark' : ''}${width === 390 ? '-phone' : ''}.png`
          const isShown = (name.startsWith('admin-') && colorScheme === 'light' && width === 1280) || SHOWN.includes(file)
          if (process.env.PICTURES && (isShown || all))
            await page.screenshot({ path: join(all ?? pictures, file), animations: 'disabled' })
        }
      }
      expect(found).toEqual([])
    })
  })
})
