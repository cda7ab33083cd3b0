/** Guards the removed options, and that every anchor of a build message leads to a heading of the upgrade notes. */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { resolveOptions } from '../../../src/build/options'
import { toMessage } from '../../../src/build/problem'
import { findRemovedOptions, REMOVED_OPTIONS } from '../../../src/build/removed'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Written from the specification and not from the table, so that a missing row is noticed. */
const REMOVED = [
  ['autoApi.hooks', { autoApi: { hooks: {} } }, 'hooks'],
  ['autoApi.exclude', { autoApi: { exclude: ['posts'] } }, 'exclude'],
  ['autoApi.include', { autoApi: { include: [] } }, 'include'],
  ['autoApi.authorization', { autoApi: { authorization: { posts: {} } } }, 'inline-authorization'],
  ['autoApi.validation', { autoApi: { validation: {} } }, 'inline-validation'],
  ['autoApi.multiTenancy.getTenantId', { autoApi: { multiTenancy: { getTenantId: () => 1 } } }, 'tenant'],
  ['autoApi.multiTenancy.allowCrossTenantAccess', { autoApi: { multiTenancy: { allowCrossTenantAccess: false } } }, 'cross-tenant-access'],
  ['autoApi.multiTenancy.requireTenant', { autoApi: { multiTenancy: { requireTenant: null } } }, 'require-tenant'],
  ['autoAdmin.access', { autoAdmin: { access: 'admin' } }, 'admin-access'],
  ['autoAdmin.customPages[1].canAccess', { autoAdmin: { customPages: [{}, { canAccess: () => true }] } }, 'admin-page-access'],
] as const

describe('a removed option fails the build, whatever its value', () => {
  it.each(REMOVED)('%s', (where, config, anchor) => {
    const problems = findRemovedOptions(config)
    expect(problems).toMatchObject([{ where, what: 'was removed', anchor }])
    expect(problems[0]!.instead).toMatch(/^[A-Z].*\.$/)
  })

  it('has the message of the upgrade notes', () => {
    expect(findRemovedOptions({ autoApi: { multiTenancy: { getTenantId: () => 1 } } }).map(toMessage)).toEqual([
      '`autoApi.multiTenancy.getTenantId` was removed. Set `ctx.tenant` from a context extender. → node_modules/nuxt-auto-api/docs/6.project/1.upgrading.md#tenant',
    ])
  })

  it('is reported together with the others, in every entry of a list', () => {
    const found = findRemovedOptions({
      autoApi: { hooks: {}, include: [] },
      autoAdmin: { access: 1, customPages: [{ canAccess: 1 }, {}, { canAccess: 0 }] },
    })
    expect(found.map(({ where }) => where)).toEqual([
      'autoApi.hooks',
      'autoApi.include',
      'autoAdmin.access',
      'autoAdmin.customPages[0].canAccess',
      'autoAdmin.customPages[2].canAccess',
    ])
  })

  it('is not reported if it is undefined or inherited', () => {
    expect(findRemovedOptions({ autoApi: { hooks: undefined }, autoAdmin: undefined })).toEqual([])
    expect(findRemovedOptions({ autoApi: Object.create({ hooks: {} }) })).toEqual([])
    expect(findRemovedOptions({ autoAdmin: { customPages: { canAccess: 1 } } })).toEqual([])
    expect(findRemovedOptions({ autoApi: false, autoAdmin: null })).toEqual([])
  })

  it('is not also reported as an unknown option', () => {
    for (const [, config] of REMOVED) {
      if ('autoApi' in config) expect(resolveOptions(config.autoApi)).toMatchObject({ problems: [], warnings: [] })
    }
  })

  it('is tested for every row of the table', () => {
    expect(REMOVED_OPTIONS).toHaveLength(REMOVED.length)
  })
})

describe('the upgrade notes', () => {
  const headings = [...readFileSync(join(root, 'docs/6.project/1.upgrading.md'), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, text]) => toSlug(text!))
  const anchors = [
    ...new Set(
      readdirSync(join(root, 'src/build'), { recursive: true, encoding: 'utf8' })
        .filter(file => file.endsWith('.ts'))
        .flatMap(file => [
          ...readFileSync(join(root, 'src/build', file), 'utf8').matchAll(/anchor: '([^']+)'|(?:upgrading\.md|UPGRADE_NOTES\})#([\w-]+)/g),
        ])
        .map(([, literal, link]) => (literal ?? link)!),
    ),
  ]

  it.each(anchors)('have the heading #%s that a message links to', (anchor) => {
    expect(headings).toContain(anchor)
  })

  it.each(['defineautoapihandler', 'server-auto-imports'])('have the heading #%s for changes that no message can report', (anchor) => {
    expect(headings).toContain(anchor)
  })

  it('repeat no heading, because the second would have another anchor', () => {
    expect(headings).toEqual([...new Set(headings)])
  })

  it('are linked from every message', () => {
    expect(anchors).toEqual(
      expect.arrayContaining([...REMOVED_OPTIONS.map(({ anchor }) => anchor), 'module-imports', 'inline-hooks', 'database']),
    )
  })

  it('link only to their own headings', () => {
    const links = [...readFileSync(join(root, 'docs/6.project/1.upgrading.md'), 'utf8').matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor]) => anchor!)
    expect(links.length).toBeGreaterThan(0)
    expect(links.filter(anchor => !headings.includes(anchor))).toEqual([])
  })
})

/** As GitHub renders a heading: lower case, punctuation gone, spaces to hyphens. */
function toSlug(heading: string): string {
  return heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-')
}
