/** The size of the admin in the browser: nothing on other pages, and a bounded first view. */
import { gzipSync } from 'node:zlib'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launch } from '../newsroom/browser'
import { buildFixture } from '../support/build'
import { startServer, type Server } from '../support/server'

let server: Server
let browser: Browser

beforeAll(async () => {
  server = await startServer(await buildFixture('admin'))
  browser = await launch()
})
afterAll(async () => {
  await browser?.close()
  await server?.stop()
})

/** Returns the scripts and styles that a page loads, by URL. */
async function load(path: string): Promise<Map<string, string>> {
  const context = await browser.newContext({ extraHTTPHeaders: { 'x-caller': JSON.stringify({ user: { id: 1 }, permissions: ['*'] }) } })
  const page = await context.newPage()
  const urls = new Set<string>()
  page.on('response', response => /\.(?:js|css)$/.test(response.url()) && urls.add(response.url()))
  await page.goto(server.url + path)
  await page.waitForLoadState('networkidle')
  await context.close()
  return new Map(await Promise.all([...urls].map(async url => [url, await (await fetch(url)).text()] as const)))
}

const kilobytes = (texts: Iterable<string>) => [...texts].reduce((sum, text) => sum + gzipSync(text).length, 0) / 1000

describe('the files of the admin', () => {
  it('are absent from other pages, and at most 275 kB on the first view, with its components of Nuxt UI', async () => {
    const other = await load('/')
    const first = await load('/back-office')
    const added = [...first].filter(([url]) => !other.has(url))
    const size = kilobytes(added.map(([, text]) => text))
    expect(added.length).toBeGreaterThan(3)
    expect(size).toBeLessThanOrEqual(275)
    // The app's own texts for the admin are in its app config, which every page has.
    const isOfAdmin = (text: string) => /aa-view|_admin/.test(text)
    expect(added.some(([, text]) => isOfAdmin(text))).toBe(true)
    expect([...other].filter(([, text]) => isOfAdmin(text)).map(([url]) => url)).toEqual([])
  })
})
