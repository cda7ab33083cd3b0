/** What a module adds to the admin with `autoAdmin:extend`: a view and a part of each slot, for callers whom its plugin permits it. */
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

const SHELVER = JSON.stringify({ user: { id: 1 }, permissions: ['writer', 'shelver'] })
const WRITER = JSON.stringify({ user: { id: 1 }, permissions: ['writer'] })

async function open(path: string, caller = SHELVER) {
  const response = await fetch(`${server.url}/back-office${path}`, { headers: { 'accept': 'text/html', 'x-caller': caller } })
  const html = await response.text()
  const text = html.replace(/<script[\s\S]*?<\/script>/g, '')
  return { status: response.status, html, text, parts: [...text.matchAll(/shelf-part ([^<]*)\.<\/span>/g)].map(([, shown]) => shown!.split(' ').sort().join(' ')) }
}

describe('a part of a module', () => {
  it.each([
    ['at the end of the overview', '', ['']],
    ['beside the menus of a list', '/samples', ['query=object resource=samples']],
    ['as a tab of a record', '/samples/1?tab=shelf', ['canUpdate=true id=1 resource=samples']],
    ['as its field of a record', '/samples/1', ['record=object resource=samples']],
    ['as its field of a new record', '/samples/new', ['resource=samples']],
  ])('is shown %s, with the properties of the slot', async (_where, path, expected) => {
    const { status, parts } = await open(path)
    expect([status, parts]).toEqual([200, expected])
  })

  it('replaces the input of its field, and the value of the field', async () => {
    const { status } = await server.request('/service/v1/samples/7', {
      method: 'PATCH', headers: { 'x-caller': SHELVER }, body: { kind: 'small' },
    })
    expect(status).toBe(200)
    expect((await open('/samples?filter=id:$eq:7')).parts).toEqual(['query=object resource=samples', 'name=kind resource=samples row=object'])
    expect((await open('/samples/7')).text).not.toMatch(/>\s*Kind\s*</)
    expect((await open('/samples/7', WRITER)).text).toMatch(/>\s*Kind\s*</)
  })

  it.each(['', '/samples', '/samples/7', '/samples/7?tab=shelf', '/samples/new'])('is absent for other callers: %s', async (path) => {
    const { status, html, parts } = await open(path, WRITER)
    expect([status, parts]).toEqual([200, []])
    expect(html).not.toMatch(/Shelves|Shelf of the record/)
  })
})

describe('a view of a module', () => {
  it('is in the navigation between the views of the built-in plugins and the permissions, and replaces the list of its resource', async () => {
    const { text } = await open('')
    const links = [...text.matchAll(/href="\/back-office([^"]*)"/g)].map(([, path]) => path)
    expect(links).toEqual(expect.arrayContaining(['/-/shelf', '/-/permissions', '/samples']))
    expect(links.indexOf('/-/shelf')).toBeLessThan(links.indexOf('/-/permissions'))
    expect(links).not.toContain('/new')
    expect(text).toContain('Shelves')
  })

  it('has the path of its name, for callers who can use its tool', async () => {
    const { status, text } = await open('/-/shelf')
    expect([status, text]).toEqual([200, expect.stringContaining('shelf-view-marker')])
    expect((await open('/-/shelf', WRITER)).status).toBe(404)
  })

  it('does not exist if only the plugin names it', async () => {
    expect((await open('/-/nowhere')).status).toBe(404)
    expect((await open('')).html).not.toContain('/-/nowhere')
  })
})

it('the parts and the view of a module hydrate without a difference, and are shown after navigations in the browser', async () => {
  const context = await browser.newContext({ extraHTTPHeaders: { 'x-caller': SHELVER } })
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', message => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()))
  page.on('pageerror', error => complaints.push(error.message))
  await page.goto(`${server.url}/back-office`)
  await page.locator('.shelf').waitFor()
  await page.getByRole('link', { name: 'Shelves' }).click()
  await page.getByText('shelf-view-marker').waitFor()
  for (const path of ['/samples', '/samples/7', '/samples/7?tab=shelf']) {
    await page.goto(`${server.url}/back-office${path}`)
    await page.locator('.shelf').first().waitFor()
    await page.waitForLoadState('networkidle')
  }
  await context.close()
  expect(complaints).toEqual([])
})
