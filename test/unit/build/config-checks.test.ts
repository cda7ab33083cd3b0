/** Checks the warnings that need the columns of the tables. */
import { describe, expect, it } from 'vitest'
import type { Descriptions } from '../../../src/build/table-descriptions'
import { findConfigWarnings } from '../../../src/build/config-checks'
import { resolveOptions } from '../../../src/build/options'

const resource = (name: string, tenantScoped: boolean) => ({ name, tenantScoped, key: ['id'], hidden: [], create: ['title'], update: ['title'], filled: [], relations: [] })
const described: Descriptions = { resources: [resource('posts', true), resource('tags', false), resource('users', false)], warnings: [] }
const NAMES = ['posts', 'tags', 'users']
const warningsFor = (options: Record<string, unknown>, descriptions = described) => findConfigWarnings(NAMES, descriptions, resolveOptions(options).config)

describe('a resource that is not tenant-scoped while multi-tenancy is on', () => {
  it('causes a warning with its name and what to do', () => {
    expect(warningsFor({ multiTenancy: {} })).toEqual([
      '`tags` and `users` are not tenant-scoped: callers of every tenant share the rows. To scope a resource, add the column `organizationId` to the table; '
      + 'if it is shared on purpose, list it in `autoApi.multiTenancy.excludedResources`.',
    ])
  })

  it('causes no warning if `excludedResources` contains it or multi-tenancy is off', () => {
    expect(warningsFor({ multiTenancy: { excludedResources: ['tags', 'users'] } })).toEqual([])
    expect(warningsFor({})).toEqual([])
  })

  it('causes a warning if the table could not be loaded and `scopedResources` does not contain it', () => {
    const none = { resources: [], warnings: ['could not be loaded'] }
    expect(warningsFor({ multiTenancy: { scopedResources: ['posts', 'users'] } }, none)).toEqual([expect.stringMatching(/^`tags` is not tenant-scoped.*scopedResources/)])
    expect(warningsFor({ multiTenancy: {} }, none)).toEqual([])
  })
})

describe('a name in `hiddenFields.global` that no resource has', () => {
  it('causes a warning with a suggestion', () => {
    expect(warningsFor({ hiddenFields: { global: ['titl'] } })).toEqual(['`autoApi.hiddenFields.global` names `titl`, which no resource has. Did you mean `title`?'])
  })
})
