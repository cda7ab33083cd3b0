/** What the admin of the playground tells each caller: pages, tools, and the features of plugins that the API permits. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startNewsroom, type Newsroom } from '../newsroom/server'

const folder = mkdtempSync(join(tmpdir(), 'admin-access-'))
let app: Newsroom
beforeAll(async () => {
  app = await startNewsroom(join(folder, 'newsroom.sqlite'))
})
afterAll(async () => {
  await app?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const [ADMIN, EDITOR, WRITER, READER] = [1, 2, 4, 9]
const read = (as?: number) => app.request('/api/_admin', { as })

const EXPORTS = ['csv', 'json', 'ndjson']
const COVER = { cover: { accept: ['image/png', 'image/jpeg', 'image/webp'], maxSize: 5 * 1024 * 1024, multiple: false } }

describe('the response to GET /api/_admin', () => {
  it.each([
    ['an administrator', ADMIN, ['/desk-report'], ['permissions', 'audit', 'activity', 'tokens', 'webhooks', 'authorChart']],
    ['an editor', EDITOR, ['/desk-report'], ['permissions', 'audit', 'activity', 'tokens', 'webhooks', 'authorChart']],
    ['a writer', WRITER, [], ['permissions', 'activity', 'tokens', 'webhooks', 'authorChart']],
    ['a reader', READER, [], ['permissions', 'activity', 'tokens', 'webhooks', 'authorChart']],
  ])('has the pages of %s, and the tools in the order of the installed plugins', async (_who, as, pages, tools) => {
    const { body } = await read(as)
    expect([body.pages.map(({ path }: { path: string }) => path), body.tools]).toEqual([pages, tools])
  })

  it('has the features that the caller can use', async () => {
    const featuresOf = async (as: number, name: string) => (await read(as)).body.resources[name].features
    expect(await featuresOf(EDITOR, 'posts')).toEqual({ exportFormats: EXPORTS, import: true, history: true, files: COVER })
    expect(await featuresOf(WRITER, 'posts')).toEqual({ exportFormats: EXPORTS, import: true, files: COVER })
    expect(await featuresOf(READER, 'posts')).toEqual({ exportFormats: EXPORTS, files: COVER })
    expect(await featuresOf(READER, 'apiTokens')).toMatchObject({ tokens: true })
    expect(await featuresOf(READER, 'webhooks')).toMatchObject({ webhooks: 'webhooks' })
    expect(await featuresOf(EDITOR, 'auditLog')).toMatchObject({ auditLog: true })
    expect((await read(EDITOR)).body.users).toEqual({ resource: 'users', label: 'name' })
    // The named gate `export` decides about users, of whom every member reads a list.
    expect([await featuresOf(ADMIN, 'users'), await featuresOf(READER, 'users')]).toEqual([
      { exportFormats: EXPORTS, import: true, history: true },
      {},
    ])
  })

  it('agrees with the API about every feature', async () => {
    for (const as of [ADMIN, EDITOR, WRITER, READER]) {
      const { resources, tools } = (await read(as)).body
      const expected: Record<string, boolean> = {
        '/audit-log?limit=1': tools.includes('audit'),
        '/activity?limit=1': tools.includes('activity'),
      }
      for (const [name, { features }] of Object.entries<{ features: { exportFormats?: string[], history?: true } }>(resources)) {
        expected[`/${name}/export?limit=1`] = features.exportFormats !== undefined
      }
      for (const [path, isAllowed] of Object.entries(expected)) {
        const { status } = await app.request(`/api${path}`, { as })
        expect([as, path, ![401, 403].includes(status)]).toEqual([as, path, isAllowed])
      }
    }
  })

  it('is refused to anonymous callers', async () => {
    const { status, body } = await read()
    expect([status, body.data.code]).toEqual([401, 'UNAUTHENTICATED'])
  })
})
