/** Mistakes that the command `check` lists instead of failing with the frames of a library. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findStartError } from '../../../src/build/role-document'
import type { PluginSource } from '../../../src/build/virtual/plugins'
import { check, loadRegistered } from '../../../src/cli/check'
import type { Registered } from '../../../src/module'

const fixtures = fileURLToPath(new URL('../../fixtures', import.meta.url))
const plugins = fileURLToPath(new URL('../../../src/runtime/plugins', import.meta.url))
const folders: string[] = []

afterAll(() => folders.forEach(folder => rmSync(folder, { recursive: true })))

/** A copy of the app `module-setup`, with a change. */
function copy(change: (folder: string) => void): string {
  const folder = mkdtempSync(join(fixtures, '.check-'))
  folders.push(folder)
  cpSync(join(fixtures, 'module-setup'), folder, { recursive: true, filter: path => !/\.nuxt|node_modules/.test(path) })
  change(folder)
  return folder
}

function edit(file: string, from: string | RegExp, to: string) {
  const text = readFileSync(file, 'utf8')
  expect(text).toMatch(from)
  writeFileSync(file, text.replace(from, to))
}

/** A plugin as `nuxt.config` lists it. */
const listed = (name: string, ...options: unknown[]): PluginSource[] =>
  [{ where: 'autoApi.plugins[0]', import: { path: join(plugins, 'index.ts'), name }, options } as unknown as PluginSource]

describe('a plugin without what it needs', { timeout: 300_000 }, () => {
  let registered: Registered
  beforeAll(async () => {
    registered = await loadRegistered(join(fixtures, 'module-setup'))
  }, 300_000)

  it.each([
    [
      'auditLog',
      [],
      '[auto-api] The plugin `audit-log` has `rows` for `auditLog`, which is not a registered resource. Register `auditLog`, or name another',
    ],
    ['idempotency', [], '[auto-api] idempotency: the schema exports no table of `idempotencyKeysTable()`'],
    [
      'activityFeed',
      [{ actor: { resource: 'notes', label: 'id' } }],
      '[auto-api] activityFeed: list the plugin `auditLog()` before it in `autoApi.plugins`.',
    ],
  ])('is an error of the command check: %s', async (name, options, message) => {
    const error = await findStartError(registered.tables, listed(name, ...options))
    expect(error?.slice(0, message.length)).toBe(message)
  })

  it.each([
    ['rateLimit', { limit: 5, window: 1, store: 'limits' }],
    ['responseCache', { storage: 'responses' }],
  ])('is not one whose storage only the server has: %s', async (name, options) => {
    expect(await findStartError(registered.tables, listed(name, options))).toBeUndefined()
  })
})

describe('check', { timeout: 300_000 }, () => {
  it('lists the error of a column once, without the frames of a library', async () => {
    const cwd = copy(folder => edit(join(folder, 'server/database/schema.ts'), 'id: integer().primaryKey(),\n  postId', 'postId'))
    const { problems } = await check({ cwd })
    expect(problems.filter(problem => problem.includes('notes'))).toEqual([expect.stringContaining('[auto-api] ')])
    expect(problems.join('\n')).not.toMatch(/^ +at /m)
  })
})
