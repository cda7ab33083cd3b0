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

/** Returns what axe finds. While a toast is open, the library has two spans beside it that pass the focus on. */
export async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const twoFrames = () => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))
    await twoFrames()
    // Colors that fade in are not those of the page.
    for (const animation of document.getAnimations()) {
      if (animation.effect?.getComputedTiming().endTime === Infinity) animation.cancel()
      else animation.finish()
    }
    await twoFrames()
    const { violations } = await (window as unknown as { axe: Axe }).axe.run(
      { exclude: [['[role=region][aria-label^=Notifications] > span']] },
      { resultTypes: ['violations'] },
    )
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary.slice(0, 300)}`),
    )
  })
}

/** Expects that axe finds nothing. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await findViolations(page)).toEqual([])
}

/** Returns by how many pixels the page is wider than the window. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - window.innerWidth))

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
export async function withPage(
  browser: Browser,
  url: string,
  options: Parameters<typeof visit>[2],
  test: (visit: Visit) => Promise<void>,
): Promise<void> {
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
export const toast = (page: Page, text: string | RegExp) =>
  page
    .getByRole('region', { name: /Notifications/ })
    .getByText(text)
    .first()
    .waitFor()
