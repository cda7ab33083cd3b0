/** Guards what a registration may hold: names, keys, module imports, data; and how a mistake is told. */
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createModuleImport } from '../../../src/build/module-import'
import { AutoApiBuildError, assertNoProblems, toMessage } from '../../../src/build/problem'
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

  it('holds its imports with the path of the file, and its data as given', () => {
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

  it('a key given as undefined is a key left out', () => {
    const { registrations, problems } = check('posts', { schema, hooks: undefined, metadata: undefined, unheardOf: undefined })
    expect(problems).toEqual([])
    expect(registrations[0]).toMatchObject({ imports: { schema: expect.anything() }, data: {} })
    expect(Object.keys(registrations[0]!.imports)).toEqual(['schema'])
  })
})

describe('anything inline where a module import belongs fails the build at the deepest offending path', () => {
  class Policy {
    readonly kind = 'policy'
  }
  const circular: Record<string, unknown> = { permissions: {} }
  circular.self = circular

  it.each([
    [{ authorization: { permissions: { read: () => true } } }, '`posts.authorization.permissions.read` is an inline function.'],
    [{ authorization: { permissions: { read: true, update: async () => true } } }, '`posts.authorization.permissions.update` is an inline function.'],
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
  ])('%o', (registration, message) => {
    expect(messagesOf({ schema, ...registration })).toEqual([expect.stringContaining(message)])
  })

  it('a getter is code as well, and is not run to find out', () => {
    const authorization = Object.defineProperty({}, 'permissions', { enumerable: true, get: () => expect.fail('the getter ran') })
    expect(messagesOf({ schema, authorization })).toEqual([expect.stringContaining('`posts.authorization.permissions` is an inline getter.')])
  })

  it.each([
    ['authorization', 'inline-authorization'],
    ['validation', 'inline-validation'],
    ['hooks', 'inline-hooks'],
    ['relations', 'module-imports'],
    ['schema', 'module-imports'],
  ])('%s says what to write instead, and links to #%s', (key, anchor) => {
    expect(messagesOf({ schema, [key]: {} })).toEqual([
      `\`posts.${key}\` is an inline object. Export it from a file and write \`${key}: createModuleImport(path, name)\`. → node_modules/nuxt-auto-api/docs/upgrading.md#${anchor}`,
    ])
  })
})

describe('files', () => {
  it('an import of a file that is not there fails the build naming resource and key', () => {
    const { problems } = checkRegistrations([{ name: 'posts', registration: { schema, authorization } }], path => path === '/app/schema' ? path : undefined)
    expect(problems.map(toMessage)).toEqual(['`posts.authorization` names `/app/auth`, which is not a file. Correct the path; the extension may be left out. → node_modules/nuxt-auto-api/docs/upgrading.md#module-imports'])
  })
})

describe('keys', () => {
  it('a registration needs a schema', () => {
    expect(messagesOf({ authorization })).toEqual(['`posts.schema` is missing. Add `schema: createModuleImport(path, name)`. → node_modules/nuxt-auto-api/docs/upgrading.md#module-imports'])
  })

  it.each([undefined, null, 'schema', () => {}, [], schema])('%o is no registration', (registration) => {
    expect(messagesOf(registration)).toEqual([expect.stringContaining('`posts` has no registration. Call `registry.register(\'posts\', { schema: createModuleImport(path, name) })`.')])
  })

  it.each([
    ['authorisation', '`posts.authorisation` is not a key of a registration. Remove it. Did you mean `authorization`?'],
    ['hiddenfields', 'Did you mean `hiddenFields`?'],
    ['toString', '`posts.toString` is not a key of a registration. Remove it.'],
    ['prefix', '`posts.prefix` is not a key of a registration. Remove it.'],
  ])('the unknown key %s fails the build, for what it was meant to say would be missing', (key, message) => {
    expect(messagesOf({ schema, [key]: {} })).toEqual([expect.stringContaining(message)])
  })

  it.each([
    [{ hiddenFields: 'passwordHash' }, '`posts.hiddenFields` is not a list of names.'],
    [{ hiddenFields: ['a', 1] }, '`posts.hiddenFields` is not a list of names.'],
    [{ protectedFields: [''] }, '`posts.protectedFields` is not a list of names.'],
    [{ protectedFields: createModuleImport('/app/fields', 'fields') }, '`posts.protectedFields` is not a list of names.'],
  ])('%o', (registration, message) => {
    expect(messagesOf({ schema, ...registration })).toEqual([expect.stringContaining(message)])
  })
})

describe('metadata is plain JSON', () => {
  const circular: Record<string, unknown> = {}
  circular.again = { circular }
  const shared = { a: 1 }

  it.each([
    [{ icon: () => 'x' }, '`posts.metadata.icon` is an inline function. Use plain JSON.'],
    [{ list: [1, new Date(0)] }, '`posts.metadata.list[1]` is an instance of `Date`. Use plain JSON.'],
    [{ big: 1n }, '`posts.metadata.big` is 1n. Use plain JSON.'],
    [{ ratio: Number.NaN }, '`posts.metadata.ratio` is NaN. Use plain JSON.'],
    [{ nothing: undefined }, '`posts.metadata.nothing` is undefined. Use plain JSON.'],
    [circular, '`posts.metadata.again.circular` refers back to what holds it. Use plain JSON.'],
    [JSON.parse('{"a":{"__proto__":{"polluted":true}}}'), '`posts.metadata.a.__proto__` is a key that JavaScript reserves.'],
    ['text', '`posts.metadata` is not an object.'],
    [['list'], '`posts.metadata` is not an object.'],
    [null, '`posts.metadata` is not an object.'],
  ])('%o fails the build', (metadata, message) => {
    expect(messagesOf({ schema, metadata })).toEqual([expect.stringContaining(message)])
  })

  it('the same value in two places is no circle', () => {
    expect(messagesOf({ schema, metadata: { one: shared, two: shared } })).toEqual([])
  })
})

describe('names', () => {
  it.each(['posts', 'blogPosts', 'blog-posts', 'blog_posts', 'p', 'Posts2'])('%s is the name of a resource', (name) => {
    expect(check(name, { schema }).problems).toEqual([])
  })

  it.each([
    ['permissions', '`permissions` is the name of a route of the API. Choose another name.'],
    ['_m2m', '`_m2m` begins with `_`, which is kept for the API\'s own routes. Begin the name with a letter.'],
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
  ])('%o is not', (name, message) => {
    expect(check(name, { schema }).problems.map(toMessage)).toEqual([expect.stringContaining(message)])
  })

  it('a name registered twice fails the build', () => {
    const { problems } = checkRegistrations(['posts', 'tags', 'posts'].map(name => ({ name, registration: { schema } })), anyFile)
    expect(problems).toMatchObject([{ where: 'posts', what: 'is registered twice' }])
  })
})

describe('`disabled`', () => {
  it('takes operations, and is handed to the server', () => {
    const { registrations, problems } = check('posts', { schema, disabled: ['delete', 'purge'] })
    expect([registrations[0]!.data, problems]).toEqual([{ disabled: ['delete', 'purge'] }, []])
  })

  it.each([
    [['delte'], '`posts.disabled[0]` is \'delte\', which is not an operation. Use some of: read, create, update, delete, aggregate, restore, purge, viewDeleted. Did you mean `delete`?'],
    [['read', 7], '`posts.disabled[1]` is not the name of an operation.'],
    ['delete', '`posts.disabled` is not a list of operations. List operations: `[\'delete\', \'purge\']`.'],
    [{ delete: true }, '`posts.disabled` is not a list of operations.'],
  ])('with anything else fails the build: %j', (disabled, message) => {
    expect(check('posts', { schema, disabled }).problems.map(toMessage)).toEqual([expect.stringContaining(message)])
  })
})

describe('a resource without authorization', () => {
  const warningsOf = (...names: string[]) => checkRegistrations(names.map(name => ({ name, registration: { schema } })), anyFile).warnings

  it('is named in a warning', () => {
    expect(warningsOf('posts')).toEqual(['`posts` has no authorization: every request is refused. Add `authorization: createModuleImport(path, name)` to the registration.'])
  })

  it('shares one warning with the others', () => {
    expect(warningsOf('posts', 'tags', 'users')).toEqual([expect.stringMatching(/^`posts`, `tags` and `users` have no authorization:/)])
  })

  it('is the only one named', () => {
    const { warnings } = checkRegistrations([{ name: 'posts', registration: { schema, authorization } }, { name: 'tags', registration: { schema } }], anyFile)
    expect(warnings).toEqual([expect.stringMatching(/^`tags` has no authorization:/)])
  })
})

it('a resource whose authorization is wrong is not said to have none', () => {
  expect(check('posts', { schema, authorization: {} }).warnings).toEqual([])
})

describe('an app that registers nothing', () => {
  it('is warned, for its API answers nothing', () => {
    expect(checkRegistrations([], anyFile)).toMatchObject({ problems: [], warnings: [expect.stringMatching(/^No resource is registered.*`autoApi:registerSchema`/)] })
  })
})

describe('collecting', () => {
  it('every call of an asynchronous hook counts, whatever its order', async () => {
    const { registrations } = await collectRegistrations(async (registry) => {
      registry.register('posts', { schema })
      await Promise.resolve()
      registry.register('tags', { schema })
    }, anyFile)
    expect(registrations.map(({ name }) => name)).toEqual(['posts', 'tags'])
  })

  it('a call after the hook has ended throws instead of registering nothing', async () => {
    let kept: ResourceRegistry | undefined
    await collectRegistrations(registry => (kept = registry), anyFile)
    expect(() => kept!.register('posts', { schema })).toThrow('[auto-api] `posts` is registered after `autoApi:registerSchema` has ended.')
  })

  it('a later change of the registration object changes nothing', async () => {
    const registration: RegistrationOptions = { schema, hiddenFields: ['secret'] }
    const { registrations } = await collectRegistrations((registry) => {
      registry.register('posts', registration)
    }, anyFile)
    delete registration.hiddenFields
    expect(registrations[0]!.data.hiddenFields).toEqual(['secret'])
  })

  it('all problems of all resources are told together', async () => {
    const { problems } = await collectRegistrations((registry) => {
      registry.register('_a', { schema: {} as never })
      registry.register('b', { schema, authorization: {} as never, hiddenFields: 'x' as never })
    }, anyFile)
    expect(problems.map(({ where }) => where)).toEqual(['_a', '_a.schema', 'b.authorization', 'b.hiddenFields'])
    expect(() => assertNoProblems(problems)).toThrow(AutoApiBuildError)
    expect(() => assertNoProblems(problems)).toThrow(/^\[auto-api\] `_a` [^\n]+\n\[auto-api\] `_a\.schema` [^\n]+\n\[auto-api\] `b\.authorization` [^\n]+\n\[auto-api\] `b\.hiddenFields` [^\n]+$/)
    expect(() => assertNoProblems([])).not.toThrow()
  })
})

describe('an override', () => {
  const collect = (run: (registry: ResourceRegistry) => void) => collectRegistrations(run, anyFile)
  const other = createModuleImport('/app/other', 'otherAuth')

  it('replaces the parts it names and leaves the others, whichever comes first', async () => {
    const { registrations, problems } = await collect((registry) => {
      registry.override('posts', { authorization: other })
      registry.register('posts', { schema, authorization, protectedFields: ['score'] })
    })
    expect(problems).toEqual([])
    expect(registrations[0]).toMatchObject({ imports: { schema: { name: 'posts' }, authorization: { name: 'otherAuth' } }, data: { protectedFields: ['score'] } })
  })

  it('is checked like the registration it is part of', async () => {
    const { problems } = await collect((registry) => {
      registry.register('posts', { schema, authorization })
      registry.override('posts', { authorization: { permissions: { read: true } } as never })
    })
    expect(problems.map(toMessage).join()).toContain('posts.authorization')
  })

  it('of what is not registered is a problem', async () => {
    const { problems } = await collect(registry => registry.override('postz', { authorization: other }))
    expect(problems.map(toMessage).join()).toContain('`postz`')
  })
})
