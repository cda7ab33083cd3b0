/** Checks the warnings that need the columns of the tables. */
import { describe, expect, it } from 'vitest'
import type { Descriptions } from '../../../src/build/table-descriptions'
import { findConfigNotes, findConfigWarnings } from '../../../src/build/config-checks'
import { resolveOptions } from '../../../src/build/options'

const resource = (name: string, tenantScoped: boolean) => ({
  name,
  tenantScoped,
  hasTenantColumn: tenantScoped,
  key: ['id'],
  hidden: [],
  create: ['title'],
  update: ['title'],
  filled: [],
  relations: [],
})
const described: Descriptions = { resources: [resource('posts', true), resource('tags', false), resource('users', false)], warnings: [] }
const NAMES = ['posts', 'tags', 'users']
const registrations = NAMES.map(name => ({ name, imports: {}, data: {} }))
const warningsFor = (options: Record<string, unknown>, descriptions = described) =>
  findConfigWarnings(
    { registrations, config: resolveOptions(options).config, isTenancySet: options.multiTenancy !== undefined },
    descriptions,
  )

describe('a resource that is not tenant-scoped while multi-tenancy is on', () => {
  it('causes a warning with its name and what to do', () => {
    expect(warningsFor({ multiTenancy: {} })).toEqual([
      '`tags` and `users` are not tenant-scoped: callers of every tenant share the rows. To scope a resource, add the column `organizationId` to the table; '
      + 'if it is shared on purpose, list it in `autoApi.multiTenancy.excludedResources`.',
    ])
  })

  it('causes no warning if `excludedResources` contains it or multi-tenancy is off', () => {
    expect(warningsFor({ multiTenancy: { excludedResources: ['tags', 'users'] } })).toEqual([])
    expect(warningsFor({ multiTenancy: false })).toEqual([])
  })

  it('causes a warning if the table could not be loaded and `scopedResources` does not contain it', () => {
    const none = { resources: [], warnings: ['could not be loaded'] }
    expect(warningsFor({ multiTenancy: { scopedResources: ['posts', 'users'] } }, none)).toEqual([
      expect.stringMatching(/^`tags` is not tenant-scoped.*scopedResources/),
    ])
    expect(warningsFor({ multiTenancy: {} }, none)).toEqual([])
  })
})

describe('a table with the tenant column while `multiTenancy` is not set', () => {
  it('causes a warning with the names of its resources and both answers', () => {
    const both = { ...described, resources: [...described.resources, resource('teams', true)] }
    expect(warningsFor({}, both)).toEqual([
      '`posts` and `teams` have the column `organizationId`, but `autoApi.multiTenancy` is not set: the API does not keep tenants apart, and clients can write the column. '
      + 'Set `multiTenancy: {}` to give callers only the rows of their tenant, or `multiTenancy: false` if the column does not separate tenants.',
    ])
    expect(warningsFor({})).toEqual([expect.stringMatching(/^`posts` has the column/)])
  })

  it.each([[false], [{ enabled: false }], [{}]])('causes no such warning if the option is %j', (multiTenancy) => {
    expect(warningsFor({ multiTenancy }).filter(warning => warning.includes('is not set'))).toEqual([])
  })
})

describe('a table that two resources have', () => {
  const auth = (name: string) => ({ authorization: { __moduleImport: true as const, path: '/auth', name } })
  const twice = { ...described, resources: [...described.resources, { ...resource('news', true), sameTableAs: 'posts' }] }
  const notesFor = (rules: object, data = {}) =>
    findConfigNotes(
      {
        registrations: [
          ...registrations.map(registration => ({ ...registration, imports: auth('a') })),
          { name: 'news', imports: rules, data },
        ],
      },
      twice,
    )

  it.each([
    ['another authorization', auth('b'), {}],
    ['no authorization', {}, {}],
    ['other hidden fields', auth('a'), { hiddenFields: ['title'] }],
  ])('is noted with both names if the second has %s', (_, rules, data) => {
    expect(notesFor(rules, data)).toEqual([
      expect.stringMatching(
        /^`posts` and `news` are two resources of one table, with different rules\..*those of `posts`, which is registered first\.$/,
      ),
    ])
  })

  it('is not noted if both have the same rules', () => {
    expect(notesFor(auth('a'))).toEqual([])
  })
})

describe('a name in `hiddenFields.global` that no resource has', () => {
  it('causes a warning with a suggestion', () => {
    expect(warningsFor({ multiTenancy: { excludedResources: ['tags', 'users'] }, hiddenFields: { global: ['titl'] } })).toEqual([
      '`autoApi.hiddenFields.global` names `titl`, which no resource has. Did you mean `title`?',
    ])
  })
})
