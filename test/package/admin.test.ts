/** Builds the app of the first snippets of the admin page, which does not list Nuxt UI, and requests its pages over HTTP. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../support/once'
import { createFolder, installPackedPackage, run, startBuiltApp, type RunningServer } from './tarball'

/** The packages that the page installs, in the versions of the repository. */
const versions = Object.fromEntries(['@nuxt/ui', 'tailwindcss', '@iconify-json/lucide'].map((name): [string, string] =>
  [name, JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version]))

describe('an app that does not list Nuxt UI', () => {
  const folder = createFolder()
  let server: RunningServer | undefined

  beforeAll(async () => {
    await installPackedPackage(folder, { versions, files: 'admin' })
    cpSync(join(root, 'test/package/likes'), join(folder, 'likes'), { recursive: true })
    const config = join(folder, 'nuxt.config.ts')
    const text = readFileSync(config, 'utf8')
    writeFileSync(config, text.replace('modules: [', 'likes: { resources: [\'books\'] },\n  modules: [\'./likes/module\', '))
    run(folder, 'nuxi', 'build')
    server = await startBuiltApp(folder)
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const open = async (path: string, user?: string) => {
    const response = await fetch(server!.url + path, {
      redirect: 'manual',
      headers: { accept: 'text/html', ...(user && { 'x-user': user }) },
    })
    return { status: response.status, location: response.headers.get('location'), html: await response.text() }
  }

  /** The text of the style sheets of a page. */
  async function stylesOf(html: string): Promise<string> {
    const links = [...html.matchAll(/<link [^>]*rel="stylesheet"[^>]*>/g)].map(([link]) => /href="([^"]+)"/.exec(link)![1]!)
    const loaded = await Promise.all(links.map(async href => (await fetch(server!.url + href)).text()))
    return [...loaded, ...[...html.matchAll(/<style[^>]*>(.*?)<\/style>/gs)].map(([, text]) => text)].join('\n')
  }

  it('shows the resources and the records to a caller whom the middleware lets pass', async () => {
    const overview = await open('/admin', 'ada')
    expect(overview.status).toBe(200)
    expect(overview.html).toContain('href="/admin/books"')
    const list = await open('/admin/books', 'ada')
    expect(list.status).toBe(200)
    for (const title of ['Middlemarch', 'Emma', 'Villette']) expect(list.html).toContain(title)
  })

  it('shows the custom page to a caller with its permissions', async () => {
    const { status, html } = await open('/admin/report', 'ada')
    expect([status, html]).toEqual([200, expect.stringContaining('<p>Books: 3</p>')])
  })

  it('has the routes, the table, the composable, the page and the tab of a plugin that uses only public entries', async () => {
    const like = await fetch(`${server!.url}/api/books/2/likes`, { method: 'PUT', headers: { 'x-user': 'ada' } })
    expect(await like.json()).toEqual({ likes: 1, liked: true })
    expect((await open('/admin/most-liked', 'ada')).html).toContain('books 2: 1')
    const { html } = await open('/admin/books/2?tab=likes', 'ada')
    expect(html.replaceAll(/<!--.*?-->/g, '')).toContain('Likes of this record: 1')
    expect((await open('/', 'ada')).html).toContain('Likes of the second book: 1')
    expect((await open('/')).html).toContain('Likes of the second book: 1')
  })

  it('sends a caller whom the middleware refuses to the login page', async () => {
    const { status, location, html } = await open('/admin/books')
    expect([status, location]).toEqual([302, '/login'])
    expect(html).not.toContain('Middlemarch')
  })

  it('loads the styles of Nuxt UI only on the pages of the admin', async () => {
    expect(await stylesOf((await open('/admin/books', 'ada')).html)).toContain('--ui-primary')
    const home = await open('/')
    expect(home.status).toBe(200)
    expect(await stylesOf(home.html)).not.toContain('.bg-default')
  })
})
