/** The site of the docs, generated from a fresh clone: complete, without dead links, found by its search, readable in both themes. */
import { globSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listPages } from '../../build.docs'
import { resolveLink, toRoute } from '../../docs/site/links'
import { listRedirects } from '../../docs/site/redirects'
import { launch } from '../e2e/newsroom/browser'
import { copySources } from '../support/copy'
import { root } from '../support/once'
import { serveFolder, type StaticSite } from '../support/static'
import { createFolder, run } from './tarball'

/** What a newcomer searches for, and the page that answers. */
const QUESTIONS = [
  ['pagination', ['nuxt-ui', 'querying', 'tables', 'composables']],
  ['optimistic update', ['composables']],
  ['better-auth', ['better-auth']],
  ['switch to postgres', ['postgres']],
  ['deploy to cloudflare', ['cloudflare']],
  ['test rules', ['testing']],
  ['live', ['live']],
  ['computed', ['computed']],
  ['batch', ['batch']],
  ['why 403', ['explain']],
] as const satisfies readonly (readonly [string, readonly string[]])[]

const files = listPages(root)
const routes = files.map(toRoute)
const redirects = Object.entries(listRedirects(files))
const pageNamed = (name: string) => routes.find(route => basename(route) === name)!
const LOOKED_AT = ['/', ...['getting-started', 'authorization', 'options', 'live'].map(pageNamed)]

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const folder = createFolder()
const output = join(folder, 'clone/docs/.output/public')
let site: StaticSite
let browser: Browser

beforeAll(async () => {
  copySources(join(folder, 'clone'))
  const docs = join(folder, 'clone/docs')
  run(docs, 'npm', 'ci', '--prefer-offline', '--no-audit', '--no-fund')
  run(docs, 'npm', 'run', 'generate')
  site = await serveFolder(output)
  browser = await launch()
}, 15 * 60_000)

afterAll(async () => {
  await browser?.close()
  await site?.close()
  rmSync(folder, { recursive: true, force: true })
})

const readOutput = (path: string) => readFileSync(join(output, path), 'utf8')
const unescape = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', '\'')
/** The values of an attribute in the HTML, without those of scripts. */
const attributes = (html: string, names: string) =>
  [...html.replace(/<script\b[\s\S]*?<\/script>/g, '').matchAll(new RegExp(`\\s(?:${names})="([^"]*)"`, 'g'))].map(([, value]) => unescape(value!))

describe('the site', () => {
  it('has no dead link and no dead anchor', async () => {
    const pages = globSync('**/*.html', { cwd: output }).filter(file => !/^(?:200|404)\.html$/.test(file))
    const links = pages.flatMap((file) => {
      const page = `/${file.replace(/index\.html$/, '')}`
      return attributes(readOutput(file), 'href|src').map(link => ({ page, target: new URL(link, new URL(page, site.url)) }))
    })
    const own = links.filter(({ target }) => target.origin === site.url)
    const dead: string[] = []
    const known = new Map<string, { readonly ids: ReadonlySet<string> } | undefined>()
    for (const { page, target } of own) {
      const { pathname, hash } = target
      if (!known.has(pathname)) {
        const response = await fetch(site.url + pathname)
        known.set(pathname, response.ok ? { ids: new Set(attributes(await response.text(), 'id')) } : undefined)
      }
      const found = known.get(pathname)
      if (!found || (hash !== '' && !found.ids.has(decodeURIComponent(hash.slice(1))))) dead.push(`${page} → ${pathname}${hash}`)
    }
    console.log(`${pages.length} files of HTML, ${own.length} links to ${known.size} paths, ${links.length - own.length} to other hosts, ${dead.length} dead`)
    expect(own.length).toBeGreaterThan(routes.length * 10)
    expect([...new Set(dead)]).toEqual([])
  })

  it.each(routes)('shows the title once: %s', (route) => {
    expect(readOutput(`${route}/index.html`).match(/<h1\b/g)).toHaveLength(1)
  })

  it.each(files)('links what the Markdown links: %s', (file) => {
    const markdown = readFileSync(join(root, 'docs', file), 'utf8').replace(/^```[\s\S]+?^```$/gm, '')
    const links = [...markdown.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link]) => resolveLink(file, link!, '') ?? [])
    const shown = attributes(readOutput(`${toRoute(file)}/index.html`), 'href|src')
    expect(links.length).toBeGreaterThan(1)
    expect(shown).toEqual(expect.arrayContaining(links))
  })

  it.each(files.map(file => [`${toRoute(file)}.md`, file]))('has the Markdown of the page: %s', (path, file) => {
    expect(readOutput(path)).toBe(readFileSync(join(root, 'docs', file), 'utf8'))
  })

  it('lists every page in llms.txt, and contains all of them in llms-full.txt', () => {
    const listed = [...readOutput('llms.txt').matchAll(/^- \[.+?\]\((.+?)\): .+$/gm)].map(([, link]) => link)
    expect(listed).toEqual(routes.map(route => `${route}.md`))
    const full = readOutput('llms-full.txt')
    for (const file of files) expect(full).toContain(readFileSync(join(root, 'docs', file), 'utf8'))
  })

  it('loads nothing from other hosts', () => {
    for (const file of globSync('**/*.{html,css}', { cwd: output }))
      expect(readOutput(file).match(/(?:src="|url\(["']?|<link [^>]*href=")https?:\/\/[^"')]+/g)).toBeNull()
  })

  it('responds with 404 and a page that leads back', async () => {
    const response = await fetch(`${site.url}/start/nowhere`)
    expect(response.status).toBe(404)
    expect(await response.text()).toContain('Page not found')
    await withPage('/start/nowhere', {}, async (page) => {
      await page.getByText('404').waitFor()
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Page not found')
    })
  })
})

describe('an old address', () => {
  it.each(redirects)('redirects without scripts: %s', async (from, to) => {
    const response = await fetch(site.url + from)
    expect(response.status).toBe(200)
    expect(await response.text()).toContain(`content="0; url=${to}"`)
    expect(routes).toContain(to)
  })

  it('keeps the anchor', async () => {
    await withPage('/errors#unknown_field', {}, async (page) => {
      await page.waitForURL(`${site.url}${pageNamed('errors')}#unknown_field`)
      expect(await page.locator('#unknown_field').isVisible()).toBe(true)
    })
  })
})

describe('a newcomer', () => {
  it('finds the pages of ten questions on the start page, or as the first result of the search', async () => {
    const found = new Set(attributes(readOutput('index.html'), 'href').map(link => link.split('#')[0]!))
    const lost: string[] = []
    await withPage('/', {}, async (page) => {
      await page.getByRole('button', { name: /search/i }).first().click()
      for (const [query, names] of QUESTIONS) {
        const answers = names.map(pageNamed)
        await page.getByRole('dialog').getByRole('textbox').or(page.getByRole('dialog').getByRole('combobox')).first().fill(query)
        await page.waitForTimeout(1000)
        const options = page.locator('[role=option][href]')
        const first = await options.count() === 0 ? null : await options.first().getAttribute('href')
        const isFirst = answers.includes(first?.split('#')[0] ?? '')
        const isLinked = answers.some(answer => found.has(answer))
        console.log(`${query}: ${isLinked ? 'one click from the start page' : 'not on the start page'}, first result ${first}${isFirst ? '' : ' (another page)'}`)
        if (!isLinked && !isFirst) lost.push(query)
      }
    })
    expect(lost).toEqual([])
  })
})

describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
  it.each(LOOKED_AT.flatMap(path => [1280, 390].map(width => [path, width] as const)))('has nothing that axe finds wrong: %s at %i px', async (path, width) => {
    await withPage(path, { colorScheme, viewport: { width, height: 900 } }, async (page) => {
      await page.evaluate(axe)
      const results = await page.evaluate(async () => {
        const { violations, passes } = await (window as unknown as { axe: typeof import('axe-core') }).axe.run()
        return {
          broken: violations.map(({ id, nodes }) => `${id} (${nodes.length}): ${nodes[0]!.html.slice(0, 200)}`),
          passed: passes.length,
        }
      })
      console.log(`${colorScheme} ${width} px ${path}: ${results.passed} rules passed, ${results.broken.length} violations`)
      expect(results.broken).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0)
    })
  })
})

/** Opens a page and waits until it is hydrated. @throws if it logs an error or a warning of Vue */
async function withPage(path: string, options: Parameters<Browser['newContext']>[0], look: (page: Page) => Promise<void>): Promise<void> {
  const context = await browser.newContext(options)
  try {
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', message => /\[Vue warn\]|[Hh]ydration/.test(message.text()) && complaints.push(message.text()))
    page.on('pageerror', error => complaints.push(error.message))
    page.on('request', request => request.url().startsWith('http') && !request.url().startsWith(site.url) && complaints.push(request.url()))
    await page.goto(site.url + path, { waitUntil: 'networkidle' })
    await look(page)
    if (path !== '/start/nowhere') expect(complaints).toEqual([])
  }
  finally {
    await context.close()
  }
}
