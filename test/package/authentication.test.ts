/** Follows the pages about sessions literally, each in the app of the page for beginners. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../support/once'
import { createEmptyApp, stepsOf, type FollowedApp } from './follow'
import { createFolder, run } from './tarball'

describe.each(['docs/2.guides/4.nuxt-auth-utils.md', 'docs/2.guides/5.better-auth.md'])('%s', (page) => {
  const app: FollowedApp = { cwd: createFolder() }
  beforeAll(async () => {
    await createEmptyApp(app.cwd)
    // The page begins with the files of getting started.
    for (const { title, run } of stepsOf('docs/1.start/1.getting-started.md')) if (title.startsWith('writes ')) await run(app)
  })
  afterAll(async () => {
    await app.server?.stop()
    rmSync(app.cwd, { recursive: true, force: true })
  })

  it.each(stepsOf(page))('is followed: $title', step => step.run(app))

  it('renders the page for the user of the session, and for an anonymous caller', async () => {
    const request = (headers?: Record<string, string>) => fetch(app.server!.url, { headers })
    // The development server restarts after the first file of a new folder.
    await expect.poll(async () => (await request()).status, { timeout: 30_000 }).toBe(200)
    const [signedIn, anonymous] = [await (await request({ cookie: app.cookies! })).text(), await (await request()).text()]
    for (const html of [signedIn, anonymous]) expect(html).toContain('Ada writes</li>')
    expect(signedIn).toContain('Sign out')
    expect(signedIn).toContain('Title <input')
    expect(anonymous).toContain('Sign in')
    expect(anonymous).not.toContain('Title <input')
  })

  it('refuses an anonymous caller and the header of getting started', async () => {
    const headers = { 'content-type': 'application/json', 'x-demo-role': 'editor' }
    const response = await fetch(`${app.server!.url}/api/posts`, { method: 'POST', headers, body: '{"title":"Hello"}' })
    expect(response.status).toBe(401)
  })

  it('type checks', () => {
    run(app.cwd, 'nuxi', 'prepare')
    run(app.cwd, join(root, 'node_modules/.bin/vue-tsc'), '-b', '--noEmit')
  })
})
