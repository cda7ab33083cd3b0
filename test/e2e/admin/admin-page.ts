/** Opens the admin of the built playground in a browser, and checks what every page of it has to keep. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { expect } from 'vitest'
import { visit, type Visit } from '../newsroom/browser'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Axe { readonly run: (context: object, options: object) => Promise<{ readonly violations: readonly Violation[] }> }
interface Violation { readonly id: string, readonly nodes: readonly { readonly html: string, readonly failureSummary: string }[] }

/** Expects that axe finds nothing. While a toast is open, the library has two spans beside it that pass the focus on. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(AXE)
  // The components of Nuxt UI animate for less than this.
  await page.waitForTimeout(350)
  const violations = await page.evaluate(async () => {
    const { violations } = await (window as unknown as { axe: Axe }).axe.run({ exclude: [['[role=region][aria-label^=Notifications] > span']] }, { resultTypes: ['violations'] })
    return violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary.slice(0, 300)}`) }))
  })
  expect(violations).toEqual([])
}

/** Expects that nothing is wider than the page. */
export async function expectFits(page: Page): Promise<void> {
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0)
}

/** For a look at a page: SHOTS names a folder. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (!process.env.SHOTS) return
  const before = page.viewportSize()!
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.waitForTimeout(100)
      await page.screenshot({ path: join(process.env.SHOTS, `${name}-${colorScheme}-${width}.png`), animations: 'disabled' })
    }
  }
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize(before)
}

export const VIEWPORT = { width: 1440, height: 900 }

/** Opens a page and closes it after the test. Refused requests of a test are no complaints. */
export async function withPage(browser: Browser, url: string, options: Parameters<typeof visit>[2], test: (visit: Visit) => Promise<void>): Promise<void> {
  const opened = await visit(browser, url, { viewport: VIEWPORT, ...options })
  try {
    await test(opened)
    expect(opened.complaints.filter(text => !/status of 4\d\d/.test(text))).toEqual([])
  }
  finally {
    await opened.close()
  }
}

/** Waits for a toast with this text. */
export const toast = (page: Page, text: string | RegExp) => page.getByRole('region', { name: /Notifications/ }).getByText(text).first().waitFor()
