/** Checks the names, keys, module imports and data that a registration accepts, and the errors for others. */
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createModuleImport } from '../../../src/build/module-import'
import { AutoApiBuildError, assertNoProblems, toMessage } from '../../../src/build/problem'
import { checkRequiredTags } from '../../../src/build/config-checks'
import { resolveOptions } from '../../../src/build/options'
import type { CheckedRegistration } from '../../../src/build/registration-keys'
import { checkRegistrations, collectRegistrations, type RegistrationOptions, type ResourceRegistry } from '../../../src/build/registrations'

const schema = createModuleImport('/app/schema', 'posts')
const authorization = createModuleImport('/app/auth', 'postsAuth')
const anyFile = (path: string) => `${path}.ts`

const check = (name: unknown, registration: unknown) => checkRegistrations([{ name, registration }], anyFile)
const messagesOf = (registration: unknown) => check('posts', registration).problems.map(toMessage)

describe('a complete registration', () => {
  const registration: RegistrationOptions = {
    schema,
    authorization,
    validation: createModuleImport('/app/validation', 'postsValidation'),
    hooks: createModuleImport('/app/hooks', 'postsHooks'),
    relations: createModuleImport('/app/schema', 'postsRelations'),
    hiddenFields: ['passwordHash'],
    protectedFields: ['score'],
    metadata: { icon: 'i-lucide-file-text', nested: [1, null, true, { deep: 'yes' }], bare: Object.create(null) },
  }

  it('passes without a problem or a warning', () => {
    expect(check('posts', registration)).toMatchObject({ problems: [], warnings: [] })
  })

  it('keeps its imports with the path of the file, and its data unchanged', () => {
    expect(check('posts', registration).registrations[0]).toEqual({
      name: 'posts',
      imports: {
        schema: { ...schema, path: '/app/schema.ts' },
        authorization: { ...authorization, path: '/app/auth.ts' },
        validation: { __moduleImport: true, path: '/app/validation.ts', name: 'postsValidation' },
        hooks: { __moduleImport: true, path: '/app/hooks.ts', name: 'postsHooks' },
        relations: { __moduleImport: true, path: '/app/schema.ts', name: 'postsRelations' },
      },
      data: { hiddenFields: ['passwordHash'], protectedFields: ['score'], metadata: registration.metadata },
    })
  })

  it('ignores keys whose value is undefined', () => {
    const { registrations, problems } = check('posts', { schema, hooks: undefined, metadata: undefined, unheardOf: undefined })
    expect(problems).toEqual([])
    expect(registrations[0]).toMatchObject({ imports: { schema: expect.anything() }, data: {} })
    expect(Object.keys(registrations[0]!.imports)).toEqual(['schema'])
  })
})

describe('an inline value instead of a module import fails the build with the deepest path', () => {
  class Policy {
    readonly kind = 'policy'
  }
  const circular: Record<string, unknown> = { permissions: {} }
  circular.self = circular

  it.each([
    [{ authorization: { permissions: { read: () => true } } }, '`posts.authorization.permissions.read` is an inline function.'],
    [
      { authorization: { permissions: { read: true, update: async () => true } } },
      '`posts.authorization.permissions.update` is an inline function.',
    ],
    [{ authorization: { rules: [{}, { allow() {} }] } }, '`posts.authorization.rules[1].allow` is an inline function.'],
    [{ authorization: { permissions: { read: true } } }, '`posts.authorization` is an inline object.'],
    [{ authorization: () => ({}) }, '`posts.authorization` is an inline function.'],
    [{ authorization: new Policy() }, '`posts.authorization` is an instance of `Policy`.'],
    [{ authorization: Policy }, '`posts.authorization` is a class.'],
    [{ authorization: { policy: new Policy() } }, '`posts.authorization.policy` is an instance of `Policy`.'],
    [{ authorization: circular }, '`posts.authorization` is an inline object.'],
    [{ authorization: './auth' }, '`posts.authorization` is \'./auth\'.'],
    [{ authorization: true }, '`posts.authorization` is true.'],
    [{ authorization: null }, '`posts.authorization` is null.'],
    [{ authorization: [] }, '`posts.authorization` is an inline list.'],
    [{ authorization: { path: '/app/auth', name: 'postsAuth' } }, '`posts.authorization` is an inline object.'],
    [{ validation: { create: z.object({}) } }, '`posts.validation.create` is an instance of `ZodObject`.'],
    [{ hooks: { beforeCreate: (data: unknown) => data } }, '`posts.hooks.beforeCreate` is an inline function.'],
    [{ relations: () => [] }, '`posts.relations` is an inline function.'],
    [{ schema: sqliteTable('posts', { id: text() }) }, '`posts.schema` is an instance of `SQLiteTable`.'],
  ])('reports %o', (registration, message) => {
    expect(messagesOf({ schema, ...registration })).toEqual([expect.stringContaining(message)])
  })

  it('reports a getter without running it', () => {
    const authorization = Object.defineProperty({}, 'permissions', { enumerable: true, get: () => expect.fail('the getter ran') })
    expect(messagesOf({ schema, authorization })).toEqual([
      expect.stringContaining('`posts.authorization.permissions` is an inline getter.'),
    ])
  })

  it.each([
    ['authorization', 'inline-authorization'],
    ['validation', 'inline-validation'],
    ['hooks', 'inline-hooks'],
    ['relations', 'module-imports'],
    ['schema', 'module-imports'],
  ])('says what to write instead of inline %s, and links to #%s', (key, anchor) => {
    expect(messagesOf({ schema, [key]: {} })).toEqual([
      `\`posts.${key}\` is an inline object. Export it from a file, and use \`${key}: createModuleImport(path, name)\`. → node_modules/nuxt-auto-api/docs/6.project/1.upgrading.md#${anchor}`,
    ])
  })
})

describe('files', () => {
  it('fails the build with resource and key when a file does not exist', () => {
    const { problems } = checkRegistrations([{ name: 'posts', registration: { schema, authorization } }], path =>
      path === '/app/schema' ? path : undefined,
    )
    expect(problems.map(toMessage)).toEqual([
      '`posts.authorization` names `/app/auth`, which is not a file. Correct the path. The extension is optional. → node_modules/nuxt-auto-api/docs/6.project/1.upgrading.md#module-imports',
    ])
  })
})

describe('keys', () => {
  it('fails the build when `schema` is missing', () => {
    expect(messagesOf({ authorization })).toEqual([
      '`posts.schema` is missing. Add `schema: createModuleImport(path, name)`. → node_modules/nuxt-auto-api/docs/6.project/1.upgrading.md#module-imports',
    ])
  })

  it.each([undefined, null, 'schema', () => {}, [], schema])('fails the build when the registration is %o', (registration) => {
    expect(messagesOf(registration)).toEqual([
      expect.stringContaining(
        '`posts` has no registration. Call `registry.register(\'posts\', { schema: createModuleImport(path, name) })`.',
      ),
    ])
  })

  it.each([
    ['authorisation', '`posts.authorisation` is not a key of a registration. Did you mean `authorization`?'],
    ['hiddenfields', 'Did you mean `hiddenFields`?'],
    ['toString', '`posts.toString` is not a key of a registration. Remove it.'],
    ['prefix', '`posts.prefix` is not a key of a registration. Remove it.'],
  ])('fails the build when the key %s is unknown, because the intended key would be missing', (key, message) => {
    expect(messagesOf({ schema, [key]: {} })).toEqual([expect.stringContaining(message)])
  })

  it.each([
    [{ hiddenFields: 'passwordHash' }, '`posts.hiddenFields` is not a list of field names.'],
    [{ hiddenFields: ['a', 1] }, '`posts.hiddenFields` is not a list of field names.'],
    [{ protectedFields: [''] }, '`posts.protectedFields` is not a list of field names.'],
    [{ protectedFields: createModuleImport('/app/fields', 'fields') }, '`posts.protectedFields` is not a list of field names.'],
  ])('fails the build when a list of fields is invalid: %o', (registration, message) => {
    expect(messagesOf({ schema, ...registration })).toEqual([expect.stringContaining(message)])
  })
})

describe('metadata', () => {
  const circular: Record<string, unknown> = {}
  circular.again = { circular }
  const shared = { a: 1 }

  it.each([
    [{ icon: () => 'x' }, '`posts.metadata.icon` is an inline function. Use plain JSON.'],
    [{ list: [1, new Date(0)] }, '`posts.metadata.list[1]` is an instance of `Date`. Use plain JSON.'],
    [{ big: 1n }, '`posts.metadata.big` is 1n. Use plain JSON.'],
    [{ ratio: Number.NaN }, '`posts.metadata.ratio` is NaN. Use plain JSON.'],
    [{ nothing: undefined }, '`posts.metadata.nothing` is undefined. Use plain JSON.'],
    [circular, '`posts.metadata.again.circular` is a circular reference. Use plain JSON.'],
    [JSON.parse('{"a":{"__proto__":{"polluted":true}}}'), '`posts.metadata.a.__proto__` is a key that JavaScript reserves.'],
    ['text', '`posts.metadata` is not an object.'],
    [['list'], '`posts.metadata` is not an object.'],
    [null, '`posts.metadata` is not an object.'],
  ])('fails the build when it is not plain JSON: %o', (metadata, message) => {
    expect(messagesOf({ schema, metadata })).toEqual([expect.stringContaining(message)])
  })

  it('can contain the same value twice', () => {
    expect(messagesOf({ schema, metadata: { one: shared, two: shared } })).toEqual([])
  })
})

describe('the name of a resource', () => {
  it.each(['posts', 'blogPosts', 'blog-posts', 'blog_posts', 'p', 'Posts2'])('can be %s', (name) => {
    expect(check(name, { schema }).problems).toEqual([])
  })

  it.each([
    ['permissions', '`permissions` is the name of a route of the API. Choose another name.'],
    ['constructor', '`constructor` is a property of every object. Choose another name, such as the plural.'],
    ['_m2m', '`_m2m` begins with `_`, which is reserved for routes of the API. Begin the name with a letter.'],
    ['_schema', '`_schema` begins with `_`, which is reserved for routes of the API. Begin the name with a letter.'],
    ['__proto__', '`__proto__` begins with `_`'],
    ['blog posts', '`blog posts` cannot be a segment of a URL.'],
    ['blog/posts', '`blog/posts` cannot be a segment of a URL.'],
    ['posts?', '`posts?` cannot be a segment of a URL.'],
    ['2fa', '`2fa` cannot be a segment of a URL.'],
    ['beiträge', '`beiträge` cannot be a segment of a URL.'],
    ['posts\n', 'cannot be a segment of a URL.'],
    [':id', '`:id` cannot be a segment of a URL.'],
    ['', 'is not the name of a resource.'],
    [undefined, 'is not the name of a resource.'],
    [{ name: 'posts' }, 'is not the name of a resource.'],
  ])('cannot be %o', (name, message) => {
    expect(check(name, { schema }).problems.map(toMessage)).toEqual([expect.stringContaining(message)])
  })

  it('cannot be registered twice', () => {
    const { problems } = checkRegistrations(['posts', 'tags', 'posts'].map(name => ({ name, registration: { schema } })), anyFile)
    expect(problems).toMatchObject([{ where: 'posts', what: 'is registered twice' }])
  })
})

describe('`disabled`', () => {
  it('accepts operations and is passed to the server', () => {
    const { registrations, problems } = check('posts', { schema, disabled: ['delete', 'purge'], requireIfMatch: true })
    expect([registrations[0]!.data, problems]).toEqual([{ disabled: ['delete', 'purge'], requireIfMatch: true }, []])
  })

  it.each([
    [
      ['delte'],
      '`posts.disabled[0]` is \'delte\', which is not an operation. Use one of: read, create, update, delete, aggregate, restore, purge, viewDeleted. Did you mean `delete`?',
    ],
    [['read', 7], '`posts.disabled[1]` is not the name of an operation.'],
    ['delete', '`posts.disabled` is not a list of operations. Use a list of operations, such as `[\'delete\', \'purge\']`.'],
    [{ delete: true }, '`posts.disabled` is not a list of operations.'],
  ])('fails the build for other values: %j', (disabled, message) => {
    expect(check('posts', { schema, disabled }).problems.map(toMessage)).toEqual([expect.stringContaining(message)])
  })
})

describe('`key`', () => {
  it.each([['slug'], [['blog', 'slug']]])('names one column or several, and is passed to the server: %j', (key) => {
    const { registrations, problems } = check('posts', { schema, key })
    expect([registrations[0]!.data, problems]).toEqual([{ key }, []])
  })

  it.each([[''], [[]], [['slug', 'slug']], [['slug', '']], [7], [null], [{ slug: true }]])('fails the build for other values: %j', (key) => {
    expect(check('posts', { schema, key }).problems.map(toMessage)).toEqual([
      expect.stringContaining('`posts.key` does not name the columns that identify a row. Use a field name or a list'),
    ])
  })
})

describe('the options of a view', () => {
  it('are lists of actions by relation', () => {
    const data = { nested: { comments: ['create', 'update', 'delete'] } }
    const { registrations, problems } = check('posts', { schema, ...data })
    expect([registrations[0]!.data, problems]).toEqual([data, []])
    for (const nested of [['comments'], { comments: 'create' }, { comments: [] }, { comments: ['move'] }, 'comments'])
      expect(messagesOf({ schema, nested })).toEqual([expect.stringContaining('`posts.nested` does not list actions for each relation.')])
  })

  it('pass with names', () => {
    const data = { key: 'authorId', references: { authorId: 'users' }, tracks: ['posts', 'users'] }
    const { registrations, problems } = check('stats', { schema, ...data })
    expect([registrations[0]!.data, problems]).toEqual([data, []])
  })

  it.each([
    [{ references: ['users'] }, '`posts.references` does not name a resource for each column. Use an object, such as `{ authorId: \'users\' }`.'],
    [{ references: { authorId: 1 } }, '`posts.references` does not name a resource for each column.'],
    [{ references: { authorId: '' } }, '`posts.references` does not name a resource for each column.'],
    [{ tracks: 'users' }, '`posts.tracks` is not a list of resources. Use a list of registered resources, such as `[\'posts\', \'comments\']`.'],
    [{ tracks: [] }, '`posts.tracks` is not a list of resources.'],
    [{ tracks: [1] }, '`posts.tracks` is not a list of resources.'],
  ])('fail the build for other values: %j', (data, message) => {
    expect(messagesOf({ schema, ...data })).toEqual([expect.stringContaining(message)])
  })
})

describe('`requireIfMatch`', () => {
  it.each([['yes'], [1], [null]])('fails the build for a value that is not a boolean: %j', (requireIfMatch) => {
    expect(check('posts', { schema, requireIfMatch }).problems.map(toMessage)).toEqual([
      expect.stringContaining('`posts.requireIfMatch` is not `true` or `false`. Use `true` or `false`.'),
    ])
  })

  it('fails the build if entity tags are off', () => {
    const [registration] = check('posts', { schema, requireIfMatch: true }).registrations as [CheckedRegistration]
    const config = (etag: boolean) => resolveOptions({ http: { etag } }).config
    expect(checkRequiredTags(config(true), [registration])).toEqual([])
    expect(checkRequiredTags(config(false), [registration]).map(toMessage)).toEqual([
      expect.stringContaining('`posts.requireIfMatch` is true, but `autoApi.http.etag` is false'),
    ])
  })
})

describe('a resource without authorization', () => {
  const warningsOf = (...names: string[]) => checkRegistrations(names.map(name => ({ name, registration: { schema } })), anyFile).warnings

  it('causes a warning', () => {
    expect(warningsOf('posts')).toEqual([
      '`posts` has no authorization, so every request is refused. Add `authorization: createModuleImport(path, name)` to the registration.',
    ])
  })

  it('shares one warning with other resources', () => {
    expect(warningsOf('posts', 'tags', 'users')).toEqual([expect.stringMatching(/^`posts`, `tags` and `users` have no authorization,/)])
  })

  it('is the only resource in the warning', () => {
    const { warnings } = checkRegistrations(
      [
        { name: 'posts', registration: { schema, authorization } },
        { name: 'tags', registration: { schema } },
      ],
      anyFile,
    )
    expect(warnings).toEqual([expect.stringMatching(/^`tags` has no authorization,/)])
  })
})

it('does not warn of missing authorization when `authorization` is invalid', () => {
  expect(check('posts', { schema, authorization: {} }).warnings).toEqual([])
})

describe('an app without resources', () => {
  it('causes a warning', () => {
    expect(checkRegistrations([], anyFile)).toMatchObject({
      problems: [],
      warnings: [expect.stringMatching(/^No resource is registered.*`autoApi:registerSchema`/)],
    })
  })
})

describe('collectRegistrations', () => {
  it('collects every call of an asynchronous hook', async () => {
    const { registrations } = await collectRegistrations(async (registry) => {
      registry.register('posts', { schema })
      await Promise.resolve()
      registry.register('tags', { schema })
    }, anyFile)
    expect(registrations.map(({ name }) => name)).toEqual(['posts', 'tags'])
  })

  it('throws when `register` is called after the hook has ended', async () => {
    let kept: ResourceRegistry | undefined
    await collectRegistrations(registry => (kept = registry), anyFile)
    expect(() => kept!.register('posts', { schema })).toThrow('[auto-api] `posts` is registered after `autoApi:registerSchema` has ended.')
  })

  it('ignores later changes of the registration object', async () => {
    const registration: RegistrationOptions = { schema, hiddenFields: ['secret'] }
    const { registrations } = await collectRegistrations((registry) => {
      registry.register('posts', registration)
    }, anyFile)
    delete registration.hiddenFields
    expect(registrations[0]!.data.hiddenFields).toEqual(['secret'])
  })

  it('reports the problems of all resources together', async () => {
    const { problems } = await collectRegistrations((registry) => {
      registry.register('_a', { schema: {} as never })
      registry.register('b', { schema, authorization: {} as never, hiddenFields: 'x' as never })
    }, anyFile)
    expect(problems.map(({ where }) => where)).toEqual(['_a', '_a.schema', 'b.authorization', 'b.hiddenFields'])
    expect(() => assertNoProblems(problems)).toThrow(AutoApiBuildError)
    expect(() => assertNoProblems(problems)).toThrow(
      /^\[auto-api\] `_a` [^\n]+\n\[auto-api\] `_a\.schema` [^\n]+\n\[auto-api\] `b\.authorization` [^\n]+\n\[auto-api\] `b\.hiddenFields` [^\n]+$/,
    )
    expect(() => assertNoProblems([])).not.toThrow()
  })
})

describe('an override', () => {
  const collect = (run: (registry: ResourceRegistry) => void) => collectRegistrations(run, anyFile)
  const other = createModuleImport('/app/other', 'otherAuth')

  it('replaces the given parts and keeps the others, in any order of the calls', async () => {
    const { registrations, problems } = await collect((registry) => {
      registry.override('posts', { authorization: other })
      registry.register('posts', { schema, authorization, protectedFields: ['score'] })
    })
    expect(problems).toEqual([])
    expect(registrations[0]).toMatchObject({
      imports: { schema: { name: 'posts' }, authorization: { name: 'otherAuth' } },
      data: { protectedFields: ['score'] },
    })
  })

  it('is checked like a registration', async () => {
    const { problems } = await collect((registry) => {
      registry.register('posts', { schema, authorization })
      registry.override('posts', { authorization: { permissions: { read: true } } as never })
    })
    expect(problems.map(toMessage).join()).toContain('posts.authorization')
  })

  it('fails the build when the resource is not registered', async () => {
    const { problems } = await collect(registry => registry.override('postz', { authorization: other }))
    expect(problems.map(toMessage).join()).toContain('`postz`')
  })
})
