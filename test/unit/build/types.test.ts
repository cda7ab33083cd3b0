/** Checks the descriptions of tables and the generated types. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { describeTables } from '../../../src/build/table-descriptions'
import { generateTypes, toSpecifier, typeRoutes } from '../../../src/build/types'
import { generateClient } from '../../../src/build/virtual/client'
import { DEFAULT_MULTI_TENANCY } from '../../../src/runtime/shared/defaults'
import { drizzleAlias } from '../../support/aliases'
import { config, describeFixture, describer, generateFixture, registrations, target, typesFile } from '../../support/types'

const folder = mkdtempSync(join(tmpdir(), 'tables-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('the types of the registered tables', () => {
  it('are those that the type tests use', async () => {
    const written = await generateFixture()
    if (process.env.UPDATE_TYPES) writeFileSync(typesFile, written)
    expect(readFileSync(typesFile, 'utf8')).toBe(written)
  })

  it('contain keys, hidden and server-owned columns, and relations over foreign keys and junction tables', async () => {
    const { resources, warnings } = await describeFixture()
    expect(warnings).toEqual([])
    expect(resources.find(({ name }) => name === 'articles')).toEqual({
      name: 'articles',
      key: ['id'],
      hidden: [],
      create: ['writerId', 'title', 'status', 'featured', 'reads', 'price', 'layout', 'publishedAt', 'createdAt'],
      update: ['writerId', 'title', 'status', 'featured', 'reads', 'price', 'layout', 'publishedAt'],
      filled: ['createdAt'],
      relations: [
        { name: 'writer', to: 'writers', many: false, linked: false },
        { name: 'ratings', to: 'ratings', many: true, linked: false },
        { name: 'labels', to: 'labels', many: true, linked: true },
        { name: 'writers', to: 'writers', many: true, linked: true, via: 'ratings' },
      ],
      tenantScoped: true,
      hasTenantColumn: true,
    })
    expect(resources.find(({ name }) => name === 'ratings')!.key).toEqual(['articleId', 'writerId'])
    expect(resources.find(({ name }) => name === 'writers')!.hidden).toEqual(['secret'])
  })

  it('are generated without a table that cannot be loaded, with a warning', async () => {
    const broken = join(folder, 'broken.ts')
    writeFileSync(broken, 'throw new Error(\'only in the server\')\nexport const pages = {}\n')
    const pages = {
      name: 'pages',
      imports: { schema: { __moduleImport: true as const, path: broken, name: 'pages' } },
      data: { protectedFields: ['rank'] },
    }
    const { resources, warnings } = await describeTables({
      registrations: [...registrations, pages],
      config,
      rootDir: folder,
      alias: drizzleAlias,
      describer,
    })
    expect(resources.map(({ name }) => name)).toEqual(registrations.map(({ name }) => name))
    expect(warnings).toEqual([expect.stringContaining('`pages`: the table could not be loaded at build time')])
    expect(warnings[0]).toContain('only in the server')
    const types = generateTypes({ registrations: [pages], resources, config, folder, target, augmentations: [], nitro: 'nitropack/types', endpoints: [] })
    expect(types).toContain('create: Exclude<keyof ColumnsIn<typeof import("./broken")["pages"]>, "deletedAt"')
    expect(types).toContain('"rank" | "organizationId"> & string')
  })

  it('are not generated if a registration names an unknown column, which fails the build', async () => {
    const mistaken = registrations.map(registration =>
      registration.name === 'writers' ? { ...registration, data: { hiddenFields: ['secrt'] } } : registration,
    )
    const { resources, error: mistake } = await describeTables({
      registrations: mistaken,
      config,
      rootDir: folder,
      alias: drizzleAlias,
      describer,
    })
    expect(resources).toEqual([])
    expect(mistake).toMatch(
      /`writers\.hiddenFields` names `secrt`, which is not a column of table "writers" \(.*tables\.ts, export `writers`\)\. Did you mean `secret`\?/,
    )
  })

  it('know the key of a table without a primary key, and the build fails without one, naming the resource and the ways to declare it', async () => {
    const file = join(folder, 'keyless.ts')
    writeFileSync(
      file,
      `import { integer, sqliteTable, text } from '${import.meta.resolve('drizzle-orm/sqlite-core')}'\nexport const lines = sqliteTable('lines', { document: text().notNull(), position: integer().notNull(), text: text() })\n`,
    )
    const describeLines = (data: object) =>
      describeTables({
        registrations: [
          ...registrations,
          { name: 'lines', imports: { schema: { __moduleImport: true, path: file, name: 'lines' } }, data },
        ],
        config,
        rootDir: folder,
        alias: drizzleAlias,
        describer,
      })
    const { resources } = await describeLines({ key: ['document', 'position'] })
    const lines = resources.find(({ name }) => name === 'lines')!
    expect([lines.key, lines.create, lines.update]).toEqual([['document', 'position'], ['document', 'position', 'text'], ['text']])
    expect(generateClient('/api', [lines])).toContain('"key": [\n      "document",\n      "position"\n    ]')
    const { error } = await describeLines({ hiddenFields: ['txt'] })
    expect(error?.split('\n')).toEqual([
      expect.stringMatching(/`lines`: table "lines" has no primary key.*`key: 'id'`/),
      expect.stringContaining('`lines.hiddenFields` names `txt`, which is not a column of table "lines" (keyless.ts, export `lines`)'),
    ])
  })

  it('contain the current columns of a table that changes', async () => {
    const file = join(folder, 'changing.ts')
    const write = (columns: string) =>
      writeFileSync(
        file,
        `import { integer, sqliteTable, text } from '${import.meta.resolve('drizzle-orm/sqlite-core')}'\nexport const pages = sqliteTable('pages', { id: integer('id').primaryKey(), ${columns} })\n`,
      )
    const describePages = async () =>
      (
        await describeTables({
          registrations: [{ name: 'pages', imports: { schema: { __moduleImport: true, path: file, name: 'pages' } }, data: {} }],
          config,
          rootDir: folder,
          alias: drizzleAlias,
          describer,
        })
      ).resources[0]!.update
    write('title: text(\'title\')')
    expect(await describePages()).toEqual(['title'])
    write('title: text(\'title\'), body: text(\'body\')')
    expect(await describePages()).toEqual(['title', 'body'])
  })
})

const file = '../../node_modules/nuxt-auto-api/dist/runtime/server/routes'
const nitro = (route: string) => [`Simplify<Serialize<Awaited<ReturnType<typeof import('${file}/${route}').default>>>>`]

describe('the types of the routes', () => {
  const ours = '../../node_modules/nuxt-auto-api/dist/runtime/shared/types/responses'

  it('are set by resource and route, and the app\'s own do not change', () => {
    const mine = ['Simplify<Serialize<Awaited<ReturnType<typeof import(\'../../server/api/posts/mine.get\').default>>>>']
    const routes = {
      '/v1/posts': { default: nitro('collection') },
      '/v1/posts/:id': { get: [...mine], default: nitro('record') },
      '/v1/posts/mine': { get: [...mine] },
      '/v1/postscripts/:id': { default: nitro('record') },
      '/v1/permissions': { default: nitro('permissions') },
    }
    typeRoutes(routes, '/v1', [{ name: 'posts', data: {} }, { name: 'postscripts', data: {} }])
    expect(routes).toEqual({
      '/v1/posts': {
        get: [`import('${ours}').RouteResponses<'posts'>['list']`],
        post: [`import('${ours}').RouteResponses<'posts'>['create']`],
      },
      '/v1/posts/:id': {
        get: mine,
        patch: [`import('${ours}').RouteResponses<'posts'>['update']`],
        delete: [`import('${ours}').RouteResponses<'posts'>['delete']`],
      },
      '/v1/posts/mine': { get: mine },
      '/v1/postscripts/:id': {
        get: [`import('${ours}').RouteResponses<'postscripts'>['get']`],
        patch: [`import('${ours}').RouteResponses<'postscripts'>['update']`],
        delete: [`import('${ours}').RouteResponses<'postscripts'>['delete']`],
      },
      '/v1/permissions': { get: [`import('${ours}').GlobalResponses['permissions']`] },
    })
  })
})

describe('a disabled operation', () => {
  it('has no type for `$fetch`, but a method remains if one of its operations is enabled', () => {
    const routes = () => ({
      '/api/posts': { default: nitro('collection') },
      '/api/posts/:id': { default: nitro('record') },
      '/api/posts/:id/restore': { default: nitro('restore') },
    })
    const methods = (disabled: string[]) => {
      const typed = routes()
      typeRoutes(typed, '/api', [{ name: 'posts', data: { disabled } }])
      return Object.values(typed).map(route => Object.keys(route).join())
    }
    expect(methods(['delete'])).toEqual(['get,post', 'get,patch,delete', 'post'])
    expect(methods(['delete', 'purge', 'create', 'restore'])).toEqual(['get', 'get,patch', ''])
    expect(methods(['read', 'update'])).toEqual(['post', 'delete', 'post'])
  })
})

describe('a view', () => {
  it('has no types of writes for `$fetch`', () => {
    const routes = { '/api/totals': { default: nitro('collection') }, '/api/totals/:id': { default: nitro('record') } }
    typeRoutes(routes, '/api', [{ name: 'totals', data: {} }], [{ name: 'totals', readOnly: true }])
    expect(Object.values(routes).map(route => Object.keys(route))).toEqual([['get'], ['get']])
  })

  it('is described as read-only', async () => {
    const { resources } = await describeFixture()
    expect(resources.find(({ name }) => name === 'writerTotals')).toMatchObject({
      key: ['writerId'], create: [], update: [], filled: [], readOnly: true, tracks: ['*'], tenantScoped: true,
      relations: [{ name: 'writer', to: 'writers', many: false, linked: false }],
    })
  })

  it('without the tenant column fails the build, unless it is excluded by name', async () => {
    const describe = (tenantIdField: string, excludedResources: string[]) => describeTables({
      registrations, rootDir: folder, alias: drizzleAlias, describer,
      config: { ...config, multiTenancy: { ...DEFAULT_MULTI_TENANCY, tenantIdField, excludedResources } },
    })
    const { error, resources } = await describe('accountId', [])
    expect([error, resources]).toEqual([
      expect.stringMatching(/^\[auto-api\] `writerTotals`: view "writer_totals" has no column `accountId`, so each tenant would see/), [],
    ])
    expect((await describe('accountId', ['writerTotals'])).error).toBeUndefined()
  })

  it('without a key fails the build', async () => {
    const keyless = registrations.map(registration => registration.name === 'writerTotals' ? { ...registration, data: {} } : registration)
    const { error } = await describeTables({ registrations: keyless, config, rootDir: folder, alias: drizzleAlias, describer })
    expect(error).toContain('`writerTotals`: view "writer_totals" has no primary key')
  })
})

describe('the path of a type import', () => {
  it.each([
    ['/app/server/schema.ts', '/app/.nuxt/types', '../../server/schema'],
    ['/app/.nuxt/types/made.mts', '/app/.nuxt/types', './made'],
    ['@company/tables', '/app/.nuxt/types', '@company/tables'],
  ])('to %s from %s is %s', (path, from, specifier) => {
    expect(toSpecifier(path, from)).toBe(specifier)
  })
})

describe('the generated data for the browser', () => {
  it('contains names of resources and relations, and keys other than `id`', async () => {
    const { resources } = await describeFixture()
    const code = generateClient('/v1', resources)
    const facts = JSON.parse(/Facts>> = ([\s\S]+)$/.exec(code)![1]!)
    expect(code).toContain('export const prefix: string = "/v1"')
    expect(facts.articles).toEqual({
      relations: {
        writer: { to: 'writers' },
        ratings: { to: 'ratings', many: true },
        labels: { to: 'labels', many: true, linked: true },
        writers: { to: 'writers', many: true, linked: true, via: 'ratings' },
      },
    })
    expect(facts.ratings.key).toEqual(['articleId', 'writerId'])
    // It contains no columns, so no hidden ones.
    expect(code).not.toContain('secret')
    expect(code).not.toContain('title')
  })

  it('contains no relation over a hidden key', async () => {
    const hidden = registrations.map(registration =>
      registration.name === 'articles' ? { ...registration, data: { hiddenFields: ['writerId'] } } : registration,
    )
    const { resources } = await describeTables({ registrations: hidden, config, rootDir: folder, alias: drizzleAlias, describer })
    const relationsOf = (name: string) => resources.find(resource => resource.name === name)!.relations.map(({ name }) => name)
    expect(relationsOf('articles')).not.toContain('writer')
    expect(relationsOf('writers')).toEqual(['ratings', 'writerTotals', 'articlesByRatings'])
  })
})
