/** Checks the module options: defaults, errors and warnings. */
import { describe, expect, it } from 'vitest'
import { resolveOptions } from '../../../src/build/options'
import { checkResourceNames } from '../../../src/build/config-checks'
import { toMessage } from '../../../src/build/problem'

const messagesOf = (options: Record<string, unknown>) => resolveOptions(options).problems.map(toMessage)

describe('the defaults', () => {
  it('are the documented configuration', () => {
    expect(resolveOptions({})).toMatchObject({
      config: { prefix: '/api', pagination: { defaultLimit: 20, maxLimit: 100 }, multiTenancy: false },
      problems: [],
      warnings: [],
    })
  })

  it('apply to an option whose value is undefined', () => {
    expect(
      resolveOptions({
        prefix: undefined,
        pagination: { maxLimit: undefined },
        multiTenancy: undefined,
        database: undefined,
        unheardOf: undefined,
      }),
    ).toEqual(resolveOptions({}))
  })

  it('apply to the other options of a group', () => {
    const { config } = resolveOptions({ prefix: '/api/v1', pagination: { defaultLimit: 5 } })
    expect(config).toMatchObject({ prefix: '/api/v1', pagination: { defaultLimit: 5, maxLimit: 100 } })
  })

  it.each([
    [{}, false],
    [{ trustProxy: true }, true],
    [{ trustProxy: false }, false],
    [{ trustProxy: 2 }, 2],
  ])('resolve trustProxy: %o', (options, expected) => {
    expect(resolveOptions(options)).toMatchObject({ config: { trustProxy: expected }, problems: [] })
  })

  it.each([
    [{}, 1_048_576],
    [{ http: {} }, 1_048_576],
    [{ http: { maxBodySize: '1mb' } }, 1_048_576],
    [{ http: { maxBodySize: '1.5 MB' } }, 1_572_864],
    [{ http: { maxBodySize: '512kb' } }, 524_288],
    [{ http: { maxBodySize: '1gb' } }, 1_073_741_824],
    [{ http: { maxBodySize: '100' } }, 100],
    [{ http: { maxBodySize: '100b' } }, 100],
    [{ http: { maxBodySize: 2000 } }, 2000],
  ])('resolve http.maxBodySize to bytes: %o → %i', (options, expected) => {
    expect(resolveOptions(options)).toMatchObject({ config: { http: { maxBodySize: expected } }, problems: [], warnings: [] })
  })

  it.each([
    [undefined, 4_194_304, 16_777_216],
    ['64kb', 65_536, 65_536],
    [5000, 5000, 5000],
  ])('resolve relations.maxBytes and http.maxResponseSize to bytes: %o', (size, maxBytes, maxResponseSize) => {
    expect(resolveOptions({ relations: { maxBytes: size }, http: { maxResponseSize: size } })).toMatchObject({
      config: { relations: { maxBytes }, http: { maxResponseSize } },
      problems: [],
      warnings: [],
    })
  })

  it('turn entity tags off', () => {
    expect(resolveOptions({ http: { maxBodySize: '2mb' } }).config.http).toEqual({
      maxBodySize: 2_097_152,
      maxResponseSize: 16_777_216,
      etag: true,
      strictParameters: false,
      serverTiming: false,
    })
    expect(resolveOptions({ http: { etag: false } })).toMatchObject({
      config: { http: { maxBodySize: 1_048_576, etag: false } },
      problems: [],
      warnings: [],
    })
  })

  it('log unknown parameters of requests in development, unless the app chooses', () => {
    const strict = (options: Record<string, unknown>, isDevelopment: boolean) =>
      resolveOptions(options, isDevelopment).config.http.strictParameters
    expect([strict({}, true), strict({}, false)]).toEqual(['warn', false])
    for (const strictParameters of [true, false, 'warn'])
      expect([true, false].map(isDevelopment => strict({ http: { strictParameters } }, isDevelopment))).toEqual([
        strictParameters,
        strictParameters,
      ])
    expect(messagesOf({ http: { strictParameters: 'yes' } })[0]).toContain('Use `\'warn\'`, `true` or `false`.')
  })

  it('measure requests and log slow statements in development, unless the app chooses', () => {
    const traced = (options: Record<string, unknown>, isDevelopment: boolean) => {
      const { http: { serverTiming }, slowStatements } = resolveOptions(options, isDevelopment).config
      return [serverTiming, slowStatements]
    }
    expect([traced({}, true), traced({}, false)]).toEqual([[true, 200], [false, false]])
    const [off, on] = [{ http: { serverTiming: false }, slowStatements: false }, { http: { serverTiming: true }, slowStatements: 500 }]
    expect([traced(off, true), traced(on, false)]).toEqual([[false, false], [true, 500]])
    expect(messagesOf({ slowStatements: true })[0]).toContain('Use a number of milliseconds, or `false`.')
    expect(messagesOf({ explain: 'yes' })[0]).toContain('Use `true` or `false`.')
  })

  it('accept origins of mobile apps and extensions in csrf.origins', () => {
    const origins = ['https://admin.example', 'http://localhost:3000', 'capacitor://localhost', 'chrome-extension://abcdef']
    expect(resolveOptions({ csrf: { origins } })).toMatchObject({ config: { csrf: { origins } }, problems: [] })
  })

  it('remove a trailing slash of the prefix', () => {
    expect(resolveOptions({ prefix: '/api/' }).config.prefix).toBe('/api')
  })

  it('lower the default page size to maxLimit', () => {
    expect(resolveOptions({ pagination: { maxLimit: 10 } })).toMatchObject({
      config: { pagination: { defaultLimit: 10, maxLimit: 10 } },
      problems: [],
    })
  })

  it('are not changed when options are resolved', () => {
    resolveOptions({ pagination: { maxLimit: 1 }, multiTenancy: { tenantIdField: 'x' } })
    expect(resolveOptions({}).config.pagination).toMatchObject({ defaultLimit: 20, maxLimit: 100 })
  })
})

describe('multi-tenancy', () => {
  const defaults = {
    enabled: true,
    tenantIdField: 'organizationId',
    userTenantField: 'organizationId',
    scopedResources: '*',
    excludedResources: [],
  }

  it.each([
    ['the key left out', {}, false],
    ['{}', { multiTenancy: {} }, defaults],
    ['enabled: false', { multiTenancy: { enabled: false, tenantIdField: 'teamId' } }, false],
    ['false', { multiTenancy: false }, false],
    ['enabled: true', { multiTenancy: { enabled: true } }, defaults],
    ['one field', { multiTenancy: { tenantIdField: 'teamId' } }, { ...defaults, tenantIdField: 'teamId' }],
    [
      'lists',
      { multiTenancy: { scopedResources: ['posts'], excludedResources: ['tags'] } },
      { ...defaults, scopedResources: ['posts'], excludedResources: ['tags'] },
    ],
  ])('resolves with %s', (_, options, expected) => {
    expect(resolveOptions(options)).toMatchObject({ problems: [], config: { multiTenancy: expected } })
  })
})

describe('an invalid value of an option fails the build with where, what and what instead', () => {
  it.each([
    [{ prefix: 'api' }, '`autoApi.prefix` is \'api\'. Use a path such as `/api` that starts with a slash and has no parameters.'],
    [{ prefix: '' }, '`autoApi.prefix` is \'\''],
    [{ prefix: '/' }, '`autoApi.prefix` is \'/\''],
    [{ prefix: '/api//v1' }, '`autoApi.prefix`'],
    [{ prefix: '/api/:version' }, '`autoApi.prefix`'],
    [{ prefix: '/api/**' }, '`autoApi.prefix`'],
    [{ prefix: '/../api' }, '`autoApi.prefix`'],
    [{ prefix: '/api?x' }, '`autoApi.prefix`'],
    [{ prefix: 3 }, '`autoApi.prefix` is 3'],
    ...['1tb', 'mb', '', '-1mb', '0', '0.1b', 0, -1, 1.5, Number.NaN, true, '1e3', {}].map(
      maxBodySize => [{ http: { maxBodySize } }, '`autoApi.http.maxBodySize` is '] as [Record<string, unknown>, string],
    ),
    [
      { http: { maxResponseSize: '16 megabytes' } },
      '`autoApi.http.maxResponseSize` is \'16 megabytes\'. Use a number of bytes or a size such as `\'1mb\'`.',
    ],
    [{ relations: { maxBytes: 0 } }, '`autoApi.relations.maxBytes` is 0. Use a number of bytes or a size such as `\'1mb\'`.'],
    [{ http: { etag: 'weak' } }, '`autoApi.http.etag` is \'weak\'. Use `true` or `false`.'],
    [{ http: { maxBodySize: '1tb' } }, '`autoApi.http.maxBodySize` is \'1tb\'. Use a number of bytes or a size such as `\'1mb\'`.'],
    ...['null', 'file://', 'https://a.example/', 'a.example', 'capacitor://localhost/app', 'data:text/html,x', 'javascript:alert(1)'].map(
      origin => [{ csrf: { origins: [origin] } }, '`autoApi.csrf.origins` is ['] as [Record<string, unknown>, string],
    ),
    [{ prefix: null }, '`autoApi.prefix` is null'],
    [{ pagination: 20 }, '`autoApi.pagination` is 20. Use an object; `{}` uses every default.'],
    [{ pagination: [] }, '`autoApi.pagination` is []'],
    [{ pagination: { defaultLimit: -5 } }, '`autoApi.pagination.defaultLimit` is -5. Use a positive integer.'],
    [{ pagination: { defaultLimit: 0 } }, '`autoApi.pagination.defaultLimit` is 0'],
    [{ pagination: { defaultLimit: 1.5 } }, '`autoApi.pagination.defaultLimit` is 1.5'],
    [{ pagination: { defaultLimit: '20' } }, '`autoApi.pagination.defaultLimit` is \'20\''],
    [{ pagination: { maxLimit: Infinity } }, '`autoApi.pagination.maxLimit` is Infinity'],
    [{ pagination: { maxLimit: Number.NaN } }, '`autoApi.pagination.maxLimit` is NaN'],
    [{ pagination: { defaultLimit: 50, maxLimit: 10 } }, '`autoApi.pagination.defaultLimit` is 50, above `maxLimit` (10).'],
    [{ pagination: { defaultLimit: 200 } }, '`autoApi.pagination.defaultLimit` is 200, above `maxLimit` (100).'],
    [{ multiTenancy: true }, '`autoApi.multiTenancy` is true. Use an object; `{}` uses every default.'],
    [{ multiTenancy: null }, '`autoApi.multiTenancy` is null'],
    [{ multiTenancy: { enabled: 'yes' } }, '`autoApi.multiTenancy.enabled` is \'yes\'. Use `true` or `false`.'],
    [{ multiTenancy: { tenantIdField: '' } }, '`autoApi.multiTenancy.tenantIdField` is \'\''],
    [{ multiTenancy: { userTenantField: () => 'x' } }, '`autoApi.multiTenancy.userTenantField` is [Function: userTenantField]'],
    [
      { multiTenancy: { scopedResources: 'posts' } },
      '`autoApi.multiTenancy.scopedResources` is \'posts\'. Use `\'*\'` or a list of resource names.',
    ],
    [{ multiTenancy: { scopedResources: ['posts', 3] } }, '`autoApi.multiTenancy.scopedResources` is [ \'posts\', 3 ]'],
    [{ pagination: { default: 'page' } }, '`autoApi.pagination.default` is \'page\'. Use `\'offset\'` or `\'cursor\'`.'],
    [{ relations: { maxDepth: 0 } }, '`autoApi.relations.maxDepth` is 0. Use a positive integer.'],
    [{ aggregations: { enabled: 1 } }, '`autoApi.aggregations.enabled` is 1. Use `true` or `false`.'],
    [{ objectLevelMaxRows: '10' }, '`autoApi.objectLevelMaxRows` is \'10\'. Use a positive integer.'],
    [{ trustProxy: 0 }, '`autoApi.trustProxy` is 0. Use `true`, `false` or the number of proxies.'],
    [{ trustProxy: '10.0.0.0/8' }, '`autoApi.trustProxy` is \'10.0.0.0/8\''],
    [{ hiddenFields: ['secret'] }, '`autoApi.hiddenFields` is [ \'secret\' ]'],
    [{ hiddenFields: { global: 'secret' } }, '`autoApi.hiddenFields.global` is \'secret\'. Use a list of field names.'],
    [{ hiddenFields: { resources: { posts: 'secret' } } }, '`autoApi.hiddenFields.resources` is { posts: \'secret\' }'],
    [{ multiTenancy: { excludedResources: '*' } }, '`autoApi.multiTenancy.excludedResources` is \'*\''],
  ])('reports %o', (options, message) => {
    expect(messagesOf(options)).toEqual([expect.stringContaining(message)])
  })

  it('reports every invalid option', () => {
    expect(messagesOf({ prefix: 'api', pagination: { maxLimit: 0 }, multiTenancy: { enabled: 1 } })).toHaveLength(3)
  })
})

describe('an unknown option', () => {
  it.each([
    [{ prefx: '/v1' }, '`autoApi.prefx` is not an option and has no effect. Did you mean `prefix`?'],
    [
      { pagination: { defualtLimit: 5 } },
      '`autoApi.pagination.defualtLimit` is not an option and has no effect. Did you mean `pagination.defaultLimit`?',
    ],
    [{ pagnation: { maxLimit: 5 } }, '`autoApi.pagnation` is not an option and has no effect. Did you mean `pagination`?'],
    [
      { pagination: { maxLimt: 5 } },
      '`autoApi.pagination.maxLimt` is not an option and has no effect. Did you mean `pagination.maxLimit`?',
    ],
    [{ relations: { maxDeph: 5 } }, '`autoApi.relations.maxDeph` is not an option and has no effect. Did you mean `relations.maxDepth`?'],
    [
      { bulk: { transactionl: false } },
      '`autoApi.bulk.transactionl` is not an option and has no effect. Did you mean `bulk.transactional`?',
    ],
    [{ hookConfig: { timout: 1 } }, '`autoApi.hookConfig.timout` is not an option and has no effect. Did you mean `hookConfig.timeout`?'],
    [{ multiTenanci: {} }, '`autoApi.multiTenanci` is not an option and has no effect. Did you mean `multiTenancy`?'],
    [{ plugin: [] }, '`autoApi.plugin` is not an option and has no effect. Did you mean `plugins`?'],
    [{ maxLimit: 5 }, '`autoApi.maxLimit` is not an option and has no effect. Did you mean `pagination.maxLimit`?'],
    [{ somethingElse: {} }, '`autoApi.somethingElse` is not an option and has no effect.'],
    [{ toString: 1 }, '`autoApi.toString` is not an option and has no effect.'],
  ])('has no effect and causes a warning: %o', (options, warning) => {
    expect(resolveOptions(options)).toMatchObject({ warnings: [warning], problems: [] })
  })

  it('warns of `database` with the new place of the engine', () => {
    const { config, warnings, problems } = resolveOptions({ database: { client: 'pg' } })
    expect({ config, problems }).toEqual({ config: resolveOptions({}).config, problems: [] })
    expect(warnings).toEqual([
      '`autoApi.database` is ignored. Pass the engine to `initializeDatabase(db, engine)` instead. → node_modules/nuxt-auto-api/docs/6.project/1.upgrading.md#database',
    ])
  })
})

describe('an unknown option of `multiTenancy` or `csrf` fails the build, because the API would be less restricted than intended', () => {
  it.each([
    [
      { multiTenancy: { tenantField: 'x' } },
      '`autoApi.multiTenancy.tenantField` is not an option. Did you mean `multiTenancy.tenantIdField`?',
    ],
    [
      { multiTenancy: { scopedResource: ['posts'] } },
      '`autoApi.multiTenancy.scopedResource` is not an option. Did you mean `multiTenancy.scopedResources`?',
    ],
    [{ multiTenancy: { constructor: 1 } }, '`autoApi.multiTenancy.constructor` is not an option.'],
    [{ csrf: { origin: ['https://example.com'] } }, '`autoApi.csrf.origin` is not an option. Did you mean `csrf.origins`?'],
  ])('reports %o', (options, message) => {
    expect(messagesOf(options)).toEqual([expect.stringContaining(message)])
  })
})

describe('resource names in options', () => {
  const check = (multiTenancy: Record<string, unknown>) =>
    checkResourceNames(resolveOptions({ multiTenancy }).config, ['posts', 'tags']).map(toMessage)

  it('fail the build when a name in scopedResources is not registered, because the resource would be open to every tenant', () => {
    expect(check({ scopedResources: ['tags', 'psots'] })).toEqual([
      '`autoApi.multiTenancy.scopedResources[1]` names `psots`, which is not a registered resource. Use the name of a registered resource. Did you mean `posts`?',
    ])
    expect(check({ scopedResources: ['post'] })).toEqual([expect.stringContaining('Did you mean `posts`?')])
  })

  it('fail the build when a name in excludedResources is not registered', () => {
    expect(check({ excludedResources: ['tag'] })).toEqual([
      expect.stringContaining('`autoApi.multiTenancy.excludedResources[0]` names `tag`'),
    ])
  })

  it('fail the build when a name in hiddenFields.resources is not registered, because the fields would be readable', () => {
    const { config } = resolveOptions({ hiddenFields: { resources: { posts: ['secret'], tgas: ['secret'] } } })
    expect(checkResourceNames(config, ['posts', 'tags']).map(toMessage)).toEqual([
      '`autoApi.hiddenFields.resources.tgas` names `tgas`, which is not a registered resource. Use the name of a registered resource. Did you mean `tags`?',
    ])
  })

  it('fail the build when a name is in both lists', () => {
    expect(check({ scopedResources: ['posts'], excludedResources: ['posts'] })).toEqual([
      '`autoApi.multiTenancy.excludedResources[0]` names `posts`, which is also in `scopedResources`. Remove it from one of the two lists.',
    ])
  })

  it('pass if they are registered, or if multi-tenancy is off', () => {
    expect(check({ scopedResources: ['posts'], excludedResources: ['tags'] })).toEqual([])
    expect(check({ scopedResources: '*' })).toEqual([])
    expect(check({ enabled: false, scopedResources: ['nobody'] })).toEqual([])
  })
})
