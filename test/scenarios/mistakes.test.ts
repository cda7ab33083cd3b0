/** Mistakes of beginners and the message of each: what is wrong, where it is, what to write instead, and the command to run. */
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findMissingExports } from '../../src/build/exports'
import { generateMissing } from '../../src/build/imports'
import { findLeftovers } from '../../src/build/leftovers'
import { createModuleImport, findImportPath } from '../../src/build/module-import'
import { resolveOptions } from '../../src/build/options'
import { checkPeerDependencies } from '../../src/build/peer-dependencies'
import { toMessage } from '../../src/build/problem'
import { collectRegistrations, type ResourceRegistry } from '../../src/build/registrations'
import { findRemovedOptions } from '../../src/build/removed'
import { readResourceFile } from '../../src/build/resource-file'
import { createDatabase } from '../../src/runtime/server/core/replicas/database'
import { explainCause } from '../../src/runtime/server/http/development'
import type { ResourceRegistration } from '../../src/runtime/server/registration'
import { createServer, type ServerOptions } from '../support/server'

const root = new URL('../fixtures/libsql', import.meta.url).pathname
const schemaFile = `${root}/server/database/schema`

const users = sqliteTable('users', { id: integer('id').primaryKey(), passwordHash: text('password_hash').notNull() })
const posts = sqliteTable('posts', {
  id: integer('id').primaryKey(),
  title: text('title').notNull(),
  authorId: integer('author_id').references(() => users.id),
})

/** The messages of the build for registrations in the hook. */
async function hook(register: (registry: ResourceRegistry) => void): Promise<string[]> {
  try {
    const { named, problems, warnings } = await collectRegistrations(register, path =>
      findImportPath(path, { alias: { '~~': root }, buildDir: '/none' }),
    )
    return [...warnings, ...[...problems, ...findMissingExports(named, root)].map(toMessage)]
  }
  catch (error) {
    return [(error as Error).message]
  }
}

/** The messages of the build for the text of `server/resources/posts.ts`. */
async function file(options: string): Promise<string[]> {
  const displayPath = 'server/resources/posts.ts'
  const source = options.startsWith('{')
    ? `import { posts } from '../database/schema'\nexport default defineResource(posts, ${options})`
    : options
  const {
    registration = {},
    hasPermissions,
    problems,
  } = readResourceFile({ name: 'posts', path: `${root}/${displayPath}`, displayPath }, source)
  const { warnings } = await collectRegistrations(
    () => {},
    path => path,
    [{ name: 'posts', path: '', displayPath, hasPermissions, registration }],
  )
  return [...problems.map(toMessage), ...warnings]
}

const option = (autoApi: object) => {
  const { problems, warnings } = resolveOptions(autoApi as never)
  return [...findRemovedOptions({ autoApi }), ...problems].map(toMessage).concat(warnings)
}

/** The messages of the server at startup: its error or its warnings. */
async function start(parts: Partial<ResourceRegistration>, options: Partial<ServerOptions> = {}): Promise<string[]> {
  const registration = {
    name: 'posts',
    schema: posts,
    authorization: { permissions: { read: true } },
    from: { authorization: 'server/resources/posts.ts' },
    ...parts,
  } as ResourceRegistration
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  try {
    await createServer({ registrations: [registration], db: drizzle(new Database(':memory:')), ...options })
    return warn.mock.calls.map(([message]) => String(message))
  }
  catch (error) {
    return [(error as Error).message]
  }
}

/** The message of a response. */
async function request(method: string, path: string, body?: object): Promise<string[]> {
  const client = new Database(':memory:')
  client.exec('create table posts (id integer primary key, title text not null, author_id integer)')
  const server = await createServer({
    registrations: [{ name: 'posts', schema: posts, authorization: { permissions: { read: true, create: true } } }], db: drizzle(client),
  })
  const { body: { message, data } } = await server.request(method, path, body && { body })
  return [[message, ...(data?.issues ?? []).map((issue: object) => JSON.stringify(issue))].join(' ')]
}

const auth = (authorization: object) => start({ authorization: authorization as never })

type Mistake = readonly [mistake: string, messages: () => string[] | Promise<string[]>, ...parts: string[]]

const MISTAKES: readonly Mistake[] = [
  // Registration
  [
    'a resource without rules',
    () => file('{ hiddenFields: [] }'),
    '`posts` has no authorization, so every request is refused',
    'permissions: { read: true }',
    'server/resources/posts.ts',
  ],
  [
    'a registration without rules',
    () => hook(r => r.register('books', { schema: createModuleImport(schemaFile, 'books') })),
    '`books` has no authorization, so every request is refused',
    'authorization: createModuleImport(path, name)',
  ],
  [
    'no resource at all',
    () => hook(() => {}),
    'No resource is registered',
    'server/resources/<name>.ts',
    'export default defineResource(table, { permissions: { read: true } })',
  ],
  [
    'a file without a resource',
    () => file('export const posts = {}'),
    '`server/resources/posts.ts` does not export a resource',
    'export default defineResource(',
  ],
  [
    'the wrong path',
    () => hook(r => r.register('books', { schema: createModuleImport(`${root}/server/shema`, 'books') })),
    '`books.schema` names',
    'server/shema`, which is not a file',
    'Correct the path',
  ],
  [
    'the wrong export',
    () => hook(r => r.register('books', { schema: createModuleImport(schemaFile, 'boks') })),
    '`books.schema` names `boks`',
    'server/database/schema.ts',
    'Did you mean `books`?',
  ],
  [
    'a relative path',
    () => hook(r => r.register('books', { schema: createModuleImport('./schema', 'books') })),
    'has a relative path',
    'createResolver',
  ],
  [
    'inline rules in the hook',
    () =>
      hook(r =>
        r.register('books', {
          schema: createModuleImport(schemaFile, 'books'),
          authorization: { permissions: { read: () => true } } as never,
        }),
      ),
    '`books.authorization.permissions.read` is an inline function',
    'createModuleImport(path, name)',
  ],
  [
    'the same name twice',
    () =>
      hook((r) => {
        for (const name of ['books', 'books']) r.register(name, { schema: createModuleImport(schemaFile, 'books') })
      }),
    '`books` is registered twice',
    'Register each resource once',
  ],
  [
    'the name of a route',
    () => hook(r => r.register('permissions', { schema: createModuleImport(schemaFile, 'books') })),
    '`permissions` is the name of a route',
    'Choose another name',
  ],
  [
    'a misspelled key',
    () => file('{ permissions: { read: true }, hidenFields: [] }'),
    '`posts.hidenFields` (server/resources/posts.ts:2)',
    'Did you mean `hiddenFields`?',
  ],
  [
    'a list that is not a literal',
    () => file('{ permissions: { read: true }, hiddenFields: HIDDEN }'),
    '`posts.hiddenFields` (server/resources/posts.ts:2) is not a literal',
    'Write the value out in the file',
  ],
  // Rules
  [
    'a misspelled operation',
    () => file('{ permissions: { reed: true } }'),
    '`posts.permissions.reed` (server/resources/posts.ts:2) is not an operation',
    'Did you mean `read`?',
  ],
  [
    'a misspelled operation in another file',
    () => auth({ permissions: { udpate: true } }),
    '`posts.authorization.permissions.udpate` is not an operation (server/resources/posts.ts)',
    'Did you mean `update`?',
  ],
  [
    'a permission of the wrong type',
    () => auth({ permissions: { read: 1 } }),
    '`posts.authorization.permissions.read` (server/resources/posts.ts) is 1',
    'Use `true`',
  ],
  [
    'a permission that is called at startup',
    () => auth({ permissions: { read: Promise.resolve(true) } }),
    '`posts.authorization.permissions.read` (server/resources/posts.ts) is a promise',
    'Pass the function itself',
  ],
  [
    '`public` instead of `true`',
    () => auth({ permissions: { read: 'public' } }),
    '`posts.authorization.permissions.read` (server/resources/posts.ts) is `\'public\'`',
    'Did you mean `true`?',
  ],
  [
    '`authenticated` instead of a function',
    () => auth({ permissions: { read: ['admin', 'authenticated'] } }),
    'is `\'authenticated\'`',
    'Did you mean `ctx => ctx.user !== null`?',
  ],
  [
    'a rule of an unknown field',
    () => auth({ permissions: { read: true }, fields: { tilte: { read: false } } }),
    '`posts.authorization.fields` names `tilte`, which is not a column of table "posts"',
    'Did you mean `title`?',
  ],
  [
    'a misspelled hook',
    () => file('{ permissions: { read: true }, hooks: { beforeCraete() {} } }'),
    '`posts.hooks.beforeCraete` (server/resources/posts.ts:2) is not a hook',
    'Did you mean `beforeCreate`?',
  ],
  [
    'the name of the column in the database',
    () => start({ name: 'users', schema: users, hiddenFields: ['password_hash'] }),
    '`users.hiddenFields` names `password_hash`, which is not a column',
    'Did you mean `passwordHash`?',
  ],
  ['a schema that is not a table', () => start({ schema: {} as never }), '`posts.schema`', 'is not a Drizzle table'],
  // Options
  [
    'a misspelled option',
    () => option({ pagnation: {} }),
    '`autoApi.pagnation` is not an option and has no effect',
    'Did you mean `pagination`?',
  ],
  ['a removed option', () => option({ hooks: {} }), '`autoApi.hooks` was removed', 'addResourceHook', 'upgrading.md#hooks'],
  ['the database as an option', () => option({ database: 'sqlite' }), '`autoApi.database` is ignored', 'initializeDatabase(db, engine)'],
  // Database
  ['no database', noDatabase, 'There is no database yet', 'initializeDatabase(db, engine)', 'server/plugins/database.ts'],
  [
    'no tables',
    () => [explainCause(new Error('no such table: posts'))],
    'no such table: posts',
    'npx drizzle-kit push',
    'npx drizzle-kit migrate',
  ],
  [
    'the wrong engine for the driver',
    () => start({}, { engine: 'libsql' }),
    'initializeDatabase(db, \'libsql\'): the database uses drizzle-orm/better-sqlite3',
    'Pass \'better-sqlite3\'',
  ],
  [
    'a misspelled engine',
    () => start({}, { engine: 'postgress' as never }),
    '"postgress" is not a supported engine',
    'Did you mean `postgres`?',
  ],
  [
    'the client instead of the Drizzle database',
    () => start({}, { db: new Database(':memory:') }),
    'the value is not a Drizzle database',
    'drizzle(',
  ],
  // Packages and leftovers
  [
    'no Drizzle',
    async () => (await checkPeerDependencies(() => true, undefined)).problems.map(toMessage),
    '`drizzle-orm` is not installed',
    'npm install drizzle-orm',
  ],
  [
    'an old Drizzle',
    async () => (await checkPeerDependencies(() => true, '0.44.0')).problems.map(toMessage),
    '`drizzle-orm@0.44.0` is not supported',
    'npm install drizzle-orm@latest',
  ],
  [
    'no TanStack Query',
    async () => [generateMissing()],
    'requires @tanstack/vue-query, which is not installed',
    'npm install vue@3 @tanstack/vue-query',
  ],
  [
    'a handler of an older version',
    () => leftovers('export default defineAutoApiHandler({ resource: \'posts\' })'),
    '`server/api/report.get.ts` calls `defineAutoApiHandler`, which was removed',
    'createEndpoint',
    'upgrading.md#defineautoapihandler',
  ],
  // Requests
  ['an unknown field in a query', () => request('GET', '/api/posts?sort=titel'), '`sort` names an unknown field: "titel"'],
  ['an unknown operator', () => request('GET', '/api/posts?filter[title][$contains]=a'), '$contains', '$like'],
  [
    'a relation to a table that is not registered',
    () => request('GET', '/api/posts?include=author'),
    '`include` names an unknown relation: "author"',
  ],
  ['an unknown field in a body', () => request('POST', '/api/posts', { title: 'a', titel: 'b' }), '"path":["titel"]'],
]

function noDatabase(): string[] {
  try {
    createDatabase().get()
    return []
  }
  catch (error) {
    return [(error as Error).message]
  }
}

function leftovers(source: string): string[] {
  return findLeftovers([{ handler: `${root}/server/api/report.get.ts` }], root, () => source).map(toMessage)
}

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}))
afterEach(() => vi.restoreAllMocks())

describe('a mistake of a beginner', () => {
  const rows = MISTAKES.map(([mistake, messages, ...parts]) => ({ mistake, messages, parts }))
  it.each(rows)('has a message: $mistake', async ({ messages, parts }) => {
    const text = (await messages()).join('\n')
    for (const part of parts) expect(text).toContain(part)
  })

  it.each([
    'import { defineAutoApiHandler } from \'./own\'',
    'function defineAutoApiHandler(options) {}',
    'const defineAutoApiHandler = own',
  ])('is not a function of the app itself: %s', (own) => {
    expect(leftovers(`${own}\nexport default defineAutoApiHandler({})`)).toEqual([])
  })

  it('is one of at least 30', () => {
    expect(new Set(MISTAKES.map(([mistake]) => mistake)).size).toBe(MISTAKES.length)
    expect(MISTAKES.length).toBeGreaterThanOrEqual(30)
  })
})
